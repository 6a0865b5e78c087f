/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The health check: requests one token over HTTP, and reads what the engine reports about itself.
 * An engine that generates no token must answer its health check and keep its port open. Only
 * statuses, counts and names leave this process.
 */
#include <curl/curl.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "probe/answer.h"
#include "probe/engine_api.h"
#include "probe/engine_http.h"
#include "probe/probe.h"

#define HEALTH_MS      1000
#define WAIT_STEP_NS   50000000L
#define ALIVE_STEP_NS  250000000L
#define HTTP_NO_KEY    401
#define HTTP_WRONG_KEY 403
#define HTTP_NOT_FOUND 404 /* an older version of the engine has no health check */

static long wait_until_healthy(const struct davy_probe_options *options, struct davy_reply *reply)
{
	uint32_t limit_ms = davy_api_silent(options) ? options->timeout_ms : HEALTH_MS;
	uint64_t end = davy_now_ms() + options->wait_ms;
	long status;

	davy_answer_stage("health", NULL);
	for (;;) {
		status = davy_http_request(options, options->health, NULL, limit_ms, reply);
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

static void engine_probe_say_status(const struct davy_reply *reply, long status, json_t *answer)
{
	const char *failed = status >= 500 ? davy_api_failed_graph(reply) : NULL;

	json_object_set_new(answer, "why",
			    failed ? json_sprintf("HTTP %ld: %s", status, failed)
				   : json_sprintf("HTTP %ld", status));
	if (failed)
		json_object_set_new(answer, "compute_failed", json_true());
}

static void engine_probe_complete(const struct davy_probe_options *options,
				  struct davy_reply *reply, json_t *answer)
{
	struct davy_api_question question;
	uint64_t began = davy_now_ms(), took;
	bool unknown_key;
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
	unknown_key = status == HTTP_NO_KEY || status == HTTP_WRONG_KEY;
	took = davy_now_ms() - began;
	json_object_set_new(answer, "completion", json_integer(status));
	json_object_set_new(answer, "tokens", json_integer(tokens));
	json_object_set_new(answer, "ms", json_integer((json_int_t)took));
	json_object_set_new(answer, "ok", json_boolean(tokens > 0 || unknown_key));
	json_object_set_new(answer, "stage", json_string(tokens ? "done" : "completion"));
	if (unknown_key) /* it works as far as anybody without the key can see */
		json_object_set_new(answer, "alive", json_true());
	if (!status)
		json_object_set_new(answer, "why",
				    json_string(took < options->timeout_ms
							? "connection refused or lost"
							: "no answer in time"));
	else if (status != 200)
		engine_probe_say_status(reply, status, answer);
	else if (!tokens)
		json_object_set_new(answer, "why", json_string("the answer has no token"));
}

/* Its port stays open, and its health check, if this version has one, returned 200. */
static void engine_probe_alive(const struct davy_probe_options *options, long health,
			       json_t *answer)
{
	uint64_t now = davy_now_ms(), open_end = now + options->wait_ms, end = 0;
	bool ok = !options->health || health == 200 || health == HTTP_NOT_FOUND, open;

	davy_answer_stage("port", NULL);
	do {
		open = davy_port_open(options);
		now = davy_now_ms();
		if (open && !end)
			end = now + options->alive_ms;
		if (!open && (end || now >= open_end))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = ALIVE_STEP_NS }, NULL);
	} while (ok && (!end || now < end));
	ok = ok && open;
	json_object_update_new(answer, json_pack("{s:i, s:i, s:i, s:b, s:s, s:b}", "completion", 0,
						 "tokens", 0, "ms", 0, "ok", ok, "stage", "port",
						 "alive", ok));
	if (!ok)
		json_object_set_new(answer, "why",
				    open ? json_sprintf("HTTP %ld", health)
					 : json_string("its port is closed"));
}

/* Asks for a token, unless the engine generates none. */
static void engine_probe_ask(const struct davy_probe_options *options, struct davy_reply *reply,
			     json_t *answer)
{
	long health = options->health ? wait_until_healthy(options, reply) : 0;

	json_object_set_new(answer, "health", json_integer(health));
	if (davy_api_silent(options)) {
		engine_probe_alive(options, health, answer);
		return;
	}
	if (!options->brief)
		davy_engine_facts(options, reply, answer);
	engine_probe_complete(options, reply, answer);
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
	engine_probe_ask(options, reply, answer);
	failed = davy_answer_give(answer);
	curl_global_cleanup();
	free(reply);
	return failed;
}
