/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama.cpp's llama-server. Flags as of 0.7.0 (b11669). A flag on the command line overrides its
 * LLAMA_ARG_* variable, so arguments restrict it to the CPU (measured): "-ngl 0" alone keeps a
 * Vulkan context and runs large batches on it, "--device none" does not.
 */
#include "engines/table.h"

#include <errno.h>
#include <string.h>

/*
 * Flags that place work on a device. A later flag overrides most of them, but a -dev, -devd or -ot
 * with a device is still parsed, and -ot is never overridden. Therefore all of them are removed.
 */
static const char device_names[] = "-dev --device -devd --device-draft --spec-draft-device -mmdev";
static const char cpu_drops[] =
	"-dev --device -devd --device-draft --spec-draft-device -mmdev -ot --override-tensor -otd "
	"--override-tensor-draft -ngl --gpu-layers --n-gpu-layers -ngld --gpu-layers-draft "
	"--n-gpu-layers-draft --spec-draft-ngl -sm --split-mode -ts --tensor-split -mg --main-gpu";
static const char cpu_drop_flags[] = "-kvo --kv-offload --op-offload --mmproj-offload "
				     "-nkvo --no-kv-offload --no-op-offload --no-mmproj-offload";

/* Override every LLAMA_ARG_* variable; measured: no Vulkan buffer and no worker thread remain. */
static const char *const cpu_flags[] = {
	"--device",	      "none",  "--device-draft",  "none",
	"--split-mode",	      "layer", "--gpu-layers",	  "0",
	"--gpu-layers-draft", "0",     "--no-op-offload", "--no-mmproj-offload",
	"--no-kv-offload",
};

/* Variables that no argument overrides. */
static const char *const cpu_unset[] = { "LLAMA_ARG_OVERRIDE_TENSOR", NULL };

/* Programs that start llama-server; Ollama is recognised by more than its name. */
static const char managers[] = "lemond llama-swap local-ai";

static enum davy_role llama_server_role(const struct davy_engine_look *look,
					const struct davy_command *c,
					const struct davy_engine_facts *facts)
{
	if (davy_has_option(c->args, "--list-devices"))
		return DAVY_ROLE_DISCOVERY;
	if (davy_has_option(c->args, "--version -h --help --usage -cl --cache-list "
				     "--completion-bash"))
		return DAVY_ROLE_TOOL;
	if (davy_env(look, "LLAMA_SERVER_ROUTER_PORT") || davy_word_in(managers, look->parent))
		return DAVY_ROLE_RUNNER;
	return facts->loads_model ? DAVY_ROLE_SERVER : DAVY_ROLE_MANAGER;
}

static bool llama_server_read(const struct davy_engine_look *look, const struct davy_command *c,
			      struct davy_engine_facts *facts)
{
	davy_llama_read(look, c, facts);
	/* 9931 since about b11669, 8080 before; process_info.c prefers the listening socket */
	davy_set_port(facts, davy_setting(look, c, "--port", "LLAMA_ARG_PORT"), 8080);
	facts->role = llama_server_role(look, c, facts);
	facts->models_dir = davy_env(look, "OLLAMA_MODELS");
	facts->slot_dir = davy_setting(look, c, "--slot-save-path", "LLAMA_ARG_SLOT_SAVE_PATH");
	if (!davy_is_ollama_child(look, c, facts))
		return true;
	facts->engine = DAVY_ENGINE_OLLAMA_RUNNER;
	facts->role = facts->loads_model ? DAVY_ROLE_RUNNER : DAVY_ROLE_DISCOVERY;
	return true;
}

static int llama_server_to_cpu(char *const argv[], struct davy_args *args)
{
	int err = davy_args_without(argv, cpu_drops, cpu_drop_flags, args);

	for (size_t i = 0; i < sizeof(cpu_flags) / sizeof(cpu_flags[0]) && !err; i++)
		err = davy_args_add(args, cpu_flags[i]);
	return err;
}

/* Backends number their devices in the same order: the first GPU is Vulkan0 and ROCm0. */
static int llama_server_to_backend(char *const argv[], enum davy_backend backend,
				   struct davy_args *args)
{
	static const struct {
		enum davy_backend backend;
		const char *device;
	} names[] = {
		{ DAVY_BACKEND_VULKAN, "Vulkan0" },
		{ DAVY_BACKEND_ROCM, "ROCm0" },
		{ DAVY_BACKEND_CUDA, "CUDA0" },
		{ DAVY_BACKEND_SYCL, "SYCL0" },
	};
	int err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].backend != backend)
			continue;
		err = davy_args_without(argv, device_names, "", args);
		if (!err)
			err = davy_args_add(args, "--device");
		return err ? err : davy_args_add(args, names[i].device);
	}
	return -EOPNOTSUPP;
}

/*
 * ggml 0.27 (ggml-backend-reg.cpp): next to the program, in the directory set at build time
 * (Debian: lib/TRIPLET/ggml/backends0), or linked.
 */
static const char *const places[] = {
	"libggml-*.so*",
	"../lib/libggml-*.so*",
	"../lib64/libggml-*.so*",
	"../lib/*/libggml-*.so*",
	"../lib/*/ggml/backends*/libggml-*.so*",
	"../lib/ggml/backends*/libggml-*.so*",
	NULL,
};

const struct davy_engine_api davy_llama_server_api = { "llama", "/health", "/v1/models" };
/* A router needs the model's name. */
static const struct davy_engine_api llama_server_router_api = { "openai", "/health", "/v1/models" };

const struct davy_engine_ops davy_engine_llama_server = {
	.engine = DAVY_ENGINE_LLAMA_SERVER,
	.marks = { .programs = "llama-server llama-server-* .llama-server-wrapped" },
	.read = llama_server_read,
	.to_cpu = llama_server_to_cpu,
	.cpu_unset = cpu_unset,
	.to_backend = llama_server_to_backend,
	.api = { [DAVY_ROLE_SERVER] = &davy_llama_server_api,
		 [DAVY_ROLE_RUNNER] = &davy_llama_server_api,
		 [DAVY_ROLE_MANAGER] = &llama_server_router_api },
	.backends = DAVY_BACKENDS_GGML,
	.places = places,
	.libraries = { [DAVY_BACKEND_VULKAN] = "/libggml-vulkan.",
		       [DAVY_BACKEND_ROCM] = "/libggml-hip.",
		       [DAVY_BACKEND_CUDA] = "/libggml-cuda.",
		       [DAVY_BACKEND_SYCL] = "/libggml-sycl." },
	.settings = { .ubatch = "-ub --ubatch-size",
		      .context = "-c --ctx-size",
		      .parallel = "-np --parallel",
		      .gpu_layers = "-ngl --n-gpu-layers --gpu-layers",
		      .cache_k = "-ctk --cache-type-k",
		      .cache_v = "-ctv --cache-type-v" },
	.share_port = "LLAMA_ARG_REUSE_PORT",
	.save_slots = "LLAMA_ARG_SLOT_SAVE_PATH",
};
