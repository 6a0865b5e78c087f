/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process leaves to be seen: mappings, threads, open device files. A mapped library says
 * "can", not "does"; an open device file with memory behind it does.
 */
#ifndef DL_SENSORS_PROCESS_TRACES_H
#define DL_SENSORS_PROCESS_TRACES_H

#include <limits.h>

#include "../core/types.h"

struct dl_traced_device {
	char name[DL_DEVICE_LEN];
	uint64_t bytes; /* as fdinfo has it, 0 where it does not tell */
};

struct dl_process_traces {
	bool ggml_vulkan; /* ggml's backends */
	bool ggml_hip;
	bool ggml_cuda;
	bool ggml_sycl;
	bool vulkan; /* the drivers' libraries */
	bool hip;
	bool cuda;
	bool level_zero;
	bool drm_shim;
	bool llvmpipe_thread;
	bool vk_memory; /* lavapipe keeps device memory in memfds of this name */
	bool kfd_fd;
	bool nvidia_fd;
	bool drm_fd;
	bool unreadable; /* something of it was denied */
	enum dl_engine library_engine;
	size_t device_count;
	struct dl_traced_device device[DL_DEVICES_MAX];
	char cxx_library[PATH_MAX]; /* openable paths of mapped files, "" when not mapped */
	char ggml_library[PATH_MAX];
	char model_file[PATH_MAX];
	char model_name[PATH_MAX]; /* the mapped model's path as the kernel writes it */
};

void dl_process_traces_read(uint32_t pid, struct dl_process_traces *ret_traces);

/* Only the device files: cheap enough for processes that are nobody we know. */
void dl_process_devices_read(uint32_t pid, struct dl_process_traces *ret_traces);

#endif
