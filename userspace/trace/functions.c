/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/functions.h"

#include <string.h>

#include "trace/start_step.h"

#define NO DL_NO_ARGUMENT

/*
 * Ollama calls six functions of NVML and never nvmlDeviceGetCount_v2 (ENGINES: discover/,
 * mem_nvml.cpp); ggml-cuda, llama.cpp's Vulkan and vLLM call those of the runtimes. Vulkan's
 * device functions may go around the loader, so memory is told by ggml's own function.
 */
const struct dl_function dl_functions[] = {
	{ "libc", "dlopen", DL_FAMILY_NONE, DL_STAGE_LIBRARY, DL_RESULT_POINTER, 0, NO, 200, 0 },
	{ "libdl", "dlopen", DL_FAMILY_NONE, DL_STAGE_LIBRARY, DL_RESULT_POINTER, 0, NO, 200, 0 },

	{ "libggml", "ggml_backend_load", DL_FAMILY_GGML, DL_STAGE_LIBRARY, DL_RESULT_POINTER, 0,
	  NO, 32, 0 },
	{ "libggml", "ggml_backend_load_all", DL_FAMILY_GGML, DL_STAGE_LIBRARY, DL_RESULT_NONE, NO,
	  NO, 8, 0 },
	{ "libggml", "ggml_backend_load_all_from_path", DL_FAMILY_GGML, DL_STAGE_LIBRARY,
	  DL_RESULT_NONE, 0, NO, 8, 0 },
	{ "libggml-cuda", "ggml_backend_init", DL_FAMILY_GGML, DL_STAGE_LIBRARY, DL_RESULT_POINTER,
	  NO, NO, 8, 0 },
	{ "libggml-hip", "ggml_backend_init", DL_FAMILY_GGML, DL_STAGE_LIBRARY, DL_RESULT_POINTER,
	  NO, NO, 8, 0 },
	{ "libggml-vulkan", "ggml_backend_init", DL_FAMILY_GGML, DL_STAGE_LIBRARY,
	  DL_RESULT_POINTER, NO, NO, 8, 0 },
	{ "libggml-sycl", "ggml_backend_init", DL_FAMILY_GGML, DL_STAGE_LIBRARY, DL_RESULT_POINTER,
	  NO, NO, 8, 0 },
	{ "libggml-base", "ggml_backend_dev_init", DL_FAMILY_GGML, DL_STAGE_DEVICES,
	  DL_RESULT_POINTER, NO, NO, 16, 0 },
	{ "libggml-base", "ggml_backend_buft_alloc_buffer", DL_FAMILY_GGML, DL_STAGE_MEMORY,
	  DL_RESULT_POINTER, NO, NO, 32, DL_CALL_SIZED },
	{ "libggml-base", "ggml_backend_sched_graph_compute_async", DL_FAMILY_GGML, DL_STAGE_GRAPH,
	  DL_RESULT_GGML, NO, NO, 2, 0 },

	{ "libnvidia-ml", "nvmlInit", DL_FAMILY_NVML, DL_STAGE_INIT, DL_RESULT_NVML, NO, NO, 8, 0 },
	{ "libnvidia-ml", "nvmlInit_v2", DL_FAMILY_NVML, DL_STAGE_INIT, DL_RESULT_NVML, NO, NO, 8,
	  0 },
	{ "libnvidia-ml", "nvmlInitWithFlags", DL_FAMILY_NVML, DL_STAGE_INIT, DL_RESULT_NVML, NO,
	  NO, 8, 0 },
	{ "libnvidia-ml", "nvmlSystemGetDriverVersion", DL_FAMILY_NVML, DL_STAGE_INIT,
	  DL_RESULT_NVML, NO, NO, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetCount", DL_FAMILY_NVML, DL_STAGE_DEVICES, DL_RESULT_NVML,
	  NO, 0, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetCount_v2", DL_FAMILY_NVML, DL_STAGE_DEVICES, DL_RESULT_NVML,
	  NO, 0, 8, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetHandleByIndex_v2", DL_FAMILY_NVML, DL_STAGE_DEVICES,
	  DL_RESULT_NVML, NO, NO, 16, 0 },
	{ "libnvidia-ml", "nvmlDeviceGetHandleByUUID", DL_FAMILY_NVML, DL_STAGE_DEVICES,
	  DL_RESULT_NVML, 0, NO, 16, 0 },

	{ "libcuda", "cuInit", DL_FAMILY_CUDA, DL_STAGE_INIT, DL_RESULT_CUDA, NO, NO, 8, 0 },
	{ "libcuda", "cuDriverGetVersion", DL_FAMILY_CUDA, DL_STAGE_INIT, DL_RESULT_CUDA, NO, NO, 8,
	  0 },
	{ "libcuda", "cuDeviceGetCount", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDA, NO, 0, 8,
	  0 },
	{ "libcuda", "cuDeviceGet", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDA, NO, NO, 16,
	  0 },
	{ "libcuda", "cuCtxCreate_v2", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDA, NO, NO, 8,
	  DL_CALL_OPENS },
	{ "libcuda", "cuDevicePrimaryCtxRetain", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDA,
	  NO, NO, 8, DL_CALL_OPENS },
	{ "libcuda", "cuMemAlloc_v2", DL_FAMILY_CUDA, DL_STAGE_MEMORY, DL_RESULT_CUDA, NO, NO, 16,
	  DL_CALL_SIZED },
	{ "libcudart", "cudaGetDeviceCount", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDART, NO,
	  0, 8, 0 },
	{ "libcudart", "cudaSetDevice", DL_FAMILY_CUDA, DL_STAGE_DEVICES, DL_RESULT_CUDART, NO, NO,
	  8, DL_CALL_OPENS },
	{ "libcudart", "cudaMalloc", DL_FAMILY_CUDA, DL_STAGE_MEMORY, DL_RESULT_CUDART, NO, NO, 16,
	  DL_CALL_SIZED },

	{ "libhsa-runtime64", "hsa_init", DL_FAMILY_HSA, DL_STAGE_INIT, DL_RESULT_HSA, NO, NO, 8,
	  0 },
	{ "libhsa-runtime64", "hsa_iterate_agents", DL_FAMILY_HSA, DL_STAGE_DEVICES, DL_RESULT_HSA,
	  NO, NO, 8, 0 },
	{ "libhsa-runtime64", "hsa_queue_create", DL_FAMILY_HSA, DL_STAGE_DEVICES, DL_RESULT_HSA,
	  NO, NO, 8, DL_CALL_OPENS },
	{ "libhsa-runtime64", "hsa_amd_memory_pool_allocate", DL_FAMILY_HSA, DL_STAGE_MEMORY,
	  DL_RESULT_HSA, NO, NO, 16, DL_CALL_SIZED },
	{ "libamdhip64", "hipInit", DL_FAMILY_HIP, DL_STAGE_INIT, DL_RESULT_HIP, NO, NO, 8, 0 },
	{ "libamdhip64", "hipGetDeviceCount", DL_FAMILY_HIP, DL_STAGE_DEVICES, DL_RESULT_HIP, NO, 0,
	  8, 0 },
	{ "libamdhip64", "hipSetDevice", DL_FAMILY_HIP, DL_STAGE_DEVICES, DL_RESULT_HIP, NO, NO, 8,
	  DL_CALL_OPENS },
	{ "libamdhip64", "hipMalloc", DL_FAMILY_HIP, DL_STAGE_MEMORY, DL_RESULT_HIP, NO, NO, 16,
	  DL_CALL_SIZED },

	{ "libvulkan", "vkCreateInstance", DL_FAMILY_VULKAN, DL_STAGE_INIT, DL_RESULT_VULKAN, NO,
	  NO, 8, 0 },
	{ "libvulkan", "vkEnumeratePhysicalDevices", DL_FAMILY_VULKAN, DL_STAGE_DEVICES,
	  DL_RESULT_VULKAN, NO, 1, 8, 0 },
	{ "libvulkan", "vkCreateDevice", DL_FAMILY_VULKAN, DL_STAGE_DEVICES, DL_RESULT_VULKAN, NO,
	  NO, 8, DL_CALL_OPENS },
	{ "libvulkan", "vkAllocateMemory", DL_FAMILY_VULKAN, DL_STAGE_MEMORY, DL_RESULT_VULKAN, NO,
	  NO, 16, 0 },

	{ "libze_loader", "zeInit", DL_FAMILY_LEVEL_ZERO, DL_STAGE_INIT, DL_RESULT_LEVEL_ZERO, NO,
	  NO, 8, 0 },
	{ "libze_loader", "zeInitDrivers", DL_FAMILY_LEVEL_ZERO, DL_STAGE_INIT,
	  DL_RESULT_LEVEL_ZERO, NO, 0, 8, 0 },
	{ "libze_loader", "zeDriverGet", DL_FAMILY_LEVEL_ZERO, DL_STAGE_DEVICES,
	  DL_RESULT_LEVEL_ZERO, NO, 0, 8, 0 },
	{ "libze_loader", "zeDeviceGet", DL_FAMILY_LEVEL_ZERO, DL_STAGE_DEVICES,
	  DL_RESULT_LEVEL_ZERO, NO, 1, 8, 0 },
	{ "libze_loader", "zeMemAllocDevice", DL_FAMILY_LEVEL_ZERO, DL_STAGE_MEMORY,
	  DL_RESULT_LEVEL_ZERO, NO, NO, 16, 0 },
};

