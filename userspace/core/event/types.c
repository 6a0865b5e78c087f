/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/types.h"

#include <assert.h>
#include <string.h>

static const char *const engine_names[DAVY_ENGINE_COUNT] = {
	[DAVY_ENGINE_NONE] = "none",
	[DAVY_ENGINE_LLAMA_SERVER] = "llama-server",
	[DAVY_ENGINE_OLLAMA] = "ollama",
	[DAVY_ENGINE_OLLAMA_RUNNER] = "ollama-runner",
	[DAVY_ENGINE_VLLM] = "vllm",
	[DAVY_ENGINE_GENERIC] = "generic",
	[DAVY_ENGINE_LLAMA_CPP] = "llama.cpp",
	[DAVY_ENGINE_SGLANG] = "sglang",
	[DAVY_ENGINE_TGI] = "text-generation-inference",
	[DAVY_ENGINE_LOCALAI] = "localai",
	[DAVY_ENGINE_KOBOLDCPP] = "koboldcpp",
	[DAVY_ENGINE_LM_STUDIO] = "lm-studio",
	[DAVY_ENGINE_LLAMA_SWAP] = "llama-swap",
	[DAVY_ENGINE_LEMONADE] = "lemonade",
	[DAVY_ENGINE_WHISPER_CPP] = "whisper.cpp",
	[DAVY_ENGINE_SD_CPP] = "stable-diffusion.cpp",
	[DAVY_ENGINE_COMFYUI] = "comfyui",
};

static const char *const role_names[DAVY_ROLE_COUNT] = {
	[DAVY_ROLE_UNKNOWN] = "unknown",     [DAVY_ROLE_SERVER] = "server",
	[DAVY_ROLE_MANAGER] = "manager",     [DAVY_ROLE_RUNNER] = "runner",
	[DAVY_ROLE_DISCOVERY] = "discovery", [DAVY_ROLE_TOOL] = "tool",
};

static const char *const runtime_names[DAVY_RUNTIME_COUNT] = {
	[DAVY_RUNTIME_NONE] = "none",
	[DAVY_RUNTIME_OTHER] = "other",
	[DAVY_RUNTIME_DOCKER] = "docker",
	[DAVY_RUNTIME_PODMAN] = "podman",
	[DAVY_RUNTIME_CONTAINERD] = "containerd",
	[DAVY_RUNTIME_CRIO] = "cri-o",
	[DAVY_RUNTIME_LXC] = "lxc",
	[DAVY_RUNTIME_NSPAWN] = "nspawn",
};

static const char *const backend_names[DAVY_BACKEND_COUNT] = {
	[DAVY_BACKEND_UNKNOWN] = "unknown", [DAVY_BACKEND_CPU] = "cpu",
	[DAVY_BACKEND_VULKAN] = "vulkan",   [DAVY_BACKEND_ROCM] = "rocm",
	[DAVY_BACKEND_CUDA] = "cuda",	    [DAVY_BACKEND_SYCL] = "sycl",
};

static const char *const mode_names[DAVY_MODE_COUNT] = {
	[DAVY_MODE_OBSERVE] = "observe",
	[DAVY_MODE_ADVISE] = "advise",
	[DAVY_MODE_ENFORCE] = "enforce",
};

const char *davy_engine_name(enum davy_engine engine)
{
	assert(engine < DAVY_ENGINE_COUNT);
	return engine_names[engine];
}

const char *davy_backend_name(enum davy_backend backend)
{
	assert(backend < DAVY_BACKEND_COUNT);
	return backend_names[backend];
}

const char *davy_mode_name(enum davy_mode mode)
{
	assert(mode < DAVY_MODE_COUNT);
	return mode_names[mode];
}

const char *davy_role_name(enum davy_role role)
{
	assert(role < DAVY_ROLE_COUNT);
	return role_names[role];
}

const char *davy_runtime_name(enum davy_runtime runtime)
{
	assert(runtime < DAVY_RUNTIME_COUNT);
	return runtime_names[runtime];
}

static int index_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

int davy_backend_from_name(const char *name)
{
	return index_of(backend_names, DAVY_BACKEND_COUNT, name);
}

int davy_mode_from_name(const char *name)
{
	return index_of(mode_names, DAVY_MODE_COUNT, name);
}

void davy_copy_name(char *dst, size_t size, const char *src)
{
	size_t len;

	assert(size > 0);
	len = strnlen(src, size - 1);
	memcpy(dst, src, len);
	memset(dst + len, 0, size - len);
}

bool davy_same_name(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
