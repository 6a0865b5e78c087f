/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words the whole house shares: engines, backends, modes, and the limits of strings. Part of the
 * pure core: includes only the standard headers and the kernel contract. Numbers are recorded in
 * traces and are append-only.
 */
#ifndef DL_CORE_TYPES_H
#define DL_CORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

#define DL_DEVICE_LEN	 32 /* "0000:03:00.0"; "llvmpipe" where no DRM device is behind */
#define DL_MODEL_LEN	 96 /* file name or alias, not the path */
#define DL_DETAIL_LEN	 64
#define DL_UNIT_LEN	 80  /* a systemd unit; a longer name is cut */
#define DL_CONTAINER_LEN 72  /* an id of 64 digits, or a name */
#define DL_POD_LEN	 40  /* a uid of 36 */
#define DL_ARCH_LEN	 24  /* a model's architecture, "qwen3moe" */
#define DL_QUANT_LEN	 16  /* "Q4_K_M", and a KV cache's type */
#define DL_DEVICES_MAX	 8   /* of one process */
#define DL_REASON_LEN	 128 /* why a sensor is off */

#define DL_VERSION_TEXT_LEN 96 /* of a driver, a firmware or an engine */

#define DL_LAYERS_AUTO (-1) /* of gpu_layers: the engine decides, or it is not known */
#define DL_LAYERS_ALL  (-2)

#define DL_NS_PER_MS ((uint64_t)1000000)
#define DL_NS_PER_S  ((uint64_t)1000000000)

enum dl_engine {
	DL_ENGINE_NONE = 0,
	DL_ENGINE_LLAMA_SERVER = 1,
	DL_ENGINE_OLLAMA = 2,
	DL_ENGINE_OLLAMA_RUNNER = 3,
	DL_ENGINE_VLLM = 4,
	DL_ENGINE_GENERIC = 5,	 /* computes on a GPU with a library we know */
	DL_ENGINE_LLAMA_CPP = 6, /* llama.cpp, but not its server */
	DL_ENGINE_SGLANG = 7,
	DL_ENGINE_TGI = 8,
	DL_ENGINE_LOCALAI = 9,
	DL_ENGINE_KOBOLDCPP = 10,
	DL_ENGINE_LM_STUDIO = 11,
	DL_ENGINE_LLAMA_SWAP = 12,
	DL_ENGINE_LEMONADE = 13,
	DL_ENGINE_WHISPER_CPP = 14,
	DL_ENGINE_SD_CPP = 15,
	DL_ENGINE_COMFYUI = 16,
	DL_ENGINE_COUNT = 17,
};

/* What a process is within its engine. */
enum dl_role {
	DL_ROLE_UNKNOWN = 0,
	DL_ROLE_SERVER = 1,    /* holds a model and serves it */
	DL_ROLE_MANAGER = 2,   /* starts those that hold models; a router, a daemon */
	DL_ROLE_RUNNER = 3,    /* holds a model, started by a manager */
	DL_ROLE_DISCOVERY = 4, /* looks for devices for some seconds; never to be throttled */
	DL_ROLE_TOOL = 5,      /* runs once and ends */
	DL_ROLE_COUNT = 6,
};

/* Who made a container. */
enum dl_runtime {
	DL_RUNTIME_NONE = 0,
	DL_RUNTIME_OTHER = 1,
	DL_RUNTIME_DOCKER = 2,
	DL_RUNTIME_PODMAN = 3,
	DL_RUNTIME_CONTAINERD = 4,
	DL_RUNTIME_CRIO = 5,
	DL_RUNTIME_LXC = 6,
	DL_RUNTIME_NSPAWN = 7,
	DL_RUNTIME_COUNT = 8,
};

enum dl_backend {
	DL_BACKEND_UNKNOWN = 0,
	DL_BACKEND_CPU = 1,
	DL_BACKEND_VULKAN = 2,
	DL_BACKEND_ROCM = 3,
	DL_BACKEND_CUDA = 4,
	DL_BACKEND_SYCL = 5,
	DL_BACKEND_COUNT = 6,
};

enum dl_mode {
	DL_MODE_OBSERVE = 0, /* report hazards, plan nothing */
	DL_MODE_ADVISE = 1,  /* report the plan that would be carried out */
	DL_MODE_ENFORCE = 2, /* carry it out, on adopted workloads */
	DL_MODE_COUNT = 3,
};

const char *dl_engine_name(enum dl_engine engine);
const char *dl_backend_name(enum dl_backend backend);
const char *dl_mode_name(enum dl_mode mode);
const char *dl_role_name(enum dl_role role);
const char *dl_runtime_name(enum dl_runtime runtime);

/* The value named "name", or -1. */
int dl_backend_from_name(const char *name);
int dl_mode_from_name(const char *name);

/* Copies at most "size" - 1 bytes of "src" and always terminates; "size" is not 0. */
void dl_copy_name(char *dst, size_t size, const char *src);
bool dl_same_name(const char *a, const char *b);

#endif
