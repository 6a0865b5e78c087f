/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The health check: requests one token over HTTP, and reads what the engine reports about itself.
 * Only statuses, counts and names leave this process.
 */
#include <curl/curl.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "probe/answer.h"
#include "probe/engine_api.h"
#include "probe/engine_http.h"
#include "probe/probe.h"

#define HEALTH_MS    1000
#define WAIT_STEP_NS 50000000L

static long wait_until_healthy(const struct davy_probe_options *options, struct davy_reply *reply)
{
	uint64_t end = davy_now_ms() + options->wait_ms;
	long status;

	davy_answer_stage("health", NULL);
	for (;;) {
		status = davy_http_request(options, davy_api_health(options), NULL, HEALTH_MS,
					   reply);
		if (status == 200 || davy_now_ms() >= end)
			return status;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_STEP_NS }, NULL);
	}
}

/* A daemon without a loaded model generates no token; only its answer is known. */
static void tell_idle(json_t *answer)
{
	bool up = json_integer_value(json_object_get(answer, "health")) == 200;

	json_object_update_new(answer, json_pack("{s:i, s:i, s:i, s:b, s:s, s:b}", "completion", 0,
						 "tokens", 0, "ms", 0, "ok", up, "stage", "idle",
						 "idle", 1));
}

static void engine_probe_complete(const struct davy_probe_options *options,
				  struct davy_reply *reply, json_t *answer)
{
	struct davy_api_question question;
	uint64_t began = davy_now_ms(), took;
	uint32_t tokens;
	long status;

	davy_answer_stage("completion", NULL);
	davy_api_question(options, reply, &question);
	if (question.idle) {
		tell_idle(answer);
		return;
	}
	status = davy_http_request(options, question.path, question.body, options->timeout_ms,
				   reply);
	tokens = status == 200 ? davy_api_tokens(options, reply) : 0;
	took = davy_now_ms() - began;
	json_object_set_new(answer, "completion", json_integer(status));
	json_object_set_new(answer, "tokens", json_integer(tokens));
	json_object_set_new(answer, "ms", json_integer((json_int_t)took));
	json_object_set_new(answer, "ok", json_boolean(tokens > 0));
	json_object_set_new(answer, "stage", json_string(tokens ? "done" : "completion"));
	if (!status)
		json_object_set_new(answer, "why",
				    json_string(took < options->timeout_ms
							? "connection refused or lost"
							: "no answer in time"));
	else if (status != 200)
		json_object_set_new(answer, "why", json_sprintf("HTTP %ld", status));
	else if (!tokens)
		json_object_set_new(answer, "why", json_string("the answer has no token"));
}

int davy_probe_engine(const struct davy_probe_options *options)
{
	struct davy_reply *reply = calloc(1, sizeof(*reply));
	json_t *answer = json_object();
	int failed;

	if (!reply || !answer || curl_global_init(CURL_GLOBAL_NOTHING)) {
		json_decref(answer);
		free(reply);
		return 1;
	}
	json_object_set_new(answer, "health", json_integer(wait_until_healthy(options, reply)));
	if (!options->brief)
		davy_engine_facts(options, reply, answer);
	engine_probe_complete(options, reply, answer);
	failed = davy_answer_give(answer);
	curl_global_cleanup();
	free(reply);
	return failed;
}
