/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of entry points that occur when a GPU is not found, with their names in the headers. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/functions.h"

struct code {
	enum davy_result kind;
	int32_t value;
	const char *name;
};

static const struct code codes[] = {
	{ DAVY_RESULT_GGML, -2, "GGML_STATUS_ALLOC_FAILED" },
	{ DAVY_RESULT_GGML, -1, "GGML_STATUS_FAILED" },
	{ DAVY_RESULT_GGML, 1, "GGML_STATUS_ABORTED" },
	{ DAVY_RESULT_NVML, 1, "NVML_ERROR_UNINITIALIZED" },
	{ DAVY_RESULT_NVML, 2, "NVML_ERROR_INVALID_ARGUMENT" },
	{ DAVY_RESULT_NVML, 3, "NVML_ERROR_NOT_SUPPORTED" },
	{ DAVY_RESULT_NVML, 4, "NVML_ERROR_NO_PERMISSION" },
	{ DAVY_RESULT_NVML, 6, "NVML_ERROR_NOT_FOUND" },
	{ DAVY_RESULT_NVML, 9, "NVML_ERROR_DRIVER_NOT_LOADED" },
	{ DAVY_RESULT_NVML, 12, "NVML_ERROR_LIBRARY_NOT_FOUND" },
	{ DAVY_RESULT_NVML, 13, "NVML_ERROR_FUNCTION_NOT_FOUND" },
	{ DAVY_RESULT_NVML, 15, "NVML_ERROR_GPU_IS_LOST" },
	{ DAVY_RESULT_NVML, 17, "NVML_ERROR_OPERATING_SYSTEM" },
	{ DAVY_RESULT_NVML, 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH" },
	{ DAVY_RESULT_NVML, 20, "NVML_ERROR_MEMORY" },
	{ DAVY_RESULT_NVML, 999, "NVML_ERROR_UNKNOWN" },
	{ DAVY_RESULT_CUDA, 1, "CUDA_ERROR_INVALID_VALUE" },
	{ DAVY_RESULT_CUDA, 2, "CUDA_ERROR_OUT_OF_MEMORY" },
	{ DAVY_RESULT_CUDA, 3, "CUDA_ERROR_NOT_INITIALIZED" },
	{ DAVY_RESULT_CUDA, 34, "CUDA_ERROR_STUB_LIBRARY" },
	{ DAVY_RESULT_CUDA, 46, "CUDA_ERROR_DEVICE_UNAVAILABLE" },
	{ DAVY_RESULT_CUDA, 100, "CUDA_ERROR_NO_DEVICE" },
	{ DAVY_RESULT_CUDA, 101, "CUDA_ERROR_INVALID_DEVICE" },
	{ DAVY_RESULT_CUDA, 304, "CUDA_ERROR_OPERATING_SYSTEM" },
	{ DAVY_RESULT_CUDA, 802, "CUDA_ERROR_SYSTEM_NOT_READY" },
	{ DAVY_RESULT_CUDA, 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" },
	{ DAVY_RESULT_CUDA, 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE" },
	{ DAVY_RESULT_CUDA, 999, "CUDA_ERROR_UNKNOWN" },
	{ DAVY_RESULT_CUDART, 2, "cudaErrorMemoryAllocation" },
	{ DAVY_RESULT_CUDART, 3, "cudaErrorInitializationError" },
	{ DAVY_RESULT_CUDART, 35, "cudaErrorInsufficientDriver" },
	{ DAVY_RESULT_CUDART, 100, "cudaErrorNoDevice" },
	{ DAVY_RESULT_CUDART, 101, "cudaErrorInvalidDevice" },
	{ DAVY_RESULT_CUDART, 999, "cudaErrorUnknown" },
	{ DAVY_RESULT_HSA, 0x1000, "HSA_STATUS_ERROR" },
	{ DAVY_RESULT_HSA, 0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES" },
	{ DAVY_RESULT_HSA, 0x100b, "HSA_STATUS_ERROR_NOT_INITIALIZED" },
	{ DAVY_RESULT_HIP, 2, "hipErrorOutOfMemory" },
	{ DAVY_RESULT_HIP, 3, "hipErrorNotInitialized" },
	{ DAVY_RESULT_HIP, 35, "hipErrorInsufficientDriver" },
	{ DAVY_RESULT_HIP, 98, "hipErrorInvalidDeviceFunction" },
	{ DAVY_RESULT_HIP, 100, "hipErrorNoDevice" },
	{ DAVY_RESULT_HIP, 101, "hipErrorInvalidDevice" },
	{ DAVY_RESULT_HIP, 209, "hipErrorNoBinaryForGpu" },
	{ DAVY_RESULT_HIP, 999, "hipErrorUnknown" },
	{ DAVY_RESULT_VULKAN, 5, "VK_INCOMPLETE" },
	{ DAVY_RESULT_VULKAN, -1, "VK_ERROR_OUT_OF_HOST_MEMORY" },
	{ DAVY_RESULT_VULKAN, -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY" },
	{ DAVY_RESULT_VULKAN, -3, "VK_ERROR_INITIALIZATION_FAILED" },
	{ DAVY_RESULT_VULKAN, -4, "VK_ERROR_DEVICE_LOST" },
	{ DAVY_RESULT_VULKAN, -6, "VK_ERROR_LAYER_NOT_PRESENT" },
	{ DAVY_RESULT_VULKAN, -7, "VK_ERROR_EXTENSION_NOT_PRESENT" },
	{ DAVY_RESULT_VULKAN, -8, "VK_ERROR_FEATURE_NOT_PRESENT" },
	{ DAVY_RESULT_VULKAN, -9, "VK_ERROR_INCOMPATIBLE_DRIVER" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x70020000, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x78000003, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE" },
	{ DAVY_RESULT_LEVEL_ZERO, 0x7ffffffe, "ZE_RESULT_ERROR_UNKNOWN" },
};

bool davy_result_ok(enum davy_result kind, uint64_t result)
{
	int32_t code = (int32_t)(uint32_t)result;

	if (kind == DAVY_RESULT_NONE)
		return true;
	if (kind == DAVY_RESULT_POINTER)
		return result != 0;
	if (kind == DAVY_RESULT_VULKAN)
		return code >= 0;
	if (kind == DAVY_RESULT_HSA)
		return code == 0 || code == 1; /* HSA_STATUS_INFO_BREAK */
	return code == 0;
}

const char *davy_result_text(enum davy_result kind, uint64_t result, char *buf, size_t size)
{
	int32_t code = (int32_t)(uint32_t)result;

	if (kind == DAVY_RESULT_NONE)
		return "";
	if (kind == DAVY_RESULT_POINTER) {
		snprintf(buf, size, result ? "0x%" PRIx64 : "NULL", result);
		return buf;
	}
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].kind != kind || codes[i].value != code)
			continue;
		snprintf(buf, size, "%s (%" PRId32 ")", codes[i].name, code);
		return buf;
	}
	snprintf(buf, size, code ? "error %" PRId32 : "success", code);
	return buf;
}
