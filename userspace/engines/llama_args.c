/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama.cpp's common arguments, as of 0.7.0 (b11669, common/arg.cpp): a flag on the command line
 * overrides its LLAMA_ARG_* variable, and a later flag an earlier one.
 */
#include "engines/table.h"
#include "lib/text.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_DEFAULT  2048
#define UBATCH_DEFAULT 512

void davy_set_model_file(struct davy_engine_facts *facts, const char *path)
{
	if (!path || !*path)
		return;
	facts->model_path = path;
	facts->loads_model = true;
	if (!facts->model[0])
		davy_engine_set_model(facts, davy_base_name(path));
}

void davy_set_port(struct davy_engine_facts *facts, const char *given, uint16_t otherwise)
{
	facts->port_given = given != NULL;
	facts->port = given ? davy_port(given) : otherwise;
}

static void llama_args_read_model(const struct davy_engine_look *look, const struct davy_command *c,
				  struct davy_engine_facts *facts)
{
	const char *alias = davy_setting(look, c, "-a --alias", "LLAMA_ARG_ALIAS");
	const char *file = davy_setting(look, c, "-m --model", "LLAMA_ARG_MODEL");
	const char *repo = davy_setting(look, c, "-hf -hfr --hf-repo", "LLAMA_ARG_HF_REPO");

	if (!repo)
		repo = davy_setting(look, c, "-dr --docker-repo", "LLAMA_ARG_DOCKER_REPO");
	if (!repo)
		repo = davy_setting(look, c, "-mu --model-url", "LLAMA_ARG_MODEL_URL");
	if (alias)
		davy_engine_set_model(facts, alias);
	davy_set_model_file(facts, file);
	if (file || !repo)
		return;
	facts->loads_model = true;
	if (!facts->model[0])
		davy_engine_set_model(facts, strstr(repo, "://") ? davy_base_name(repo) : repo);
}

static int32_t llama_args_layers(const char *text)
{
	if (text && !strcmp(text, "all"))
		return DAVY_LAYERS_ALL;
	if (!text || text[0] < '0' || text[0] > '9')
		return DAVY_LAYERS_AUTO;
	return (int32_t)davy_token_count(text);
}

static void llama_args_read_cache_type(char *type, const char *text)
{
	davy_copy_name(type, DAVY_QUANT_LEN, text ? text : "f16");
}

/* The ubatch is limited by the batch, and the batch by the context. */
static void llama_args_limit_batches(struct davy_engine_facts *f)
{
	if (f->context_size && f->batch > f->context_size)
		f->batch = f->context_size;
	if (f->ubatch > f->batch)
		f->ubatch = f->batch;
}

void davy_llama_read(const struct davy_engine_look *look, const struct davy_command *c,
		     struct davy_engine_facts *facts)
{
	const char *device = davy_setting(look, c, "-dev --device", "LLAMA_ARG_DEVICE");
	const char *fit = davy_setting(look, c, "-fit --fit", "LLAMA_ARG_FIT");

	facts->llama_cpp = true;
	llama_args_read_model(look, c, facts);
	facts->context_size =
		davy_token_count(davy_setting(look, c, "-c --ctx-size", "LLAMA_ARG_CTX_SIZE"));
	facts->batch =
		davy_token_count(davy_setting(look, c, "-b --batch-size", "LLAMA_ARG_BATCH"));
	facts->ubatch =
		davy_token_count(davy_setting(look, c, "-ub --ubatch-size", "LLAMA_ARG_UBATCH"));
	facts->parallel =
		davy_token_count(davy_setting(look, c, "-np --parallel", "LLAMA_ARG_N_PARALLEL"));
	davy_api_key_take(facts->api_key, davy_setting(look, c, "--api-key", "LLAMA_API_KEY"));
	facts->gpu_layers = llama_args_layers(davy_setting(
		look, c, "-ngl --gpu-layers --n-gpu-layers", "LLAMA_ARG_N_GPU_LAYERS"));
	facts->batch = facts->batch ? facts->batch : BATCH_DEFAULT;
	facts->ubatch = facts->ubatch ? facts->ubatch : UBATCH_DEFAULT;
	facts->fixed_fit = fit && !strcmp(fit, "off");
	llama_args_limit_batches(facts);
	llama_args_read_cache_type(facts->cache_k, davy_setting(look, c, "-ctk --cache-type-k",
								"LLAMA_ARG_CACHE_TYPE_K"));
	llama_args_read_cache_type(facts->cache_v, davy_setting(look, c, "-ctv --cache-type-v",
								"LLAMA_ARG_CACHE_TYPE_V"));
	if (device && !strcmp(device, "none"))
		facts->backend = DAVY_BACKEND_CPU;
	else if (device && !strncmp(device, "Vulkan", 6))
		facts->backend = DAVY_BACKEND_VULKAN;
	else if (device && !strncmp(device, "ROCm", 4))
		facts->backend = DAVY_BACKEND_ROCM;
	else if (device && !strncmp(device, "CUDA", 4))
		facts->backend = DAVY_BACKEND_CUDA;
	else if (device && !strncmp(device, "SYCL", 4))
		facts->backend = DAVY_BACKEND_SYCL;
}