const size_t dl_function_count = sizeof(dl_functions) / sizeof(dl_functions[0]);

const struct dl_function *dl_function_at(uint32_t index)
{
	return index < dl_function_count ? &dl_functions[index] : NULL;
}

const struct dl_known_library dl_known_libraries[] = {
	{ "libnvidia-ml", DL_FAMILY_NVML, false },
	{ "libcuda", DL_FAMILY_CUDA, false },
	{ "libcudart", DL_FAMILY_CUDA, false },
	{ "libhsa-runtime64", DL_FAMILY_HSA, false },
	{ "libamdhip64", DL_FAMILY_HIP, false },
	{ "libvulkan", DL_FAMILY_VULKAN, false },
	{ "libze_loader", DL_FAMILY_LEVEL_ZERO, false },
	{ "libze_intel_gpu", DL_FAMILY_LEVEL_ZERO, false },
	{ "libggml-cuda", DL_FAMILY_CUDA, true },
	{ "libggml-hip", DL_FAMILY_HIP, true },
	{ "libggml-vulkan", DL_FAMILY_VULKAN, true },
	{ "libggml-sycl", DL_FAMILY_LEVEL_ZERO, true },
	{ "libggml", DL_FAMILY_GGML, false },
	{ "libggml-base", DL_FAMILY_GGML, false },
};

const size_t dl_known_library_count = sizeof(dl_known_libraries) / sizeof(dl_known_libraries[0]);

int dl_known_library(const char *path)
{
	const char *base = dl_step_base(path), *end = strstr(base, ".so");
	size_t length = end ? (size_t)(end - base) : strlen(base);

	for (size_t i = 0; i < dl_known_library_count; i++)
		if (strlen(dl_known_libraries[i].name) == length &&
		    !strncmp(base, dl_known_libraries[i].name, length))
			return (int)i;
	return -1;
}

const char *dl_stage_name(enum dl_stage stage)
{
	static const char *const names[] = { "none",	     "exec",	     "library load",
					     "runtime init", "device query", "memory",
					     "first graph" };

	return stage < DL_STAGE_COUNT ? names[stage] : "none";
}

const char *dl_family_name(enum dl_family family)
{
	static const char *const names[] = { "none", "ggml", "nvml",   "cuda",
					     "hsa",  "hip",  "vulkan", "level-zero" };

	return family < DL_FAMILY_COUNT ? names[family] : "none";
}
