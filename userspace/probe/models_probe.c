/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions on single models of a running daemon: unload them, or reduce their parameters from the
 * next load on. Ollama (server/routes.go at fb307609, and 0.24): an empty request with keep_alive 0
 * unloads after running requests. A model derived under its own name keeps its weights; a copy,
 * which costs a manifest, keeps the original. llama-server in router mode: POST /models/unload.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_text.h"
#include "probe/answer.h"
#include "probe/engine_api.h"
#include "probe/engine_http.h"
#include "probe/probe.h"

#define CALL_MS	   10000
#define MODELS_MAX 32
#define KEPT	   "davylamp-kept-" /* prefix of the copy's name */

struct models_probe_call {
	const struct davy_probe_options *options;
	struct davy_reply *reply;
	json_t *answer;
	bool ollama;
};

/* True for 200; takes the body. Adds the error to the answer. */
static bool models_probe_call(struct models_probe_call *c, const char *path, json_t *body)
{
	char *text = davy_json_text(body, JSON_COMPACT);
	long status = 0;

	json_decref(body);
	davy_answer_stage("models", NULL);
	if (text)
		status = davy_http_request(c->options, path, text, CALL_MS, c->reply);
	free(text);
	if (status != 200)
		json_object_set_new(
			c->answer, "why",
			json_sprintf("%s: %s %ld", path, status ? "HTTP" : "no answer,", status));
	return status == 200;
}

static json_t *unload_body(const struct models_probe_call *c, const char *name)
{
	if (c->ollama)
		return json_pack("{s:s, s:i, s:b}", "model", name, "keep_alive", 0, "stream", 0);
	return json_pack("{s:s}", "model", name);
}

static bool unload_one(struct models_probe_call *c, const char *name)
{
	return models_probe_call(c, c->ollama ? "/api/generate" : "/models/unload",
				 unload_body(c, name));
}

static bool unload_all(struct models_probe_call *c)
{
	char last[256] = "", name[256];
	json_int_t count = 0;
	bool good = true;

	while (good && count < MODELS_MAX &&
	       davy_api_loaded_model(c->options, c->reply, name, sizeof(name))) {
		if (!strcmp(name, last))
			break; /* busy: unloaded after its request */
		good = unload_one(c, name);
		snprintf(last, sizeof(last), "%s", name);
		count += good;
	}
	json_object_set_new(c->answer, "unloaded", json_integer(count));
	return good;
}

static void kept_name(char *buf, size_t size, const char *model)
{
	snprintf(buf, size, KEPT "%s", model);
}

static bool models_probe_copy(struct models_probe_call *c, const char *from, const char *to)
{
	return models_probe_call(c, "/api/copy",
				 json_pack("{s:s, s:s}", "source", from, "destination", to));
}

static bool models_probe_is_there(struct models_probe_call *c, const char *model)
{
	char body[400];

	snprintf(body, sizeof(body), "{\"model\":\"%s\"}", model);
	return davy_http_request(c->options, "/api/show", body, CALL_MS, c->reply) == 200;
}

/* Makes the copy only once: it keeps the state before the first change. */
static bool models_probe_derive(struct models_probe_call *c, const char *model)
{
	const struct davy_probe_options *o = c->options;
	json_t *parameters = json_object();
	char kept[300];

	kept_name(kept, sizeof(kept), model);
	if (o->num_batch)
		json_object_set_new(parameters, "num_batch", json_integer(o->num_batch));
	if (o->num_ctx)
		json_object_set_new(parameters, "num_ctx", json_integer(o->num_ctx));
	if (!models_probe_is_there(c, kept) && !models_probe_copy(c, model, kept)) {
		json_decref(parameters);
		return false;
	}
	return models_probe_call(c, "/api/create",
				 json_pack("{s:s, s:s, s:o, s:b}", "model", model, "from", kept,
					   "parameters", parameters, "stream", 0)) &&
	       unload_one(c, model);
}

static bool models_probe_restore(struct models_probe_call *c, const char *model)
{
	char kept[300], body[400];

	kept_name(kept, sizeof(kept), model);
	if (!models_probe_is_there(c, kept)) {
		json_object_set_new(c->answer, "why", json_string("the model was not changed"));
		return false;
	}
	if (!models_probe_copy(c, kept, model) || !unload_one(c, model))
		return false;
	snprintf(body, sizeof(body), "{\"model\":\"%s\"}", kept);
	return davy_http_delete(c->options, "/api/delete", body, CALL_MS, c->reply) == 200;
}

static bool models_probe_do_it(struct models_probe_call *c)
{
	const struct davy_probe_options *o = c->options;
	char model[256] = "";

	if (!strcmp(o->act, "unload") && !o->model)
		return unload_all(c);
	if (o->model)
		snprintf(model, sizeof(model), "%s", o->model);
	else if (!davy_api_loaded_model(o, c->reply, model, sizeof(model)))
		json_object_set_new(c->answer, "why", json_string("no model is loaded"));
	if (!model[0])
		return false;
	json_object_set_new(c->answer, "model", davy_answer_text(model));
	if (strpbrk(model, "\"\\"))
		return false;
	if (!strcmp(o->act, "unload"))
		return unload_one(c, model);
	if (!c->ollama)
		json_object_set_new(c->answer, "why",
				    json_string("only Ollama supports parameters of models"));
	if (!c->ollama)
		return false;
	return !strcmp(o->act, "derive") ? models_probe_derive(c, model)
					 : models_probe_restore(c, model);
}

int davy_probe_models(const struct davy_probe_options *options)
{
	struct models_probe_call c = { .options = options,
				       .reply = calloc(1, sizeof(*c.reply)),
				       .answer = json_object(),
				       .ollama = options->api && !strcmp(options->api, "ollama") };
	int failed;

	if (!c.reply || !c.answer || curl_global_init(CURL_GLOBAL_NOTHING)) {
		json_decref(c.answer);
		free(c.reply);
		return 1;
	}
	json_object_set_new(c.answer, "ok", json_boolean(models_probe_do_it(&c)));
	failed = davy_answer_give(c.answer);
	curl_global_cleanup();
	free(c.reply);
	return failed;
}
