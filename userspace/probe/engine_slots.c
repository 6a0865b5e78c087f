/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves the slots (conversations) of a llama-server to files in its folder (--slot-save-path), and
 * restores them in another one (routes of llama.cpp 0.7.0). A busy slot is saved after its request;
 * the timeout limits the whole.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "probe/answer.h"
#include "probe/engine_http.h"
#include "probe/probe.h"

#define PROPS_MS  1000
#define SLOTS_MAX 64

static json_int_t slot_count(const struct davy_probe_options *o, struct davy_reply *reply)
{
	json_t *props;
	json_int_t count;

	davy_answer_stage("props", NULL);
	if (davy_http_request(o, "/props", NULL, PROPS_MS, reply) != 200)
		return -1;
	props = json_loadb(reply->text, reply->used, 0, NULL);
	count = json_integer_value(json_object_get(props, "total_slots"));
	json_decref(props);
	return count < SLOTS_MAX ? count : SLOTS_MAX;
}

/* The number of tokens, or -1 with the reason. */
static json_int_t engine_slots_tokens_of(const struct davy_reply *reply, bool save)
{
	json_t *object = json_loadb(reply->text, reply->used, 0, NULL);
	const json_t *count = json_object_get(object, save ? "n_saved" : "n_restored");
	json_int_t tokens = json_is_integer(count) ? json_integer_value(count) : -1;

	json_decref(object);
	return tokens < 0 ? -1 : tokens;
}

static json_t *one_slot(const struct davy_probe_options *o, unsigned int id, uint32_t left_ms,
			struct davy_reply *reply)
{
	bool save = !strcmp(o->slots, "save");
	char path[64], body[128];
	json_int_t tokens = -1;
	long status;

	snprintf(path, sizeof(path), "/slots/%u?action=%s", id, o->slots);
	snprintf(body, sizeof(body), "{\"filename\":\"%s%u\"}", o->prefix, id);
	status = davy_http_request(o, path, body, left_ms, reply);
	if (status == 200)
		tokens = engine_slots_tokens_of(reply, save);
	return json_pack("{s:i, s:I, s:I}", "id", (int)id, "status", (json_int_t)status, "tokens",
			 tokens);
}

static bool engine_slots_wanted(const struct davy_probe_options *o, unsigned int id)
{
	return !o->slot_set || o->slot_set >> id & 1;
}

/* Whether all wanted slots succeeded. */
static bool each_slot(const struct davy_probe_options *o, json_int_t count,
		      struct davy_reply *reply, json_t *list)
{
	uint64_t end = davy_now_ms() + o->timeout_ms;
	bool all = true;

	davy_answer_stage(o->slots, NULL);
	for (unsigned int id = 0; id < count; id++) {
		uint64_t now = davy_now_ms();
		json_t *slot;

		if (!engine_slots_wanted(o, id))
			continue;
		if (now >= end)
			return false;
		slot = one_slot(o, id, (uint32_t)(end - now), reply);
		all = all && json_integer_value(json_object_get(slot, "tokens")) >= 0;
		json_array_append_new(list, slot);
	}
	return all;
}

int davy_probe_slots(const struct davy_probe_options *options)
{
	struct davy_reply *reply = calloc(1, sizeof(*reply));
	json_t *answer = json_object(), *list = json_array();
	json_int_t count;
	bool all;
	int failed;

	if (!reply || !answer || !list || curl_global_init(CURL_GLOBAL_NOTHING)) {
		json_decref(answer);
		json_decref(list);
		free(reply);
		return 1;
	}
	count = slot_count(options, reply);
	all = each_slot(options, count, reply, list) && count > 0;
	json_object_set_new(answer, "slots", list);
	json_object_set_new(answer, "ok", json_boolean(all));
	json_object_set_new(answer, "stage", json_string(all ? "done" : options->slots));
	if (count <= 0)
		json_object_set_new(answer, "why", json_string("the engine reports no slots"));
	else if (!all)
		json_object_set_new(answer, "why",
				    json_string("some slots could not be saved or restored"));
	failed = davy_answer_give(answer);
	curl_global_cleanup();
	free(reply);
	return failed;
}
