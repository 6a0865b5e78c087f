/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama-server: /completion, tokens_predicted. Ollama: /api/generate, eval_count; its options here
 * do not cause a reload of the model (llm/sched.go, needsReload). OpenAI's API of vLLM, SGLang and
 * llama-server's router mode: /v1/completions, usage.completion_tokens.
 */
#include "lib/json_text.h"
#include "probe/engine_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 2000

enum api {
	API_LLAMA,
	API_OLLAMA,
	API_OPENAI
};

static enum api api_of(const char *name)
{
	if (name && !strcmp(name, "ollama"))
		return API_OLLAMA;
	return name && !strcmp(name, "openai") ? API_OPENAI : API_LLAMA;
}

bool davy_api_known(const char *name)
{
	return !strcmp(name, "llama") || api_of(name) != API_LLAMA;
}

const char *davy_api_health(const struct davy_probe_options *options)
{
	return api_of(options->api) == API_OLLAMA ? "/api/version" : "/health";
}

/* A router lists all models with their state; the others list loaded models. */
static bool is_loaded(const json_t *entry)
{
	const json_t *status = json_object_get(entry, "status");
	const char *value = json_string_value(json_object_get(status, "value"));

	return !status || (value && !strcmp(value, "loaded"));
}

bool davy_api_loaded_model(const struct davy_probe_options *options, struct davy_reply *reply,
			   char *name, size_t size)
{
	bool ollama = api_of(options->api) == API_OLLAMA;
	const char *found = NULL;
	json_t *object;
	const json_t *list;

	if (davy_http_request(options, ollama ? "/api/ps" : "/v1/models", NULL, LIST_MS, reply) !=
	    200)
		return false;
	object = json_loadb(reply->text, reply->used, 0, NULL);
	list = json_object_get(object, ollama ? "models" : "data");
	for (size_t i = 0; !found && i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);

		if (is_loaded(entry))
			found = json_string_value(json_object_get(entry, ollama ? "name" : "id"));
	}
	if (found && strlen(found) < size)
		snprintf(name, size, "%s", found);
	else
		found = NULL;
	json_decref(object);
	return found != NULL;
}

static void put_body(struct davy_api_question *q, json_t *body)
{
	char *text = davy_json_text(body, JSON_COMPACT);

	snprintf(q->body, sizeof(q->body), "%s", text ? text : "");
	free(text);
	json_decref(body);
}

void davy_api_question(const struct davy_probe_options *options, struct davy_reply *reply,
		       struct davy_api_question *q)
{
	enum api api = api_of(options->api);
	char model[256];

	memset(q, 0, sizeof(*q));
	q->health = davy_api_health(options);
	q->path = api == API_OLLAMA   ? "/api/generate"
		  : api == API_OPENAI ? "/v1/completions"
				      : "/completion";
	if (api == API_LLAMA) {
		put_body(q, json_pack("{s:s, s:i, s:i}", "prompt", "1 2 3", "n_predict", 1,
				      "temperature", 0));
		return;
	}
	snprintf(model, sizeof(model), "%s", options->model ? options->model : "");
	if (!davy_api_loaded_model(options, reply, model, sizeof(model)) && !model[0]) {
		q->idle = true;
		return;
	}
	if (api == API_OLLAMA)
		put_body(q, json_pack("{s:s, s:s, s:b, s:{s:i}}", "model", model, "prompt", "1 2 3",
				      "stream", 0, "options", "num_predict", 1));
	else
		put_body(q, json_pack("{s:s, s:s, s:i, s:i}", "model", model, "prompt", "1 2 3",
				      "max_tokens", 1, "temperature", 0));
}

uint32_t davy_api_tokens(const struct davy_probe_options *options, const struct davy_reply *reply)
{
	json_t *object = json_loadb(reply->text, reply->used, 0, NULL);
	enum api api = api_of(options->api);
	json_int_t count;

	if (api == API_OPENAI)
		count = json_integer_value(
			json_object_get(json_object_get(object, "usage"), "completion_tokens"));
	else
		count = json_integer_value(json_object_get(
			object, api == API_OLLAMA ? "eval_count" : "tokens_predicted"));
	json_decref(object);
	return count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
}
