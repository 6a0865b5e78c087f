/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/check.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/probe_run.h"

#define SPARE_MS 3000 /* the probe's limits expire first; this is for a probe that hangs */

static int check_number(const json_t *object, const char *key, json_int_t max,
			json_int_t *ret_value)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > max)
		return -EBADMSG;
	*ret_value = json_integer_value(value);
	return 0;
}

int davy_check_parse(const char *text, size_t size, struct davy_check_result *ret_result)
{
	json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	json_int_t health, completion, tokens, ms;
	bool idle, alive, failed;
	int err = 0;

	if (check_number(object, "health", 999, &health) ||
	    check_number(object, "completion", 999, &completion) ||
	    check_number(object, "tokens", UINT32_MAX, &tokens) ||
	    check_number(object, "ms", UINT32_MAX, &ms))
		err = -EBADMSG;
	idle = json_is_true(json_object_get(object, "idle"));
	alive = json_is_true(json_object_get(object, "alive"));
	failed = json_is_true(json_object_get(object, "compute_failed"));
	json_decref(object);
	if (err)
		return err;
	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->health_status = (uint16_t)health;
	ret_result->completion_status = (uint16_t)completion;
	ret_result->token_count = (uint32_t)tokens;
	ret_result->completion_ms = (uint32_t)ms;
	ret_result->compute_failed = failed && completion >= 500;
	if (alive)
		ret_result->completion_status = DAVY_PROBE_ALIVE;
	if (!idle)
		return 0;
	ret_result->completion_status = (uint16_t)health;
	ret_result->token_count = health == 200;
	return 0;
}

static int check_error_of(enum davy_probe_kind kind)
{
	switch (kind) {
	case DAVY_PROBE_HEALTHY:
	case DAVY_PROBE_REPORTED:
		return 0;
	case DAVY_PROBE_TIMEOUT:
		return -ETIMEDOUT;
	case DAVY_PROBE_GARBAGE:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

static void check_on_finding(void *arg, const struct davy_probe_finding *finding)
{
	struct davy_check_request *request = arg;
	struct davy_check_result result = { 0 };
	int err = check_error_of(finding->kind);

	if (!err)
		err = davy_check_parse(finding->answer, finding->answer_size, &result);
	result.error = err;
	if (err)
		snprintf(result.why, sizeof(result.why), "%s", finding->text);
	request->done(request->arg, &result);
	free(request);
}

bool davy_check_serving(const struct davy_check_result *result)
{
	return result->completion_status == DAVY_PROBE_ALIVE ||
	       (result->completion_status == 200 && result->token_count);
}

int davy_check_start(sd_event *loop, const char *program, const struct davy_check_request *request)
{
	char port[16], wait_ms[16], timeout_ms[16], alive_ms[16];
	const struct davy_engine_api *api = request->api;
	bool named = request->model && request->model[0];
	const char *const arguments[] = {
		"engine",
		"--brief",
		"--host",
		request->host ? request->host : "127.0.0.1",
		"--port",
		port,
		"--wait-ms",
		wait_ms,
		"--timeout-ms",
		timeout_ms,
		"--api",
		api->name,
		"--health",
		api->health ? api->health : "",
		"--models",
		api->models ? api->models : "",
		"--alive-ms",
		alive_ms,
		named ? "--model" : NULL,
		request->model,
		NULL,
	};
	struct davy_check_request *copy = malloc(sizeof(*copy));
	struct davy_probe_request probe = { .program = program,
					    .arguments = arguments,
					    .api_key = request->api_key,
					    .limit_ms = request->wait_ms + request->timeout_ms +
							request->alive_ms + SPARE_MS,
					    .done = check_on_finding,
					    .arg = copy };
	int err;

	if (!copy)
		return -ENOMEM;
	*copy = *request;
	snprintf(port, sizeof(port), "%u", request->port);
	snprintf(wait_ms, sizeof(wait_ms), "%u", request->wait_ms);
	snprintf(timeout_ms, sizeof(timeout_ms), "%u", request->timeout_ms);
	snprintf(alive_ms, sizeof(alive_ms), "%u", request->alive_ms);
	err = davy_probe_start(loop, &probe);
	if (err)
		free(copy);
	return err;
}
