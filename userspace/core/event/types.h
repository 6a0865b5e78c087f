/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that all parts share: engines, backends, modes, and the limits of strings. Part of the pure
 * core: includes only standard headers and the kernel contract. Numbers are recorded in traces and
 * are append-only.
 */
#ifndef DAVY_TYPES_H
#define DAVY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

#define DAVY_DEVICE_LEN	   32	      /* "0000:03:00.0"; "llvmpipe" for a device without DRM */
#define DAVY_LLVMPIPE	   "llvmpipe" /* Vulkan on the CPU: its device in the ledger and for exec */
#define DAVY_MODEL_LEN	   96	      /* file name or alias, not the path */
#define DAVY_DETAIL_LEN	   64
#define DAVY_UNIT_LEN	   80  /* a systemd unit; a longer name is cut */
#define DAVY_CONTAINER_LEN 72  /* an id of 64 digits, or a name */
#define DAVY_POD_LEN	   40  /* a uid of 36 */
#define DAVY_ARCH_LEN	   24  /* a model's architecture, "qwen3moe" */
#define DAVY_QUANT_LEN	   16  /* "Q4_K_M", and a KV cache's type */
#define DAVY_DEVICES_MAX   8   /* of one process */
#define DAVY_REASON_LEN	   128 /* the reason why a sensor is off */

#define DAVY_VERSION_TEXT_LEN 96 /* of a driver, a firmware or an engine */

#define DAVY_LAYERS_AUTO (-1) /* of gpu_layers: the engine decides, or it is unknown */
#define DAVY_LAYERS_ALL	 (-2)

#define DAVY_NS_PER_MS ((uint64_t)1000000)
#define DAVY_NS_PER_S  ((uint64_t)1000000000)

enum davy_engine {
	DAVY_ENGINE_NONE = 0,
	DAVY_ENGINE_LLAMA_SERVER = 1,
	DAVY_ENGINE_OLLAMA = 2,
	DAVY_ENGINE_OLLAMA_RUNNER = 3,
	DAVY_ENGINE_VLLM = 4,
	DAVY_ENGINE_GENERIC = 5,   /* computes on a GPU with a known library */
	DAVY_ENGINE_LLAMA_CPP = 6, /* llama.cpp, but not its server */
	DAVY_ENGINE_SGLANG = 7,
	DAVY_ENGINE_TGI = 8,
	DAVY_ENGINE_LOCALAI = 9,
	DAVY_ENGINE_KOBOLDCPP = 10,
	DAVY_ENGINE_LM_STUDIO = 11,
	DAVY_ENGINE_LLAMA_SWAP = 12,
	DAVY_ENGINE_LEMONADE = 13,
	DAVY_ENGINE_WHISPER_CPP = 14,
	DAVY_ENGINE_SD_CPP = 15,
	DAVY_ENGINE_COMFYUI = 16,
	DAVY_ENGINE_COUNT = 17,
};

/* The role of a process within its engine. */
enum davy_role {
	DAVY_ROLE_UNKNOWN = 0,
	DAVY_ROLE_SERVER = 1,	 /* loads a model and serves it */
	DAVY_ROLE_MANAGER = 2,	 /* starts processes that load models; a router, a daemon */
	DAVY_ROLE_RUNNER = 3,	 /* loads a model, started by a manager */
	DAVY_ROLE_DISCOVERY = 4, /* searches devices for some seconds; never throttled */
	DAVY_ROLE_TOOL = 5,	 /* runs once and ends */
	DAVY_ROLE_COUNT = 6,
};

/* The runtime of a container. */
enum davy_runtime {
	DAVY_RUNTIME_NONE = 0,
	DAVY_RUNTIME_OTHER = 1,
	DAVY_RUNTIME_DOCKER = 2,
	DAVY_RUNTIME_PODMAN = 3,
	DAVY_RUNTIME_CONTAINERD = 4,
	DAVY_RUNTIME_CRIO = 5,
	DAVY_RUNTIME_LXC = 6,
	DAVY_RUNTIME_NSPAWN = 7,
	DAVY_RUNTIME_COUNT = 8,
};

enum davy_backend {
	DAVY_BACKEND_UNKNOWN = 0,
	DAVY_BACKEND_CPU = 1,
	DAVY_BACKEND_VULKAN = 2,
	DAVY_BACKEND_ROCM = 3,
	DAVY_BACKEND_CUDA = 4,
	DAVY_BACKEND_SYCL = 5,
	DAVY_BACKEND_COUNT = 6,
};

enum davy_mode {
	DAVY_MODE_OBSERVE = 0, /* report hazards, plan nothing */
	DAVY_MODE_ADVISE = 1,  /* report the plan that would be executed */
	DAVY_MODE_ENFORCE = 2, /* execute it, on adopted workloads */
	DAVY_MODE_COUNT = 3,
};

const char *davy_engine_name(enum davy_engine engine);
const char *davy_backend_name(enum davy_backend backend);
const char *davy_mode_name(enum davy_mode mode);
const char *davy_role_name(enum davy_role role);
const char *davy_runtime_name(enum davy_runtime runtime);

/* The value named "name", or -1. */
int davy_backend_from_name(const char *name);
int davy_mode_from_name(const char *name);

/* Copies at most "size" - 1 bytes of "src" and always terminates; "size" is not 0. */
void davy_copy_name(char *dst, size_t size, const char *src);
bool davy_same_name(const char *a, const char *b);

#endif
