/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that start other engines: llama-swap, lemonade, LocalAI, LM Studio. */
#include "engines/table.h"

#include <string.h>

/* ":8080", "127.0.0.1:8080" */
static const char *managers_after_colon(const char *address)
{
	const char *colon = address ? strrchr(address, ':') : NULL;

	return colon ? colon + 1 : NULL;
}

static bool managers_read_swap(const struct davy_engine_look *look, const struct davy_command *c,
			       struct davy_engine_facts *facts)
{
	(void)look;
	facts->role = DAVY_ROLE_MANAGER;
	davy_set_port(facts, managers_after_colon(davy_option(c->args, "-listen --listen")), 8080);
	return true;
}

/* /v1/models lists all models, and a request loads one: only a loaded one is asked. */
static const struct davy_engine_api managers_swap_api = { "openai", "/health", "/running" };

const struct davy_engine_ops davy_engine_llama_swap = {
	.engine = DAVY_ENGINE_LLAMA_SWAP,
	.marks = { .programs = "llama-swap" },
	.read = managers_read_swap,
	.api[DAVY_ROLE_MANAGER] = &managers_swap_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};

static bool managers_read_lemonade(const struct davy_engine_look *look,
				   const struct davy_command *c, struct davy_engine_facts *facts)
{
	facts->role = DAVY_ROLE_MANAGER;
	davy_set_port(facts, davy_setting(look, c, "--port", "LEMONADE_PORT"), 13305);
	return true;
}

static const struct davy_engine_api managers_lemonade_api = { "openai", "/api/v1/health",
							      "/api/v1/health" };

const struct davy_engine_ops davy_engine_lemonade = {
	.engine = DAVY_ENGINE_LEMONADE,
	.marks = { .programs = "lemond lemonade-router lemonade-server", .python = true },
	.read = managers_read_lemonade,
	.api[DAVY_ROLE_MANAGER] = &managers_lemonade_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};

/* Its backends get all settings over gRPC: their arguments contain only the address. */
static bool managers_read_localai(const struct davy_engine_look *look, const struct davy_command *c,
				  struct davy_engine_facts *facts)
{
	bool daemon = !strncmp(c->program, "local-ai", 8);

	if (!strcmp(c->program, "grpc-server") && strcmp(look->parent, "local-ai") != 0 &&
	    !strcasestr(c->path, "local"))
		return false;
	facts->role = daemon ? DAVY_ROLE_MANAGER : DAVY_ROLE_RUNNER;
	if (daemon)
		davy_set_port(
			facts,
			managers_after_colon(davy_setting(look, c, "--address", "LOCALAI_ADDRESS")),
			8080);
	else
		davy_set_port(facts, managers_after_colon(davy_option(c->args, "--addr -addr")), 0);
	return true;
}

static const struct davy_engine_api managers_localai_api = { "openai", "/readyz", "/system" };

const struct davy_engine_ops davy_engine_localai = {
	.engine = DAVY_ENGINE_LOCALAI,
	.marks = { .programs = "local-ai local-ai-* llama-cpp-avx* llama-cpp-fallback "
			       "llama-cpp-grpc llama-cpp-cuda* llama-cpp-hip* llama-cpp-vulkan* "
			       "llama-cpp-sycl* grpc-server" },
	.read = managers_read_localai,
	.api[DAVY_ROLE_MANAGER] = &managers_localai_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};

/* One program is daemon and worker; the process that maps llama.cpp holds a model. */
static bool managers_read_lm_studio(const struct davy_engine_look *look,
				    const struct davy_command *c, struct davy_engine_facts *facts)
{
	(void)look;
	if (!strcmp(c->program, "lms"))
		return false; /* a client */
	facts->role = !strcmp(c->program, "llmster") ? DAVY_ROLE_MANAGER : DAVY_ROLE_RUNNER;
	if (facts->role == DAVY_ROLE_MANAGER)
		davy_set_port(facts, davy_option(c->args, "--port"), 1234);
	return true;
}

static const struct davy_engine_api managers_lm_studio_api = { "openai", "/v1/models",
							       "/api/v0/models" };

const struct davy_engine_ops davy_engine_lm_studio = {
	.engine = DAVY_ENGINE_LM_STUDIO,
	.marks = { .programs = "llmster lm-studio LM-Studio*", .paths = "/.lmstudio/ /lm-studio/" },
	.read = managers_read_lm_studio,
	.api[DAVY_ROLE_MANAGER] = &managers_lm_studio_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};
