/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "types.h"

#include <assert.h>
#include <string.h>

static const char *const engine_names[DL_ENGINE_COUNT] = {
	[DL_ENGINE_NONE] = "none",     [DL_ENGINE_LLAMA_SERVER] = "llama-server",
	[DL_ENGINE_OLLAMA] = "ollama", [DL_ENGINE_OLLAMA_RUNNER] = "ollama-runner",
	[DL_ENGINE_VLLM] = "vllm",     [DL_ENGINE_GENERIC] = "generic",
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
