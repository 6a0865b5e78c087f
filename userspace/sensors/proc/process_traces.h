/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process leaves to be seen: mappings, threads, open device files. A mapped library says
 * "can", not "does"; an open device file with memory behind it does.
 */
#ifndef DAVY_PROCESS_TRACES_H
#define DAVY_PROCESS_TRACES_H

#include <limits.h>

#include "core/event/types.h"

#define DAVY_DEVICE_SMALL ((uint64_t)1 << 20) /* of a device that was opened and is not used */
#define DAVY_SOCKETS_MAX  512

struct davy_used_device {
	char name[DAVY_DEVICE_LEN];
	uint64_t bytes; /* of its memory, 0 where nobody tells */
};

/*
 * What a process holds of the GPUs' memory, as clients.h tells: reading fdinfo can block while a
 * GPU hangs, so it is not read here.
 */
struct davy_used_devices {
	struct davy_used_device device[DAVY_DEVICES_MAX];
	size_t count;
};

struct davy_process_traces {
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
	enum davy_engine library_engine;
	bool in_use; /* it holds memory of the devices below; else they are open only */
	struct davy_used_devices devices;
	unsigned long socket[DAVY_SOCKETS_MAX]; /* inodes */
	size_t socket_count;
	char cxx_library[PATH_MAX]; /* of mapped files, for davy_open_mapped; "" when not mapped */
	char ggml_library[PATH_MAX];
	char llama_library[PATH_MAX];
	char model_file[PATH_MAX];
	char model_name[PATH_MAX]; /* the mapped model's path as the kernel writes it */
};

/* "used" is NULL where nothing is known. */
void davy_process_traces_read(uint32_t pid, const struct davy_used_devices *used,
			      struct davy_process_traces *ret_traces);

/* Only the device files: cheap enough for processes that are nobody we know. */
void davy_process_devices_read(uint32_t pid, const struct davy_used_devices *used,
			       struct davy_process_traces *ret_traces);

#endif
