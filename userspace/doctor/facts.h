/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the doctor has read about a host, a service and its engine. read_*.c fill it; check_*.c
 * judge it and read nothing else; a test fills it by hand. Texts are untrusted.
 */
#ifndef DAVY_FACTS_H
#define DAVY_FACTS_H

#include <limits.h>

#include "core/event/types.h"
#include "policy/subject.h"

#define DAVY_DOCTOR_GPUS       16
#define DAVY_DOCTOR_NODES      48
#define DAVY_DOCTOR_ICDS       32
#define DAVY_DOCTOR_PARAMETERS 48
#define DAVY_DOCTOR_GROUPS     64
#define DAVY_DOCTOR_RUNNING    16
#define DAVY_DOCTOR_WHY	       192
#define DAVY_DOCTOR_VALUE      192
#define DAVY_DOCTOR_PATH       256

struct davy_doctor_gpu {
	char device[DAVY_DEVICE_LEN]; /* PCI address */
	char driver[24];	      /* "" when none is bound */
	char wanted[24];	      /* the vendor's driver, named if none is bound */
	char version[64];	      /* of the driver's module; "": it is the kernel's */
	uint32_t pci_vendor, pci_device;
	int card, render; /* -1: none */
	bool has_kfd_node;
	bool in_vulkan;		/* the Vulkan probe found it */
	uint32_t kfd_gfx;	/* KFD's gfx_target_version, 90006 */
	uint32_t kfd_node;	/* its node's number */
	bool connected;		/* a display is connected */
	bool may_suspend;	/* runtime PM may suspend it */
	uint64_t vram_bytes;	/* 0: unknown, as below */
	uint64_t gtt_bytes;	/* host memory that it can use */
	char iommu_type[24];	/* of its group: "DMA", "DMA-FQ", "identity"; "" none */
	uint32_t policy_ubatch; /* maximum by rules for Vulkan; 0: none */
	struct davy_policy_subject subject;
	bool has_override; /* HSA_OVERRIDE_GFX_VERSION_<kfd_node> is set */
	char override[DAVY_DOCTOR_VALUE];
	struct {
		bool against;			/* the rules exclude the backend here */
		char why[DAVY_DOCTOR_VALUE];	/* the rule's warning or reason */
		char origin[DAVY_DOCTOR_VALUE]; /* its name, file, source */
	} policy[DAVY_BACKEND_COUNT];
};

enum davy_doctor_node_kind {
	DAVY_NODE_KFD = 0,
	DAVY_NODE_RENDER = 1,
	DAVY_NODE_NVIDIA = 2,
};

struct davy_doctor_node {
	char path[64];
	char device[DAVY_DEVICE_LEN]; /* PCI address; "": for all */
	enum davy_doctor_node_kind kind;
	uint32_t backends; /* backends that need it: bits */
	bool exists;
	bool is_device;
	uint32_t mode, uid, gid; /* of the file */
	char group[32];		 /* name of gid, "" unknown */
	bool tested;		 /* opened as the service's user */
	int error;		 /* result: 0 or -errno */
};

struct davy_doctor_service {
	bool known;		     /* user and groups are of a service, or were given */
	char why[DAVY_DOCTOR_WHY];   /* reason if not known */
	char as[DAVY_UNIT_LEN + 16]; /* the option: "--unit ollama.service" */
	char unit[DAVY_UNIT_LEN];
	char user[64]; /* name, or number */
	uint32_t uid, gid;
	uint32_t groups[DAVY_DOCTOR_GROUPS];
	size_t group_count;
	uint32_t pid;  /* 0: not running */
	bool own_root; /* its root is not ours: a container */
	bool own_mounts;
	char cgroup[512];	/* v2 path, "" unknown */
	bool joined;		/* our children run in its cgroup */
	bool cgroup_strangers;	/* not joined: not controlled by root alone */
	bool cgroup_full;	/* not joined: too little memory is left */
	bool frozen;		/* not joined: it is frozen */
	char device_policy[16]; /* systemd's DevicePolicy, "" unknown */
	bool private_devices;
	bool environment_known;
};

