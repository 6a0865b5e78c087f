/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/start_step.h"

#include <string.h>

const char *davy_step_kind_name(enum davy_start_step_kind kind)
{
	static const char *const names[] = {
		"none", "fork",	  "exec",	"exit",	  "open",   "map",
		"call", "return", "link_error", "signal", "loaded",
	};

	return kind < DAVY_STEP_KIND_COUNT ? names[kind] : "none";
}

const char *davy_step_next_text(const char *texts, size_t size, const char *at)
{
	const char *end = texts + size, *next;

	if (!size)
		return NULL;
	next = at ? at + strlen(at) + 1 : texts;
	return next < end ? next : NULL;
}

const char *davy_step_variable(const struct davy_start_step *step, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = davy_step_next_text(step->envp, step->envp_size, NULL); at;
	     at = davy_step_next_text(step->envp, step->envp_size, at))
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

bool davy_step_variable_matters(const char *variable)
{
	static const char *const begins[] = {
		"LD_LIBRARY_PATH=",
		"LD_PRELOAD=",
		"LD_AUDIT=",
		"HSA_",
		"HIP_",
		"ROCR_",
		"ROCM_",
		"CUDA_",
		"NVIDIA_",
		"VK_",
		"GGML_",
		"OLLAMA_",
		"LLAMA_",
		"ZE_",
		"ONEAPI_",
		"SYCL_",
		"ZES_",
		"MESA_",
		"GPU_",
		"AMD_",
		"LIBGL_",
		"RADV_",
		"LP_",
		"NVML_",
		"LD_BIND_NOW=",
		"XDG_DATA_DIRS=",
	};
	const char *equals = strchr(variable, '=');

	if (!equals)
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(variable, begins[i], strlen(begins[i])))
			return true;
	for (const char *at = variable; at + 16 <= equals; at++)
		if (!strncmp(at, "_VISIBLE_DEVICES", 16))
			return true;
	return false;
}

const char *davy_step_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

bool davy_step_is_library(const char *path)
{
	const char *base = davy_step_base(path);
	const char *so = strstr(base, ".so");

	return so && so != base && (!so[3] || so[3] == '.') && strcmp(base, "ld.so.cache") != 0 &&
	       strcmp(base, "ld.so.preload") != 0;
}

bool davy_step_is_node(const char *path)
{
	return !strncmp(path, "/dev/dri/", 9) || !strcmp(path, "/dev/kfd") ||
	       !strncmp(path, "/dev/nvidia", 11) || !strncmp(path, "/dev/accel/", 11) ||
	       !strcmp(path, "/dev/dxg");
}
