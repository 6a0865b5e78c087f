/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ollama's daemon (envconfig/config.go, discover/runner.go and llm/llama_server.go at fb307609, and
 * tags before 0.30). Its runners inherit the environment in both eras.
 *
 * OLLAMA_LLM_LIBRARY names the only backend directory that is searched; a name without a directory
 * means the CPU. The visible GPUs are set as well, because that variable has another meaning up to
 * 0.1.39 and in some third-party packages. The batch size has no variable: it is a parameter of a
 * model, or on the runner's command line. A smaller one is set in a derived model (davylamp-probe
 * models).
 */
#include <string.h>

#include "engines/environment.h"

static void ollama_set_cpu(struct davy_environment *e)
{
	davy_environment_set(e, "OLLAMA_LLM_LIBRARY", "cpu");
	davy_environment_set(e, "OLLAMA_VULKAN", "0");
	davy_environment_hide_gpus(e);
	davy_environment_set(e, "GGML_VK_VISIBLE_DEVICES", "-1");
	davy_environment_set(e, "LLAMA_ARG_DEVICE", "none"); /* for llama-server of >= 0.30 */
}

static int ollama_set_backend(enum davy_backend backend, struct davy_environment *e)
{
	if (backend == DAVY_BACKEND_CPU)
		ollama_set_cpu(e);
	if (backend == DAVY_BACKEND_UNKNOWN || backend == DAVY_BACKEND_CPU)
		return 0;
	if (backend != DAVY_BACKEND_VULKAN)
		return davy_environment_refuse(
			e,
			"Ollama's %s directory is named after its version; set "
			"OLLAMA_LLM_LIBRARY in the unit",
			davy_backend_name(backend));
	davy_environment_set(e, "OLLAMA_LLM_LIBRARY", "vulkan");
	davy_environment_set(e, "OLLAMA_VULKAN", "1");
	davy_environment_set(e, "OLLAMA_IGPU_ENABLE", "1"); /* otherwise 0.30 and later ignore it */
	return 0;
}

/* Ollama's context is per slot; davylamp's is the sum of all slots. */
static int ollama_configure(const struct davy_engine_look *look,
			    const struct davy_engine_facts *facts,
			    const struct davy_engine_override *override, struct davy_environment *e)
{
	uint32_t slots =
		override->settings.parallel ? override->settings.parallel : facts->parallel;
	int err = ollama_set_backend(override->backend, e);

	(void)look;
	if (err)
		return err;
	if (override->settings.gpu_layers_off)
		return davy_environment_refuse(e,
					       "Ollama has no variable for the layers on the GPU");
	if (override->settings.parallel)
		davy_environment_set_number(e, "OLLAMA_NUM_PARALLEL", override->settings.parallel);
	if (override->settings.context)
		davy_environment_set_number(e, "OLLAMA_CONTEXT_LENGTH",
					    override->settings.context / (slots ? slots : 1));
	if (override->settings.ubatch && e->count == 0)
		return davy_environment_refuse(e, "Ollama has no variable for the batch; it is a "
						  "parameter of each model");
	return 0;
}

const struct davy_environment_ops davy_environment_ollama = {
	.engine = DAVY_ENGINE_OLLAMA,
	.configure = ollama_configure,
	.can = DAVY_CAN_SHRINK | DAVY_CAN_SWITCH | DAVY_CAN_UNLOAD,
	.movable = true,
	.cache_variables = "OLLAMA_KV_CACHE_TYPE",
};