/* A relevant variable of the service's engine. */
struct davy_doctor_variable {
	const char *name;
	bool set;
	char value[DAVY_DOCTOR_VALUE]; /* truncated */
};

/* In the order of davy_doctor_variable_names. */
enum davy_doctor_variable_id {
	DAVY_VAR_ROCR_VISIBLE = 0,
	DAVY_VAR_HIP_VISIBLE,
	DAVY_VAR_CUDA_VISIBLE,
	DAVY_VAR_GPU_ORDINAL,
	DAVY_VAR_VK_VISIBLE,
	DAVY_VAR_ZE_AFFINITY,
	DAVY_VAR_ONEAPI_SELECTOR,
	DAVY_VAR_NVIDIA_VISIBLE,
	DAVY_VAR_HSA_OVERRIDE,
	DAVY_VAR_VK_DRIVER_FILES,
	DAVY_VAR_VK_ICD_FILENAMES,
	DAVY_VAR_VK_ADD_DRIVER_FILES,
	DAVY_VAR_VK_DRIVERS_DISABLE,
	DAVY_VAR_VK_DRIVERS_SELECT,
	DAVY_VAR_OLLAMA_IGPU,
	DAVY_VAR_OLLAMA_VULKAN,
	DAVY_VAR_OLLAMA_LIBRARY,
	DAVY_VAR_DISABLE_VULKAN,
	DAVY_VAR_COUNT,
};

struct davy_doctor_icd {
	char manifest[DAVY_DOCTOR_PATH];
	char library[DAVY_DOCTOR_PATH]; /* as the manifest names it */
	char why[DAVY_DOCTOR_WHY];	/* "": valid */
};

/* A runtime, and what davylamp-probe found. */
enum davy_doctor_runtime {
	DAVY_DISCOVERY_ROCM = 0,
	DAVY_DISCOVERY_VULKAN = 1,
	DAVY_DISCOVERY_LEVEL_ZERO = 2,
	DAVY_DISCOVERY_NVML = 3,
	DAVY_DOCTOR_RUNTIMES = 4,
};

struct davy_doctor_probe {
	bool wanted; /* the host has a GPU for it */
	bool ran;
	bool healthy;
	bool absent;		     /* library missing: stage "load" */
	bool addressed;		     /* all devices have a PCI address */
	bool software;		     /* Vulkan: only CPU devices */
	bool hidden;		     /* no device: "stage" is "count" */
	char stage[16];		     /* of the first error */
	char text[DAVY_DOCTOR_PATH]; /* the error, or why it did not run */
	uint32_t gpu_count;
	char names[DAVY_DOCTOR_PATH]; /* of devices, "A, B" */
	char library[64];	      /* the library concerned */
};

struct davy_doctor_engine {
	enum davy_engine engine;
	char name[64];		       /* display name, "" unknown */
	char path[DAVY_DOCTOR_PATH];   /* its program; "" unknown */
	char runner[DAVY_DOCTOR_PATH]; /* the program that lists devices for it */
	uint32_t backends;	       /* with libraries, bits; 0: unknown */
	char library[DAVY_BACKEND_COUNT][DAVY_DOCTOR_PATH]; /* of ggml's backends; "": none */
	bool has_rocblas;
	char rocblas[DAVY_DOCTOR_PATH]; /* folder of Tensile's files */
	char targets[DAVY_DOCTOR_PATH]; /* supported GPUs, "gfx908 gfx90a" */
	uint32_t ubatch;		/* of its command; 0: not set */
	uint32_t context;
};

/* Stages of an engine's device discovery. */
enum davy_doctor_stage {
	DAVY_STAGE_EXEC = 0,   /* started */
	DAVY_STAGE_LOAD = 1,   /* it loads the backend's library */
	DAVY_STAGE_INIT = 2,   /* the runtime's library is loaded */
	DAVY_STAGE_DEVICE = 3, /* a device file is open */
	DAVY_STAGE_MEMORY = 4, /* device memory is mapped */
	DAVY_STAGE_DONE = 5,   /* devices of the backend were listed */
	DAVY_DOCTOR_STAGES = 6,
};

