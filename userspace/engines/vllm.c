/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vLLM and SGLang: a Python server and workers that set their own titles ("VLLM::EngineCore_DP0",
 * "sglang::scheduler_TP0"). A worker has the arguments of its server.
 */
#include "engines/table.h"
#include "lib/text.h"

#include <string.h>

static void vllm_read_model(struct davy_engine_facts *facts, const char *name, const char *model)
{
	facts->loads_model = true;
	if (!model)
		return;
	if (model[0] == '/') /* a directory or a GGUF file */
		facts->model_path = model;
	davy_engine_set_model(facts, name ? name : model[0] == '/' ? davy_base_name(model) : model);
}

/* "vllm serve MODEL", "vllm bench ..."; other commands are clients. */
static bool vllm_read(const struct davy_engine_look *look, const struct davy_command *c,
		      struct davy_engine_facts *facts)
{
	const char *model = davy_option(c->args, "--model");
	const char *verb = c->args[0] ? c->args[0] : "";

	if (!strncmp(c->title, "VLLM::", 6)) {
		facts->role = DAVY_ROLE_RUNNER;
		facts->loads_model = true;
		return true;
	}
	if (!c->module[0] && !davy_word_in("serve bench run-batch", verb))
		return false;
	if (!model && !strcmp(verb, "serve") && c->args[1] && c->args[1][0] != '-')
		model = c->args[1];
	facts->role = DAVY_ROLE_SERVER;
	vllm_read_model(facts, davy_option(c->args, "--served-model-name"), model);
	davy_set_port(facts, davy_option(c->args, "--port"), 8000);
	davy_api_key_take(facts->api_key, davy_setting(look, c, "--api-key", "VLLM_API_KEY"));
	facts->context_size = davy_token_count(davy_option(c->args, "--max-model-len"));
	facts->batch = davy_token_count(davy_option(c->args, "--max-num-batched-tokens"));
	facts->ubatch = facts->batch;
	facts->parallel = davy_token_count(davy_option(c->args, "--max-num-seqs"));
	return true;
}

/* SGLang has the same paths. */
static const struct davy_engine_api vllm_api = { "openai", "/health", "/v1/models" };

const struct davy_engine_ops davy_engine_vllm = {
	.engine = DAVY_ENGINE_VLLM,
	.marks = { .programs = "vllm", .modules = "vllm", .titles = "VLLM::*", .python = true },
	.read = vllm_read,
	.api[DAVY_ROLE_SERVER] = &vllm_api,
	.backends = DAVY_BACKENDS_TORCH, /* one per build; the CPU is another package */
	.settings = { .ubatch = "--max-num-batched-tokens",
		      .context = "--max-model-len",
		      .parallel = "--max-num-seqs" },
};

static bool vllm_read_sglang(const struct davy_engine_look *look, const struct davy_command *c,
			     struct davy_engine_facts *facts)
{
	(void)look;
	if (!strncmp(c->title, "sglang::", 8)) {
		facts->role = DAVY_ROLE_RUNNER;
		facts->loads_model = strstr(c->title, "scheduler") != NULL;
		return true;
	}
	if (!c->module[0] && (!c->args[0] || strcmp(c->args[0], "serve") != 0))
		return false;
	if (c->module[0] && !strstr(c->module, "launch_server"))
		return false;
	facts->role = DAVY_ROLE_SERVER;
	vllm_read_model(facts, davy_option(c->args, "--served-model-name"),
			davy_option(c->args, "--model-path --model"));
	davy_set_port(facts, davy_option(c->args, "--port"), 30000);
	facts->context_size = davy_token_count(davy_option(c->args, "--context-length"));
	facts->batch = davy_token_count(davy_option(c->args, "--chunked-prefill-size"));
	facts->ubatch = facts->batch;
	facts->parallel = davy_token_count(davy_option(c->args, "--max-running-requests"));
	return true;
}

const struct davy_engine_ops davy_engine_sglang = {
	.engine = DAVY_ENGINE_SGLANG,
	.marks = { .programs = "sglang",
		   .modules = "sglang",
		   .titles = "sglang::*",
		   .python = true },
	.read = vllm_read_sglang,
	.api[DAVY_ROLE_SERVER] = &vllm_api,
	.backends = DAVY_BACKENDS_TORCH,
	.settings = { .ubatch = "--chunked-prefill-size",
		      .context = "--context-length",
		      .parallel = "--max-running-requests" },
};
