/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins for NVML (NVML), CUDA's driver (CUDA), ggml's CUDA backend (BACKEND) and ggml
 * (GGML).
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef INIT_RESULT
#define INIT_RESULT 0
#endif
#ifndef COUNT
#define COUNT 1
#endif

#ifdef NVML
#ifdef NEEDS_SYMBOL
void call_libvgpu_set_skip_interception(void);
#endif
int nvmlInit_v2(void)
{
#ifdef NEEDS_SYMBOL
	call_libvgpu_set_skip_interception();
#endif
	return INIT_RESULT;
}
#ifndef NO_COUNT
int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = COUNT;
	return 0;
}
#endif
#endif

#ifdef CUDA
int cuInit(unsigned int flags)
{
#ifdef CRASHES
	*(volatile int *)8 = (int)flags;
#endif
#ifdef HANGS
	for (;;)
		pause();
#endif
	(void)flags;
	return INIT_RESULT;
}

int cuDeviceGetCount(int *count)
{
	*count = COUNT;
	return 0;
}
#endif

#ifdef BACKEND
int cuInit(unsigned int flags);
int cuDeviceGetCount(int *count);

void *ggml_backend_init(void)
{
	static int registry;
	int count = 0;

	if (cuInit(0) || cuDeviceGetCount(&count) || !count)
		return NULL;
	return &registry;
}
#endif

#ifdef GGML
void *ggml_backend_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *(*init)(void) = library ? (void *(*)(void))dlsym(library, "ggml_backend_init") : NULL;

	return init ? init() : NULL;
}
#endif

#ifdef GGML_BASE
void *ggml_backend_buft_alloc_buffer(void *type, size_t size)
{
	(void)type;
	return malloc(size);
}

int ggml_backend_sched_graph_compute_async(void *sched, void *graph)
{
	return sched != graph;
}
#endif