enum davy_doctor_end {
	DAVY_END_NOT_RUN = 0, /* "words" has the reason */
	DAVY_END_GOOD = 1,    /* devices were listed */
	DAVY_END_NONE = 2,    /* success, but no device of this backend */
	DAVY_END_EXIT = 3,
	DAVY_END_SIGNAL = 4,
	DAVY_END_HUNG = 5,
};

struct davy_doctor_run {
	enum davy_backend backend; /* unknown: a user's command, no library seen */
	enum davy_doctor_end end;
	enum davy_doctor_stage stage; /* the last one reached */
	int code;		      /* exit status or signal */
	bool by_child;		      /* a child of the engine failed */
	uint32_t ms;
	char where[DAVY_DOCTOR_PATH]; /* library of the failure; "" unknown */
	char words[DAVY_DOCTOR_PATH]; /* end of its output */
	char devices[DAVY_DOCTOR_PATH];
};

struct davy_doctor_model {
	bool asked;
	int error; /* -errno of reading the header */
	char path[DAVY_DOCTOR_PATH];
	uint64_t bytes;
	uint32_t layers;
};

struct davy_doctor_parameter {
	char module[32];
	char name[48];
	char configured[DAVY_DOCTOR_VALUE];
	char value[DAVY_DOCTOR_VALUE]; /* in sysfs */
	char origin[DAVY_DOCTOR_PATH]; /* the kernel's command line, or a file */
	bool loaded;
	bool exists; /* sysfs has it */
};

struct davy_doctor_self {
	bool root;
	uint64_t capabilities; /* effective */
	bool btf;
	char lockdown[24]; /* "none", "integrity", "confidentiality"; "" unknown */
	bool ftrace_off;
};

/* A running engine, without its runners. */
struct davy_doctor_running {
	uint32_t pid;
	char engine[32];	  /* display name */
	char unit[DAVY_UNIT_LEN]; /* service that may be adopted; "": none */
	bool adopted;
};

/* davylamp itself on this host. */
struct davy_doctor_lamp {
	bool runs;	/* the agent answers */
	char mode[16];	/* the agent's; "" unknown */
	bool installed; /* systemd has davylamp.service */
};

struct davy_doctor_facts {
	char kernel[DAVY_POLICY_KERNEL_LEN];
	size_t gpu_count;
	struct davy_doctor_gpu gpu[DAVY_DOCTOR_GPUS];
	bool kfd_class; /* /sys/class/kfd exists */
	size_t node_count;
	struct davy_doctor_node node[DAVY_DOCTOR_NODES];
	struct davy_doctor_service service;
	struct davy_doctor_variable variable[DAVY_VAR_COUNT];
	bool icds_looked;
	char icds_from[DAVY_DOCTOR_PATH]; /* the variable, or the loader's folders */
	size_t icd_count;
	struct davy_doctor_icd icd[DAVY_DOCTOR_ICDS];
	struct davy_doctor_probe probe[DAVY_DOCTOR_RUNTIMES];
	struct davy_doctor_engine engine;
	size_t run_count;
	struct davy_doctor_run run[DAVY_BACKEND_COUNT];
	struct davy_doctor_model model;
	uint64_t memory_available; /* host, bytes */
	size_t parameter_count;
	struct davy_doctor_parameter parameter[DAVY_DOCTOR_PARAMETERS];
	bool iommu_on;
	struct davy_doctor_self self;
	size_t running_count;
	struct davy_doctor_running running[DAVY_DOCTOR_RUNNING];
	struct davy_doctor_lamp lamp;
};

/* NULL beyond the last. */
const char *davy_doctor_variable_name(uint32_t id);
enum davy_backend davy_doctor_runtime_backend(uint32_t runtime);
const char *davy_doctor_stage_name(uint32_t stage);	 /* "init" */
const char *davy_doctor_backend_title(uint32_t backend); /* "ROCm" */

/* Backends that a GPU of this vendor may have: bits. */
uint32_t davy_doctor_backends_of(const char *vendor);

/* The first GPU of this vendor, or NULL. */
const struct davy_doctor_gpu *davy_doctor_gpu_of(const struct davy_doctor_facts *facts,
						 const char *vendor);

#endif
