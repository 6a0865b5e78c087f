/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama-server as a service, single model or router (whose children inherit the variables).
 * LLAMA_ARG_* as of 0.7.0 (b11669). LLAMA_ARG_DEVICE=none restricts it to the CPU (measured: all
 * buffers there), also with -ngl on the command line; 0 layers alone does not. A variable cannot be
 * unset: an EnvironmentFile only adds.
 */
#include <stdio.h>

#include "engines/command.h"
#include "engines/environment.h"

static const struct option {
	const char *names;
	const char *variable;
} ubatch = { "-ub --ubatch-size", "LLAMA_ARG_UBATCH" },
  context = { "-c --ctx-size", "LLAMA_ARG_CTX_SIZE" },
  parallel = { "-np --parallel", "LLAMA_ARG_N_PARALLEL" },
  layers = { "-ngl --gpu-layers --n-gpu-layers", "LLAMA_ARG_N_GPU_LAYERS" },
  device = { "-dev --device", "LLAMA_ARG_DEVICE" };

static int llama_server_refuse_flag(struct davy_environment *e, const char *names)
{
	return davy_environment_refuse(
		e, "the engine's command line has %s, which overrides any variable", names);
}

static int llama_server_set_number(const struct davy_command *c, const struct option *o,
				   uint32_t value, struct davy_environment *e)
{
	if (!value)
		return 0;
	if (davy_option(c->args, o->names))
		return llama_server_refuse_flag(e, o->names);
	davy_environment_set_number(e, o->variable, value);
	return 0;
}

static int llama_server_set_layers(const struct davy_command *c,
				   const struct davy_engine_facts *facts, uint32_t off,
				   struct davy_environment *e)
{
	if (!off)
		return 0;
	if (facts->gpu_layers < 0)
		return davy_environment_refuse(e, "the number of layers on the GPU is unknown; set "
						  "LLAMA_ARG_N_GPU_LAYERS in the unit");
	if ((uint32_t)facts->gpu_layers <= off)
		return davy_environment_refuse(e, "only %d layers are on the GPU",
					       facts->gpu_layers);
	return llama_server_set_number(c, &layers, (uint32_t)facts->gpu_layers - off, e);
}

/* With these options, work may still go to a device in spite of "none". */
static const char placing[] = "-devd --device-draft --spec-draft-device -ot --override-tensor -otd "
			      "--override-tensor-draft -mmdev -md --model-draft -mm --mmproj";

static int llama_server_set_cpu(const struct davy_engine_look *look, const struct davy_command *c,
				struct davy_environment *e)
{
	const char *given = davy_option(c->args, device.names);

	if (given && !davy_word_in("none", given))
		return llama_server_refuse_flag(e, device.names);
	if (davy_has_option(c->args, placing))
		return llama_server_refuse_flag(e, "a flag that places tensors or a second model");
	if (davy_env(look, "LLAMA_ARG_OVERRIDE_TENSOR") || davy_env(look, "LLAMA_ARG_MMPROJ") ||
	    davy_env(look, "LLAMA_ARG_SPEC_DRAFT_MODEL"))
		return davy_environment_refuse(e, "the engine's own variables place tensors or a "
						  "second model, and they cannot be unset");
	davy_environment_set(e, device.variable, "none");
	davy_environment_set(e, "LLAMA_ARG_N_GPU_LAYERS", "0");
	davy_environment_hide_gpus(e);
	return 0;
}

static int llama_server_set_backend(const struct davy_engine_look *look,
				    const struct davy_command *c, enum davy_backend backend,
				    struct davy_environment *e)
{
	static const char *const devices[DAVY_BACKEND_COUNT] = {
		[DAVY_BACKEND_VULKAN] = "Vulkan0",
		[DAVY_BACKEND_ROCM] = "ROCm0",
		[DAVY_BACKEND_CUDA] = "CUDA0",
		[DAVY_BACKEND_SYCL] = "SYCL0",
	};

	if (backend == DAVY_BACKEND_UNKNOWN)
		return 0;
	if (backend == DAVY_BACKEND_CPU)
		return llama_server_set_cpu(look, c, e);
	if (davy_option(c->args, device.names))
		return llama_server_refuse_flag(e, device.names);
	davy_environment_set(e, device.variable, devices[backend]);
	return 0;
}

static int llama_server_configure(const struct davy_engine_look *look,
				  const struct davy_engine_facts *facts,
				  const struct davy_engine_override *override,
				  struct davy_environment *e)
{
	struct davy_command c;
	int err;

	davy_command_of(look, &c);
	err = llama_server_set_backend(look, &c, override->backend, e);
	if (!err)
		err = llama_server_set_number(&c, &ubatch, override->settings.ubatch, e);
	if (!err)
		err = llama_server_set_number(&c, &context, override->settings.context, e);
	if (!err)
		err = llama_server_set_number(&c, &parallel, override->settings.parallel, e);
	if (!err && override->backend != DAVY_BACKEND_CPU)
		err = llama_server_set_layers(&c, facts, override->settings.gpu_layers_off, e);
	return err;
}

static const struct davy_environment_option options[] = {
	{ "-fa --flash-attn", "LLAMA_ARG_FLASH_ATTN" },
	{ "-fit --fit", "LLAMA_ARG_FIT" },
	{ "-fitt --fit-target", "LLAMA_ARG_FIT_TARGET" },
	{ "-cram --cache-ram", "LLAMA_ARG_CACHE_RAM" },
	{ "-b --batch-size", "LLAMA_ARG_BATCH" },
	{ "-t --threads", "LLAMA_ARG_THREADS" },
	{ "-sm --split-mode", "LLAMA_ARG_SPLIT_MODE" },
	{ "-ts --tensor-split", "LLAMA_ARG_TENSOR_SPLIT" },
	{ "-mg --main-gpu", "LLAMA_ARG_MAIN_GPU" },
	{ NULL, NULL },
};

const struct davy_environment_ops davy_environment_llama_server = {
	.engine = DAVY_ENGINE_LLAMA_SERVER,
	.configure = llama_server_configure,
	.can = DAVY_CAN_SHRINK | DAVY_CAN_SWITCH,
	.manager_can = DAVY_CAN_UNLOAD,
	.movable = true,
	.cache_options = "-ctk --cache-type-k -ctv --cache-type-v",
	.cache_variables = "LLAMA_ARG_CACHE_TYPE_K LLAMA_ARG_CACHE_TYPE_V",
	.options = options,
};
