/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a llama-server reports about itself (server routes of llama.cpp 0.7.0). It proves no health:
 * while the device hangs, /v1/models and /props answer, and /slots may.
 */
#include "probe/answer.h"
#include "probe/engine_http.h"

#define FACT_MS	   1000
#define MODELS_MAX 16
#define SLOTS_MAX  64

static json_t *engine_facts_get(const struct davy_probe_options *o, const char *stage,
				const char *path, struct davy_reply *reply)
{
	davy_answer_stage(stage, NULL);
	if (davy_http_request(o, path, NULL, FACT_MS, reply) != 200)
		return NULL;
	return json_loadb(reply->text, reply->used, 0, NULL);
}

static json_t *engine_facts_text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? davy_answer_text(text) : json_null();
}

static json_t *engine_facts_number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer(json_integer_value(value)) : json_null();
}

static json_t *flag_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_boolean(json_is_true(value)) : json_null();
}

static json_t *model_list(const json_t *reply)
{
	const json_t *data = json_object_get(reply, "data");
	json_t *list;

	if (!json_is_array(data))
		return json_null();
	list = json_array();
	for (size_t i = 0; i < json_array_size(data) && i < MODELS_MAX; i++)
		json_array_append_new(list, engine_facts_text_of(json_array_get(data, i), "id"));
	return list;
}

static json_t *slot_list(const json_t *reply)
{
	json_t *list;

	if (!json_is_array(reply))
		return json_null();
	list = json_array();
	for (size_t i = 0; i < json_array_size(reply) && i < SLOTS_MAX; i++) {
		const json_t *slot = json_array_get(reply, i);

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o}", "id", engine_facts_number_of(slot, "id"),
					"n_ctx", engine_facts_number_of(slot, "n_ctx"),
					"is_processing", flag_of(slot, "is_processing")));
	}
	return list;
}

static json_t *props_object(const json_t *reply)
{
	const json_t *defaults = json_object_get(reply, "default_generation_settings");

	if (!json_is_object(reply))
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "model_path",
			 engine_facts_text_of(reply, "model_path"), "n_ctx",
			 engine_facts_number_of(defaults, "n_ctx"), "total_slots",
			 engine_facts_number_of(reply, "total_slots"), "is_sleeping",
			 flag_of(reply, "is_sleeping"), "build_info",
			 engine_facts_text_of(reply, "build_info"));
}

void davy_engine_facts(const struct davy_probe_options *o, struct davy_reply *reply, json_t *answer)
{
	json_t *got = engine_facts_get(o, "models", "/v1/models", reply);

	json_object_set_new(answer, "models", model_list(got));
	json_decref(got);
	got = engine_facts_get(o, "props", "/props", reply);
	json_object_set_new(answer, "props", props_object(got));
	json_decref(got);
	got = engine_facts_get(o, "slots", "/slots", reply);
	json_object_set_new(answer, "slots", slot_list(got));
	json_decref(got);
}
