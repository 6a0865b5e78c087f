/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observable state of a process: mappings, threads, open device files. A mapped library shows what
 * it can use; an open device file with memory shows what it uses.
 */
#ifndef DAVY_PROCESS_TRACES_H
#define DAVY_PROCESS_TRACES_H

#include <limits.h>

#include "core/event/types.h"

#define DAVY_DEVICE_SMALL ((uint64_t)1 << 20) /* memory of an opened but unused device */
#define DAVY_SOCKETS_MAX  512

struct davy_used_device {
	char name[DAVY_DEVICE_LEN];
	uint64_t bytes; /* of its memory, 0: unknown */
};

/* GPU memory of a process, from clients.h: fdinfo is not read here, since that can block. */
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
	bool unreadable; /* access to a part was denied */
	enum davy_engine library_engine;
	bool in_use; /* it holds memory on the devices below; false: they are only open */
	struct davy_used_devices devices;
	unsigned long socket[DAVY_SOCKETS_MAX]; /* inodes */
	size_t socket_count;
	char cxx_library[PATH_MAX]; /* a mapped file, for davy_open_mapped; "": not mapped */
	char ggml_library[PATH_MAX];
	char llama_library[PATH_MAX];
	char model_file[PATH_MAX];
	char model_name[PATH_MAX]; /* path of the mapped model, as written by the kernel */
};

/* "used" is NULL if unknown. */
void davy_process_traces_read(uint32_t pid, const struct davy_used_devices *used,
			      struct davy_process_traces *ret_traces);

/* Only the device files: cheap enough for unknown processes. */
void davy_process_devices_read(uint32_t pid, const struct davy_used_devices *used,
			       struct davy_process_traces *ret_traces);

#endif
