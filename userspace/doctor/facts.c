/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/facts.h"

#include <string.h>

const char *davy_doctor_variable_name(uint32_t id)
{
	static const char *const names[DAVY_VAR_COUNT] = {
		[DAVY_VAR_ROCR_VISIBLE] = "ROCR_VISIBLE_DEVICES",
		[DAVY_VAR_HIP_VISIBLE] = "HIP_VISIBLE_DEVICES",
		[DAVY_VAR_CUDA_VISIBLE] = "CUDA_VISIBLE_DEVICES",
		[DAVY_VAR_GPU_ORDINAL] = "GPU_DEVICE_ORDINAL",
		[DAVY_VAR_VK_VISIBLE] = "GGML_VK_VISIBLE_DEVICES",
		[DAVY_VAR_ZE_AFFINITY] = "ZE_AFFINITY_MASK",
		[DAVY_VAR_ONEAPI_SELECTOR] = "ONEAPI_DEVICE_SELECTOR",
		[DAVY_VAR_NVIDIA_VISIBLE] = "NVIDIA_VISIBLE_DEVICES",
		[DAVY_VAR_HSA_OVERRIDE] = "HSA_OVERRIDE_GFX_VERSION",
		[DAVY_VAR_VK_DRIVER_FILES] = "VK_DRIVER_FILES",
		[DAVY_VAR_VK_ICD_FILENAMES] = "VK_ICD_FILENAMES",
		[DAVY_VAR_VK_ADD_DRIVER_FILES] = "VK_ADD_DRIVER_FILES",
		[DAVY_VAR_VK_DRIVERS_DISABLE] = "VK_LOADER_DRIVERS_DISABLE",
		[DAVY_VAR_VK_DRIVERS_SELECT] = "VK_LOADER_DRIVERS_SELECT",
		[DAVY_VAR_OLLAMA_IGPU] = "OLLAMA_IGPU_ENABLE",
		[DAVY_VAR_OLLAMA_VULKAN] = "OLLAMA_VULKAN",
		[DAVY_VAR_OLLAMA_LIBRARY] = "OLLAMA_LLM_LIBRARY",
		[DAVY_VAR_DISABLE_VULKAN] = "GGML_DISABLE_VULKAN",
	};

	return id < DAVY_VAR_COUNT ? names[id] : NULL;
}

enum davy_backend davy_doctor_runtime_backend(uint32_t runtime)
{
	static const enum davy_backend backends[DAVY_DOCTOR_RUNTIMES] = {
		[DAVY_DISCOVERY_ROCM] = DAVY_BACKEND_ROCM,
		[DAVY_DISCOVERY_VULKAN] = DAVY_BACKEND_VULKAN,
		[DAVY_DISCOVERY_LEVEL_ZERO] = DAVY_BACKEND_SYCL,
		[DAVY_DISCOVERY_NVML] = DAVY_BACKEND_CUDA,
	};

	return runtime < DAVY_DOCTOR_RUNTIMES ? backends[runtime] : DAVY_BACKEND_UNKNOWN;
}

const char *davy_doctor_stage_name(uint32_t stage)
{
	static const char *const names[DAVY_DOCTOR_STAGES] = { "exec",	 "load",   "init",
							       "device", "memory", "done" };

	return stage < DAVY_DOCTOR_STAGES ? names[stage] : NULL;
}

const char *davy_doctor_backend_title(uint32_t backend)
{
	static const char *const titles[DAVY_BACKEND_COUNT] = {
		[DAVY_BACKEND_UNKNOWN] = "GPU",	  [DAVY_BACKEND_CPU] = "CPU",
		[DAVY_BACKEND_VULKAN] = "Vulkan", [DAVY_BACKEND_ROCM] = "ROCm",
		[DAVY_BACKEND_CUDA] = "CUDA",	  [DAVY_BACKEND_SYCL] = "SYCL",
	};

	return backend < DAVY_BACKEND_COUNT ? titles[backend] : NULL;
}

uint32_t davy_doctor_backends_of(const char *vendor)
{
	const uint32_t vulkan = 1u << DAVY_BACKEND_VULKAN;

	if (!strcmp(vendor, "amd"))
		return vulkan | 1u << DAVY_BACKEND_ROCM;
	if (!strcmp(vendor, "intel"))
		return vulkan | 1u << DAVY_BACKEND_SYCL;
	if (!strcmp(vendor, "nvidia"))
		return vulkan | 1u << DAVY_BACKEND_CUDA;
	return vulkan;
}

const struct davy_doctor_gpu *davy_doctor_gpu_of(const struct davy_doctor_facts *facts,
						 const char *vendor)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!strcmp(facts->gpu[i].subject.vendor, vendor))
			return &facts->gpu[i];
	return NULL;
}
