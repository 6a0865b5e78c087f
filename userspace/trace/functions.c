/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/functions.h"

#include <string.h>

#include "trace/start_step.h"

#define NO DAVY_NO_ARGUMENT

/*
 * Ollama calls six functions of NVML and never nvmlDeviceGetCount_v2 (ENGINES: discover/,
 * mem_nvml.cpp); ggml-cuda, llama.cpp's Vulkan and vLLM call those of the runtimes. Vulkan's device
 * functions may bypass the loader, so ggml's own function shows memory.
 */
const struct davy_function davy_functions[] = {
	{ "libc", "dlopen", DAVY_FAMILY_NONE, DAVY_STAGE_LIBRARY, DAVY_RESULT_POINTER, 0, NO, 200,
	  0 },
	{ "libdl", "dlopen", DAVY_FAMILY_NONE, DAVY_STAGE_LIBRARY, DAVY_RESULT_POINTER, 0, NO, 200,
	  0 },

	{ "libggml", "ggml_backend_load", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY, DAVY_RESULT_POINTER,
	  0, NO, 32, 0 },
	{ "libggml", "ggml_backend_load_all", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_NONE, NO, NO, 8, 0 },
	{ "libggml", "ggml_backend_load_all_from_path", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_NONE, 0, NO, 8, 0 },
	{ "libggml-cuda", "ggml_backend_init", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_POINTER, NO, NO, 8, 0 },
	{ "libggml-hip", "ggml_backend_init", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_POINTER, NO, NO, 8, 0 },
	{ "libggml-vulkan", "ggml_backend_init", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_POINTER, NO, NO, 8, 0 },
	{ "libggml-sycl", "ggml_backend_init", DAVY_FAMILY_GGML, DAVY_STAGE_LIBRARY,
	  DAVY_RESULT_POINTER, NO, NO, 8, 0 },
	{ "libggml-base", "ggml_backend_dev_init", DAVY_FAMILY_GGML, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_POINTER, NO, NO, 16, 0 },
	{ "libggml-base", "ggml_backend_buft_alloc_buffer", DAVY_FAMILY_GGML, DAVY_STAGE_MEMORY,
	  DAVY_RESULT_POINTER, NO, NO, 32, DAVY_CALL_SIZED },
	{ "libggml-base", "ggml_backend_sched_graph_compute_async", DAVY_FAMILY_GGML,
	  DAVY_STAGE_GRAPH, DAVY_RESULT_GGML, NO, NO, 2, 0 },

	{ "libnvidia-ml", "nvmlInit", DAVY_FAMILY_NVML, DAVY_STAGE_INIT, DAVY_RESULT_NVML, NO, NO,
	  8, 0 },
	{ "libnvidia-ml", "nvmlInit_v2", DAVY_FAMILY_NVML, DAVY_STAGE_INIT, DAVY_RESULT_NVML, NO,
	  NO, 8, 0 },
	{ "libnvidia-ml", "nvmlInitWithFlags", DAVY_FAMILY_NVML, DAVY_STAGE_INIT, DAVY_RESULT_NVML,
	  NO, NO, 8, 0 },
	{ "libnvidia-ml", "nvmlSystemGetDriverVersion", DAVY_FAMILY_NVML, DAVY_STAGE_INIT,
	  DAVY_RESULT_NVML, NO, NO, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetCount", DAVY_FAMILY_NVML, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_NVML, NO, 0, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetCount_v2", DAVY_FAMILY_NVML, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_NVML, NO, 0, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetHandleByIndex_v2", DAVY_FAMILY_NVML, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_NVML, NO, NO, 16, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetHandleByUUID", DAVY_FAMILY_NVML, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_NVML, 0, NO, 16, 0 },

	{ "libcuda", "cuInit", DAVY_FAMILY_CUDA, DAVY_STAGE_INIT, DAVY_RESULT_CUDA, NO, NO, 8, 0 },
	{ "libcuda", "cuDriverGetVersion", DAVY_FAMILY_CUDA, DAVY_STAGE_INIT, DAVY_RESULT_CUDA, NO,
	  NO, 8, 0 },
	{ "libcuda", "cuDeviceGetCount", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES, DAVY_RESULT_CUDA, NO,
	  0, 8, 0 },
	{ "libcuda", "cuDeviceGet", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES, DAVY_RESULT_CUDA, NO, NO,
	  16, 0 },
	{ "libcuda", "cuCtxCreate_v2", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES, DAVY_RESULT_CUDA, NO,
	  NO, 8, DAVY_CALL_OPENS },
	{ "libcuda", "cuDevicePrimaryCtxRetain", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_CUDA, NO, NO, 8, DAVY_CALL_OPENS },
	{ "libcuda", "cuMemAlloc_v2", DAVY_FAMILY_CUDA, DAVY_STAGE_MEMORY, DAVY_RESULT_CUDA, NO, NO,
	  16, DAVY_CALL_SIZED },
	{ "libcudart", "cudaGetDeviceCount", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_CUDART, NO, 0, 8, 0 },
	{ "libcudart", "cudaSetDevice", DAVY_FAMILY_CUDA, DAVY_STAGE_DEVICES, DAVY_RESULT_CUDART,
	  NO, NO, 8, DAVY_CALL_OPENS },
	{ "libcudart", "cudaMalloc", DAVY_FAMILY_CUDA, DAVY_STAGE_MEMORY, DAVY_RESULT_CUDART, NO,
	  NO, 16, DAVY_CALL_SIZED },

	{ "libhsa-runtime64", "hsa_init", DAVY_FAMILY_HSA, DAVY_STAGE_INIT, DAVY_RESULT_HSA, NO, NO,
	  8, 0 },
	{ "libhsa-runtime64", "hsa_iterate_agents", DAVY_FAMILY_HSA, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_HSA, NO, NO, 8, 0 },
	{ "libhsa-runtime64", "hsa_queue_create", DAVY_FAMILY_HSA, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_HSA, NO, NO, 8, DAVY_CALL_OPENS },
	{ "libhsa-runtime64", "hsa_amd_memory_pool_allocate", DAVY_FAMILY_HSA, DAVY_STAGE_MEMORY,
	  DAVY_RESULT_HSA, NO, NO, 16, DAVY_CALL_SIZED },
	{ "libamdhip64", "hipInit", DAVY_FAMILY_HIP, DAVY_STAGE_INIT, DAVY_RESULT_HIP, NO, NO, 8,
	  0 },
	{ "libamdhip64", "hipGetDeviceCount", DAVY_FAMILY_HIP, DAVY_STAGE_DEVICES, DAVY_RESULT_HIP,
	  NO, 0, 8, 0 },
	{ "libamdhip64", "hipSetDevice", DAVY_FAMILY_HIP, DAVY_STAGE_DEVICES, DAVY_RESULT_HIP, NO,
	  NO, 8, DAVY_CALL_OPENS },
	{ "libamdhip64", "hipMalloc", DAVY_FAMILY_HIP, DAVY_STAGE_MEMORY, DAVY_RESULT_HIP, NO, NO,
	  16, DAVY_CALL_SIZED },

	{ "libvulkan", "vkCreateInstance", DAVY_FAMILY_VULKAN, DAVY_STAGE_INIT, DAVY_RESULT_VULKAN,
	  NO, NO, 8, 0 },
	{ "libvulkan", "vkEnumeratePhysicalDevices", DAVY_FAMILY_VULKAN, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_VULKAN, NO, 1, 8, 0 },
	{ "libvulkan", "vkCreateDevice", DAVY_FAMILY_VULKAN, DAVY_STAGE_DEVICES, DAVY_RESULT_VULKAN,
	  NO, NO, 8, DAVY_CALL_OPENS },
	{ "libvulkan", "vkAllocateMemory", DAVY_FAMILY_VULKAN, DAVY_STAGE_MEMORY,
	  DAVY_RESULT_VULKAN, NO, NO, 16, 0 },

	{ "libze_loader", "zeInit", DAVY_FAMILY_LEVEL_ZERO, DAVY_STAGE_INIT, DAVY_RESULT_LEVEL_ZERO,
	  NO, NO, 8, 0 },
	{ "libze_loader", "zeInitDrivers", DAVY_FAMILY_LEVEL_ZERO, DAVY_STAGE_INIT,
	  DAVY_RESULT_LEVEL_ZERO, NO, 0, 8, 0 },
	{ "libze_loader", "zeDriverGet", DAVY_FAMILY_LEVEL_ZERO, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_LEVEL_ZERO, NO, 0, 8, 0 },
	{ "libze_loader", "zeDeviceGet", DAVY_FAMILY_LEVEL_ZERO, DAVY_STAGE_DEVICES,
	  DAVY_RESULT_LEVEL_ZERO, NO, 1, 8, 0 },
	{ "libze_loader", "zeMemAllocDevice", DAVY_FAMILY_LEVEL_ZERO, DAVY_STAGE_MEMORY,
	  DAVY_RESULT_LEVEL_ZERO, NO, NO, 16, 0 },
};

