/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other llama.cpp programs: the command line tools, llamafile, and llama-cpp-python. */
#include "engines/table.h"

#include <string.h>

/* Tools that only read or write model files. */
static const char idle_tools[] = "llama-quantize llama-gguf* llama-tokenize llama-export-lora";
static const char servers[] = "llamafile llamafiler *.llamafile";

/* llamafile, "llama serve" and llama-cpp-python; the last has no /health. */
static const struct davy_engine_api llama_tools_api = { "openai", "/v1/models", "/v1/models" };

static bool llama_tools_read_tool(const struct davy_engine_look *look, const struct davy_command *c,
				  struct davy_engine_facts *facts)
{
	if (davy_word_in(idle_tools, c->program))
		return false;
	if (!strcmp(c->program, "llama") && (!c->args[0] || c->args[0][0] == '-'))
		return false; /* the combined program: "llama serve", "llama cli" */
	davy_llama_read(look, c, facts);
	facts->role = DAVY_ROLE_TOOL;
	if (davy_word_in(servers, c->program) || (c->args[0] && !strcmp(c->args[0], "serve"))) {
		facts->role = DAVY_ROLE_SERVER;
		davy_set_port(facts, davy_setting(look, c, "--port", "LLAMA_ARG_PORT"), 8080);
	} else if (strstr(c->program, "rpc-server")) {
		facts->role = DAVY_ROLE_RUNNER;
		davy_set_port(facts, davy_option(c->args, "-p --port"), 50052);
	}
	return true;
}

const struct davy_engine_ops davy_engine_llama_tool = {
	.engine = DAVY_ENGINE_LLAMA_CPP,
	.marks = { .programs = "llama-* llama ggml-rpc-server rpc-server llamafile llamafiler "
			       "*.llamafile",
		   .libraries = "libllama.so* libllama-* libllama.*" },
	.read = llama_tools_read_tool,
	.api[DAVY_ROLE_SERVER] = &llama_tools_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};

/* llama_cpp/server/settings.py: underscores, and variables of the same names in capitals. */
static bool llama_tools_read_python(const struct davy_engine_look *look,
				    const struct davy_command *c, struct davy_engine_facts *facts)
{
	const char *layers = davy_setting(look, c, "--n_gpu_layers", "N_GPU_LAYERS");

	facts->role = DAVY_ROLE_SERVER;
	davy_set_model_file(facts, davy_setting(look, c, "--model", "MODEL"));
	davy_set_port(facts, davy_setting(look, c, "--port", "PORT"), 8000);
	facts->context_size = davy_token_count(davy_setting(look, c, "--n_ctx", "N_CTX"));
	facts->batch = davy_token_count(davy_setting(look, c, "--n_batch", "N_BATCH"));
	facts->ubatch = davy_token_count(davy_setting(look, c, "--n_ubatch", "N_UBATCH"));
	if (layers)
		facts->gpu_layers =
			layers[0] == '-' ? DAVY_LAYERS_ALL : (int32_t)davy_token_count(layers);
	return true;
}

const struct davy_engine_ops davy_engine_llama_python = {
	.engine = DAVY_ENGINE_LLAMA_CPP,
	.marks = { .modules = "llama_cpp.server" },
	.read = llama_tools_read_python,
	.api[DAVY_ROLE_SERVER] = &llama_tools_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};
