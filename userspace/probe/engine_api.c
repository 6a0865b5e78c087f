/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama-server: /completion, tokens_predicted. Ollama: /api/generate, eval_count; its options here
 * do not cause a reload of the model (llm/sched.go, needsReload). OpenAI's API of vLLM, SGLang,
 * TGI, llama-cpp-python, KoboldCpp, managers and llama-server's router mode: /v1/completions,
 * usage.completion_tokens. Which engine has which API: its row in engines/.
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
	API_OPENAI,
	API_NONE
};

static const char *const api_names[] = { "llama", "ollama", "openai", "none" };

static enum api api_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(api_names) / sizeof(api_names[0]); i++)
		if (!strcmp(name, api_names[i]))
			return (enum api)i;
	return API_LLAMA;
}

bool davy_api_known(const char *name)
{
	return !strcmp(name, api_names[api_of(name)]);
}

bool davy_api_silent(const struct davy_probe_options *options)
{
	return api_of(options->api) == API_NONE;
}

/*
 * A router and LM Studio list all models with their state; the others list loaded models. LM Studio
 * and lemonade also list models that generate no text, with their type.
 */
static bool api_is_loaded(const json_t *entry)
{
	const char *type = json_string_value(json_object_get(entry, "type"));
	const json_t *status = json_object_get(entry, "status");
	const char *state = json_string_value(json_object_get(entry, "state"));

	if (type && strcmp(type, "llm") != 0 && strcmp(type, "vlm") != 0)
		return false;
	if (json_is_object(status))
		state = json_string_value(json_object_get(status, "value"));
	else if (!json_object_get(entry, "state"))
		return true;
	return state && (!strcmp(state, "loaded") || !strcmp(state, "ready"));
}

static const json_t *api_first_of(const json_t *object, const char *const names[])
{
	const json_t *found = NULL;

	for (size_t i = 0; !found && names[i]; i++)
		found = json_object_get(object, names[i]);
	return found;
}

/*
 * The list: /v1/models "data" (llama-server adds "models"), Ollama's /api/ps "models", llama-swap's
 * /running "running", LocalAI's /system "loaded_models", lemonade's health "all_models_loaded".
 */
static const char *api_loaded_in(const json_t *object)
{
	static const char *const lists[] = {
		"data", "models", "running", "loaded_models", "all_models_loaded", NULL
	};
	static const char *const names[] = { "id", "model", "name", "model_name", NULL };
	const json_t *list = api_first_of(object, lists);

	for (size_t i = 0; i < json_array_size(list); i++)
		if (api_is_loaded(json_array_get(list, i)))
			return json_string_value(api_first_of(json_array_get(list, i), names));
	return NULL;
}

bool davy_api_loaded_model(const struct davy_probe_options *options, struct davy_reply *reply,
			   char *name, size_t size)
{
	const char *found;
	json_t *object;
	bool fits;

	if (!options->models ||
	    davy_http_request(options, options->models, NULL, LIST_MS, reply) != 200)
		return false;
	object = json_loadb(reply->text, reply->used, 0, NULL);
	found = api_loaded_in(object);
	fits = found && strlen(found) < size;
	if (fits)
		snprintf(name, size, "%s", found);
	json_decref(object);
	return fits;
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

/*
 * llama-server (tools/server/server-context.cpp: llama_decode returned -2 or less) and whatever
 * passes its answer on; llama-cpp-python (llama_cpp/_internals.py; -2 is a graph without memory).
 */
static const char *const failed_graphs[] = { "Compute error.", "llama_decode returned -3" };

/* {"error": {"message": TEXT}} or {"error": TEXT} */
const char *davy_api_failed_graph(const struct davy_reply *reply)
{
	json_t *object = json_loadb(reply->text, reply->used, 0, NULL);
	const json_t *error = json_object_get(object, "error");
	const char *text = json_string_value(
		json_is_object(error) ? json_object_get(error, "message") : error);
	const char *found = NULL;

	for (size_t i = 0; text && i < sizeof(failed_graphs) / sizeof(failed_graphs[0]); i++)
		if (strstr(text, failed_graphs[i]))
			found = failed_graphs[i];
	json_decref(object);
	return found;
}
