/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The honest health check: one token asked for over HTTP, and what the engine says of itself beside
 * it. Only statuses, counts and names leave this process.
 */
#include <curl/curl.h>
#include <stdlib.h>
#include <time.h>

#include "answer.h"
#include "engine_http.h"
#include "probe.h"

#define HEALTH_MS    1000
#define WAIT_STEP_NS 50000000L

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* llama-server's /completion answers with tokens_predicted. */
static uint32_t tokens_of(const struct dl_reply *reply)
{
	json_t *object = json_loadb(reply->text, reply->used, 0, NULL);
	json_int_t count = json_integer_value(json_object_get(object, "tokens_predicted"));

	json_decref(object);
	return count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
}

static long wait_until_healthy(const struct dl_probe_options *options, struct dl_reply *reply)
{
	uint64_t end = now_ms() + options->wait_ms;
	long status;

	dl_answer_stage("health", NULL);
	for (;;) {
		status = dl_http_request(options->port, "/health", NULL, HEALTH_MS, reply);
		if (status == 200 || now_ms() >= end)
			return status;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_STEP_NS }, NULL);
	}
}

static void complete(const struct dl_probe_options *options, struct dl_reply *reply, json_t *answer)
{
	static const char body[] = "{\"prompt\":\"1 2 3\",\"n_predict\":1,\"temperature\":0}";
	uint64_t began = now_ms(), took;
	uint32_t tokens;
	long status;

	dl_answer_stage("completion", NULL);
	status = dl_http_request(options->port, "/completion", body, options->timeout_ms, reply);
	tokens = status == 200 ? tokens_of(reply) : 0;
	took = now_ms() - began;
	json_object_set_new(answer, "completion", json_integer(status));
	json_object_set_new(answer, "tokens", json_integer(tokens));
	json_object_set_new(answer, "ms", json_integer((json_int_t)took));
	json_object_set_new(answer, "ok", json_boolean(tokens > 0));
	json_object_set_new(answer, "stage", json_string(tokens ? "done" : "completion"));
	if (!status)
		json_object_set_new(answer, "why",
				    json_string(took < options->timeout_ms
							? "the connection was refused, or broke"
							: "no answer in time"));
	else if (status != 200)
		json_object_set_new(answer, "why", json_sprintf("HTTP %ld", status));
	else if (!tokens)
		json_object_set_new(answer, "why", json_string("an answer without a token"));
}

int dl_probe_engine(const struct dl_probe_options *options)
{
	struct dl_reply *reply = calloc(1, sizeof(*reply));
	json_t *answer = json_object();
	int failed;

	if (!reply || !answer || curl_global_init(CURL_GLOBAL_NOTHING)) {
		json_decref(answer);
		free(reply);
		return 1;
	}
	json_object_set_new(answer, "health", json_integer(wait_until_healthy(options, reply)));
	if (!options->brief)
		dl_engine_facts(options->port, reply, answer);
	complete(options, reply, answer);
	failed = dl_answer_give(answer);
	curl_global_cleanup();
	free(reply);
	return failed;
}
