/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other programs that share a GPU with language models: whisper.cpp, stable-diffusion.cpp, ComfyUI,
 * and programs that use a known compute library.
 */
#include "engines/table.h"

#include <string.h>

static bool images_read_ggml(const struct davy_command *c, struct davy_engine_facts *facts,
			     const char *model)
{
	facts->role = strstr(c->program, "server") ? DAVY_ROLE_SERVER : DAVY_ROLE_TOOL;
	davy_set_model_file(facts, model);
	return true;
}

static bool images_read_whisper(const struct davy_engine_look *look, const struct davy_command *c,
				struct davy_engine_facts *facts)
{
	(void)look;
	images_read_ggml(c, facts, davy_option(c->args, "-m --model"));
	if (facts->role == DAVY_ROLE_SERVER)
		davy_set_port(facts, davy_option(c->args, "--port"), 8080);
	if (davy_has_option(c->args, "-ng --no-gpu"))
		facts->backend = DAVY_BACKEND_CPU;
	return true;
}

/* examples/server/server.cpp: the context has no GPU backend then. */
static int images_whisper_to_cpu(char *const argv[], struct davy_args *args)
{
	int err = davy_args_without(argv, "-dev --device", "-ng --no-gpu", args);

	return err ? err : davy_args_add(args, "--no-gpu");
}

static const struct davy_engine_api whisper_api = { .name = "none", .health = "/health" };

const struct davy_engine_ops davy_engine_whisper_cpp = {
	.engine = DAVY_ENGINE_WHISPER_CPP,
	.marks = { .programs = "whisper-server whisper-cli whisper-stream whisper-bench "
			       "whisper-command whisper-talk-llama",
		   .libraries = "libwhisper.so*" },
	.read = images_read_whisper,
	.to_cpu = images_whisper_to_cpu,
	.api[DAVY_ROLE_SERVER] = &whisper_api,
	.backends = DAVY_BACKENDS_GGML,
};

/* "sd" is also a text tool: without a model it is ignored. */
static bool images_read_sd(const struct davy_engine_look *look, const struct davy_command *c,
			   struct davy_engine_facts *facts)
{
	const char *model = davy_option(c->args, "-m --model --diffusion-model");

	(void)look;
	if (!model)
		return false;
	images_read_ggml(c, facts, model);
	if (facts->role == DAVY_ROLE_SERVER)
		davy_set_port(facts, davy_option(c->args, "-p --listen-port"), 1234);
	return true;
}

static const struct davy_engine_api sd_api = { .name = "none", .health = "/v1/models" };

const struct davy_engine_ops davy_engine_sd_cpp = {
	.engine = DAVY_ENGINE_SD_CPP,
	.marks = { .programs = "sd sd-cli sd-server", .libraries = "libstable-diffusion.so*" },
	.read = images_read_sd,
	.api[DAVY_ROLE_SERVER] = &sd_api,
	.cpu_by_variables = true,
	.backends = DAVY_BACKENDS_GGML,
};

static bool images_read_comfyui(const struct davy_engine_look *look, const struct davy_command *c,
				struct davy_engine_facts *facts)
{
	(void)look;
	if (!c->module[0] && strcmp(c->program, "main.py") != 0)
		return false;
	facts->role = DAVY_ROLE_SERVER;
	davy_set_port(facts, davy_option(c->args, "--port"), 8188);
	if (davy_has_option(c->args, "--cpu"))
		facts->backend = DAVY_BACKEND_CPU;
	return true;
}

/* comfy/cli_args.py: at most one of these. */
static int images_comfyui_to_cpu(char *const argv[], struct davy_args *args)
{
	int err = davy_args_without(
		argv, "", "--gpu-only --highvram --normalvram --lowvram --novram --cpu", args);

	return err ? err : davy_args_add(args, "--cpu");
}

static const struct davy_engine_api comfyui_api = { .name = "none", .health = "/system_stats" };

const struct davy_engine_ops davy_engine_comfyui = {
	.engine = DAVY_ENGINE_COMFYUI,
	.marks = { .modules = "comfyui comfy", .paths = "/comfyui" },
	.read = images_read_comfyui,
	.to_cpu = images_comfyui_to_cpu,
	.api[DAVY_ROLE_SERVER] = &comfyui_api,
	.backends = DAVY_BACKEND_BIT(CPU) | DAVY_BACKENDS_TORCH,
};

/* Recognised only by its mapped libraries and open devices, never by its command line. */
const struct davy_engine_ops davy_engine_generic = {
	.engine = DAVY_ENGINE_GENERIC,
	.marks = { .libraries = "libtorch_cuda* libtorch_hip* libtorch_xpu* libc10_cuda* "
				"libc10_hip* libtensorflow* libonnxruntime* libjax* "
				"libggml-base* libmlx* libamdhip64* libhsa-runtime64* libcudart* "
				"libcublas* libze_intel_gpu* libOpenCL.so*" },
	.backends = DAVY_BACKENDS_GGML,
};
