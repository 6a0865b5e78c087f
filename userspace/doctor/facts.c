/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/facts.h"

#include <string.h>

const char *dl_doctor_variable_name(uint32_t id)
{
	static const char *const names[DL_VAR_COUNT] = {
		[DL_VAR_ROCR_VISIBLE] = "ROCR_VISIBLE_DEVICES",
		[DL_VAR_HIP_VISIBLE] = "HIP_VISIBLE_DEVICES",
		[DL_VAR_CUDA_VISIBLE] = "CUDA_VISIBLE_DEVICES",
		[DL_VAR_GPU_ORDINAL] = "GPU_DEVICE_ORDINAL",
		[DL_VAR_VK_VISIBLE] = "GGML_VK_VISIBLE_DEVICES",
		[DL_VAR_ZE_AFFINITY] = "ZE_AFFINITY_MASK",
		[DL_VAR_ONEAPI_SELECTOR] = "ONEAPI_DEVICE_SELECTOR",
		[DL_VAR_NVIDIA_VISIBLE] = "NVIDIA_VISIBLE_DEVICES",
		[DL_VAR_HSA_OVERRIDE] = "HSA_OVERRIDE_GFX_VERSION",
		[DL_VAR_VK_DRIVER_FILES] = "VK_DRIVER_FILES",
		[DL_VAR_VK_ICD_FILENAMES] = "VK_ICD_FILENAMES",
		[DL_VAR_VK_ADD_DRIVER_FILES] = "VK_ADD_DRIVER_FILES",
		[DL_VAR_VK_DRIVERS_DISABLE] = "VK_LOADER_DRIVERS_DISABLE",
		[DL_VAR_VK_DRIVERS_SELECT] = "VK_LOADER_DRIVERS_SELECT",
		[DL_VAR_OLLAMA_IGPU] = "OLLAMA_IGPU_ENABLE",
		[DL_VAR_OLLAMA_VULKAN] = "OLLAMA_VULKAN",
		[DL_VAR_OLLAMA_LIBRARY] = "OLLAMA_LLM_LIBRARY",
		[DL_VAR_DISABLE_VULKAN] = "GGML_DISABLE_VULKAN",
	};

	return id < DL_VAR_COUNT ? names[id] : NULL;
}

enum dl_backend dl_doctor_runtime_backend(uint32_t runtime)
{
	static const enum dl_backend backends[DL_DOCTOR_RUNTIMES] = {
		[DL_DISCOVERY_ROCM] = DL_BACKEND_ROCM,
		[DL_DISCOVERY_VULKAN] = DL_BACKEND_VULKAN,
		[DL_DISCOVERY_LEVEL_ZERO] = DL_BACKEND_SYCL,
		[DL_DISCOVERY_NVML] = DL_BACKEND_CUDA,
	};

	return runtime < DL_DOCTOR_RUNTIMES ? backends[runtime] : DL_BACKEND_UNKNOWN;
}

const char *dl_doctor_stage_name(uint32_t stage)
{
	static const char *const names[DL_DOCTOR_STAGES] = { "exec",   "load",	 "init",
							     "device", "memory", "done" };

	return stage < DL_DOCTOR_STAGES ? names[stage] : NULL;
}

const char *dl_doctor_backend_title(uint32_t backend)
{
	static const char *const titles[DL_BACKEND_COUNT] = {
		[DL_BACKEND_UNKNOWN] = "GPU",	[DL_BACKEND_CPU] = "CPU",
		[DL_BACKEND_VULKAN] = "Vulkan", [DL_BACKEND_ROCM] = "ROCm",
		[DL_BACKEND_CUDA] = "CUDA",	[DL_BACKEND_SYCL] = "SYCL",
	};

	return backend < DL_BACKEND_COUNT ? titles[backend] : NULL;
}

uint32_t dl_doctor_backends_of(const char *vendor)
{
	const uint32_t vulkan = 1u << DL_BACKEND_VULKAN;

	if (!strcmp(vendor, "amd"))
		return vulkan | 1u << DL_BACKEND_ROCM;
	if (!strcmp(vendor, "intel"))
		return vulkan | 1u << DL_BACKEND_SYCL;
	if (!strcmp(vendor, "nvidia"))
		return vulkan | 1u << DL_BACKEND_CUDA;
	return vulkan;
}