const size_t davy_function_count = sizeof(davy_functions) / sizeof(davy_functions[0]);

const struct davy_function *davy_function_at(uint32_t index)
{
	return index < davy_function_count ? &davy_functions[index] : NULL;
}

const struct davy_known_library davy_known_libraries[] = {
	{ "libnvidia-ml", DAVY_FAMILY_NVML, false },
	{ "libcuda", DAVY_FAMILY_CUDA, false },
	{ "libcudart", DAVY_FAMILY_CUDA, false },
	{ "libhsa-runtime64", DAVY_FAMILY_HSA, false },
	{ "libamdhip64", DAVY_FAMILY_HIP, false },
	{ "libvulkan", DAVY_FAMILY_VULKAN, false },
	{ "libze_loader", DAVY_FAMILY_LEVEL_ZERO, false },
	{ "libze_intel_gpu", DAVY_FAMILY_LEVEL_ZERO, false },
	{ "libggml-cuda", DAVY_FAMILY_CUDA, true },
	{ "libggml-hip", DAVY_FAMILY_HIP, true },
	{ "libggml-vulkan", DAVY_FAMILY_VULKAN, true },
	{ "libggml-sycl", DAVY_FAMILY_LEVEL_ZERO, true },
	{ "libggml", DAVY_FAMILY_GGML, false },
	{ "libggml-base", DAVY_FAMILY_GGML, false },
};

const size_t davy_known_library_count =
	sizeof(davy_known_libraries) / sizeof(davy_known_libraries[0]);

int davy_known_library(const char *path)
{
	const char *base = davy_step_base(path), *end = strstr(base, ".so");
	size_t length = end ? (size_t)(end - base) : strlen(base);

	for (size_t i = 0; i < davy_known_library_count; i++)
		if (strlen(davy_known_libraries[i].name) == length &&
		    !strncmp(base, davy_known_libraries[i].name, length))
			return (int)i;
	return -1;
}

const char *davy_stage_name(enum davy_stage stage)
{
	static const char *const names[] = { "none",	     "exec",	     "library load",
					     "runtime init", "device query", "memory",
					     "first graph" };

	return stage < DAVY_STAGE_COUNT ? names[stage] : "none";
}

const char *davy_family_name(enum davy_family family)
{
	static const char *const names[] = { "none", "ggml", "nvml",   "cuda",
					     "hsa",  "hip",  "vulkan", "level-zero" };

	return family < DAVY_FAMILY_COUNT ? names[family] : "none";
}
