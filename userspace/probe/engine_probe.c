/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The honest health check: one token asked for over HTTP, and what /health says beside it. The
 * engine's answers are outside input: bounded, and only a status and a count leave this process.
 */
#include "probe.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPLY_MAX    (256 * 1024)
#define HEALTH_MS    1000
#define WAIT_STEP_NS 50000000L

struct reply {
	size_t used;
	char text[REPLY_MAX];
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static size_t take(char *data, size_t size, size_t count, void *arg)
{
	struct reply *r = arg;
	size_t bytes = size * count;

	if (bytes > sizeof(r->text) - r->used)
		return 0; /* ends the transfer with an error */
	memcpy(r->text + r->used, data, bytes);
	r->used += bytes;
	return bytes;
}

/* The HTTP status, 0 when there was no answer in time. */
static long request(const char *url, const char *body, long timeout_ms, struct reply *reply)
{
	CURL *curl = curl_easy_init();
	struct curl_slist *headers = NULL;
	long status = 0;

	reply->used = 0;
	if (!curl)
		return 0;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* always the engine itself */
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
	if (body) {
		headers = curl_slist_append(NULL, "Content-Type: application/json");
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return status;
}

/* llama-server's /completion answers with tokens_predicted. */
static uint32_t tokens_of(const struct reply *reply)
{
	json_t *object = json_loadb(reply->text, reply->used, 0, NULL);
	json_int_t count = json_integer_value(json_object_get(object, "tokens_predicted"));

	json_decref(object);
	return count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
}

static long wait_until_healthy(const char *url, const struct dl_probe_engine *options,
			       struct reply *reply)
{
	uint64_t end = now_ms() + options->wait_ms;
	long status;

	for (;;) {
		status = request(url, NULL, HEALTH_MS, reply);
		if (status == 200 || now_ms() >= end)
			return status;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_STEP_NS }, NULL);
	}
}

int dl_probe_engine(const struct dl_probe_engine *options)
{
	static const char body[] = "{\"prompt\":\"1 2 3\",\"n_predict\":1,\"temperature\":0}";
	struct reply *reply = calloc(1, sizeof(*reply));
	char health_url[64], completion_url[64];
	long health, completion;
	uint32_t tokens;
	uint64_t began;

	if (!reply || curl_global_init(CURL_GLOBAL_NOTHING)) {
		free(reply);
		return 1;
	}
	snprintf(health_url, sizeof(health_url), "http://127.0.0.1:%u/health", options->port);
	snprintf(completion_url, sizeof(completion_url), "http://127.0.0.1:%u/completion",
		 options->port);
	health = wait_until_healthy(health_url, options, reply);
	began = now_ms();
	completion = request(completion_url, body, options->timeout_ms, reply);
	tokens = completion == 200 ? tokens_of(reply) : 0;
	printf("{\"health\":%ld,\"completion\":%ld,\"tokens\":%u,\"ms\":%u}\n", health, completion,
	       tokens, (unsigned int)(now_ms() - began));
	curl_global_cleanup();
	free(reply);
	return 0;
}
