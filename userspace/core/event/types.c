/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/types.h"

#include <assert.h>
#include <string.h>

static const char *const engine_names[DL_ENGINE_COUNT] = {
	[DL_ENGINE_NONE] = "none",
	[DL_ENGINE_LLAMA_SERVER] = "llama-server",
	[DL_ENGINE_OLLAMA] = "ollama",
	[DL_ENGINE_OLLAMA_RUNNER] = "ollama-runner",
	[DL_ENGINE_VLLM] = "vllm",
	[DL_ENGINE_GENERIC] = "generic",
	[DL_ENGINE_LLAMA_CPP] = "llama.cpp",
	[DL_ENGINE_SGLANG] = "sglang",
	[DL_ENGINE_TGI] = "text-generation-inference",
	[DL_ENGINE_LOCALAI] = "localai",
	[DL_ENGINE_KOBOLDCPP] = "koboldcpp",
	[DL_ENGINE_LM_STUDIO] = "lm-studio",
	[DL_ENGINE_LLAMA_SWAP] = "llama-swap",
	[DL_ENGINE_LEMONADE] = "lemonade",
	[DL_ENGINE_WHISPER_CPP] = "whisper.cpp",
	[DL_ENGINE_SD_CPP] = "stable-diffusion.cpp",
	[DL_ENGINE_COMFYUI] = "comfyui",
};

static const char *const role_names[DL_ROLE_COUNT] = {
	[DL_ROLE_UNKNOWN] = "unknown",	   [DL_ROLE_SERVER] = "server",
	[DL_ROLE_MANAGER] = "manager",	   [DL_ROLE_RUNNER] = "runner",
	[DL_ROLE_DISCOVERY] = "discovery", [DL_ROLE_TOOL] = "tool",
};

static const char *const runtime_names[DL_RUNTIME_COUNT] = {
	[DL_RUNTIME_NONE] = "none",
	[DL_RUNTIME_OTHER] = "other",
	[DL_RUNTIME_DOCKER] = "docker",
	[DL_RUNTIME_PODMAN] = "podman",
	[DL_RUNTIME_CONTAINERD] = "containerd",
	[DL_RUNTIME_CRIO] = "cri-o",
	[DL_RUNTIME_LXC] = "lxc",
	[DL_RUNTIME_NSPAWN] = "nspawn",
};

static const char *const backend_names[DL_BACKEND_COUNT] = {
	[DL_BACKEND_UNKNOWN] = "unknown", [DL_BACKEND_CPU] = "cpu",
	[DL_BACKEND_VULKAN] = "vulkan",	  [DL_BACKEND_ROCM] = "rocm",
	[DL_BACKEND_CUDA] = "cuda",	  [DL_BACKEND_SYCL] = "sycl",
};

static const char *const mode_names[DL_MODE_COUNT] = {
	[DL_MODE_OBSERVE] = "observe",
	[DL_MODE_ADVISE] = "advise",
	[DL_MODE_ENFORCE] = "enforce",
};

const char *dl_engine_name(enum dl_engine engine)
{
	assert(engine < DL_ENGINE_COUNT);
	return engine_names[engine];
}

const char *dl_backend_name(enum dl_backend backend)
{
	assert(backend < DL_BACKEND_COUNT);
	return backend_names[backend];
}

const char *dl_mode_name(enum dl_mode mode)
{
	assert(mode < DL_MODE_COUNT);
	return mode_names[mode];
}

const char *dl_role_name(enum dl_role role)
{
	assert(role < DL_ROLE_COUNT);
	return role_names[role];
}

const char *dl_runtime_name(enum dl_runtime runtime)
{
	assert(runtime < DL_RUNTIME_COUNT);
	return runtime_names[runtime];
}

static int index_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

int dl_backend_from_name(const char *name)
{
	return index_of(backend_names, DL_BACKEND_COUNT, name);
}

int dl_mode_from_name(const char *name)
{
	return index_of(mode_names, DL_MODE_COUNT, name);
}

void dl_copy_name(char *dst, size_t size, const char *src)
{
	size_t len;

	assert(size > 0);
	len = strnlen(src, size - 1);
	memcpy(dst, src, len);
	memset(dst + len, 0, size - len);
}

bool dl_same_name(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
