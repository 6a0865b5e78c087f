/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ollama, both eras. Up to 0.24 the runner is Ollama itself ("ollama runner --model BLOB", before
 * 0.5 "ollama_llama_server"). From 0.30 on it is llama.cpp's llama-server (llm/llama_server.go at
 * fb307609), see llama_server.c. The daemon does not compute.
 */
#include "engines/table.h"

#include <string.h>

bool davy_is_ollama_child(const struct davy_engine_look *look, const struct davy_command *c,
			  const struct davy_engine_facts *facts)
{
	static const char dir[] = "/lib/ollama/";
	const char *blob = facts->model_path ? strstr(facts->model_path, "/blobs/sha256-") : NULL;

	if (!strcmp(look->parent, "ollama") || strstr(look->exe, dir) || strstr(c->path, dir))
		return true;
	return blob && davy_has_option(c->args, "--no-webui") &&
	       davy_has_option(c->args, "--offline");
}

/* OLLAMA_HOST is [scheme://]host[:port]. */
static const char *ollama_port_of_host(const char *host)
{
	const char *at = host ? strstr(host, "://") : NULL, *colon;

	at = at ? at + 3 : host;
	colon = at ? strrchr(at, ':') : NULL;
	return colon && !strchr(colon, ']') ? colon + 1 : NULL;
}

static bool ollama_read_daemon(const struct davy_engine_look *look, struct davy_engine_facts *facts)
{
	facts->role = DAVY_ROLE_MANAGER;
	davy_set_port(facts, ollama_port_of_host(davy_env(look, "OLLAMA_HOST")), 11434);
	facts->context_size = davy_token_count(davy_env(look, "OLLAMA_CONTEXT_LENGTH"));
	facts->parallel = davy_token_count(davy_env(look, "OLLAMA_NUM_PARALLEL"));
	return true;
}

static bool ollama_read_runner(const struct davy_engine_look *look, const struct davy_command *c,
			       struct davy_engine_facts *facts)
{
	facts->engine = DAVY_ENGINE_OLLAMA_RUNNER;
	facts->role = DAVY_ROLE_RUNNER;
	davy_set_model_file(facts, davy_option(c->args, "--model -model"));
	davy_set_port(facts, davy_option(c->args, "--port -port"), 0);
	/* since 0.11 these come over HTTP with the model and stay unknown */
	facts->context_size = davy_token_count(davy_option(c->args, "--ctx-size -ctx-size"));
	facts->batch = davy_token_count(davy_option(c->args, "--batch-size -batch-size"));
	facts->ubatch = facts->batch;
	facts->parallel = davy_token_count(davy_option(c->args, "--parallel -parallel"));
	if (davy_option(c->args, "--n-gpu-layers -n-gpu-layers"))
		facts->gpu_layers = (int32_t)davy_token_count(
			davy_option(c->args, "--n-gpu-layers -n-gpu-layers"));
	facts->models_dir = davy_env(look, "OLLAMA_MODELS");
	return true;
}

static bool ollama_read(const struct davy_engine_look *look, const struct davy_command *c,
			struct davy_engine_facts *facts)
{
	const char *verb = c->args[0] ? c->args[0] : "";

	if (!strcmp(c->program, "ollama_llama_server") || !strcmp(verb, "runner"))
		return ollama_read_runner(look, c, facts);
	if (!strcmp(verb, "gpu-discover")) {
		facts->engine = DAVY_ENGINE_OLLAMA_RUNNER;
		facts->role = DAVY_ROLE_DISCOVERY;
		return true;
	}
	/* "ollama run" and others are clients of the daemon */
	return (!strcmp(verb, "serve") || !strcmp(verb, "start")) &&
	       ollama_read_daemon(look, facts);
}

/* Since 0.30: lib/ollama and one directory per version. */
static const char *const places[] = {
	"../lib/ollama/libggml-*.so*",
	"../lib/ollama/*/libggml-*.so*",
	NULL,
};

static const struct davy_engine_api ollama_api = { "ollama", "/api/version", "/api/ps" };

const struct davy_engine_ops davy_engine_ollama = {
	.engine = DAVY_ENGINE_OLLAMA,
	.marks = { .programs = "ollama ollama_llama_server .ollama-wrapped" },
	.read = ollama_read,
	.api[DAVY_ROLE_MANAGER] = &ollama_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML & ~DAVY_BACKEND_BIT(SYCL), /* none since 0.12.11 */
	.places = places,
};

/* Recognised by the rows of its programs. The API is that of 0.30 and later. */
const struct davy_engine_ops davy_engine_ollama_runner = {
	.engine = DAVY_ENGINE_OLLAMA_RUNNER,
	.api[DAVY_ROLE_SERVER] = &davy_llama_server_api,
	.api[DAVY_ROLE_RUNNER] = &davy_llama_server_api,
	.api[DAVY_ROLE_MANAGER] = &davy_llama_server_api,
	.backends = DAVY_BACKENDS_GGML,
	.configured_by = DAVY_ENGINE_OLLAMA,
};
