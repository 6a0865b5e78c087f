/* SPDX-License-Identifier: GPL-2.0 */
/* Types and maps of the account of VRAM. Only admit.bpf.c includes this. */
#ifndef DAVY_ADMIT_BPF_H
#define DAVY_ADMIT_BPF_H

#include "wire.h"
#include "compat.bpf.h"
#include "maps.bpf.h"

#define LEVELS	    DAVY_VRAM_LEVELS
#define DOMAIN_VRAM 4 /* AMDGPU_GEM_DOMAIN_VRAM */
#define PLACE_VRAM  2 /* TTM_PL_VRAM */
#define PAGE_MASK   4095ULL
#define DRM_MAJOR   226
#define KFD_VRAM    1 /* KFD_IOC_ALLOC_MEM_FLAGS_VRAM */
#define PDDS_MAX    16
#define DRIVER_NAME 0x0000757067646d61ULL /* "amdgpu" */
#define TRIES	    8

/* Command numbers. The kernel dispatches by them alone: type, size and direction are the caller's. */
#define NR_GEM_CREATE	 0x40
#define NR_GEM_OP	 0x50
#define NR_CREATE_DUMB	 0xb2
#define NR_KFD_ALLOC	 0x16
#define OP_SET_PLACEMENT 1

union arguments {
	struct {
		__u64 size, alignment, domains, flags;
	} create;
	struct {
		__u32 handle, op;
		__u64 value;
	} op;
	struct {
		__u32 height, width, bpp, flags;
	} dumb;
	struct {
		__u64 address, size, handle, mmap_offset;
		__u32 gpu_id, flags;
	} kfd;
	__u64 words[5];
};

/* The cgroups of a process, from the one below the root to its own. */
struct lineage {
	__u64 id[LEVELS];
	__u32 count;
	__u32 managed; /* bit for each level that has a limit */
	__u32 generation;
	__u32 pad;
};

/* An allocation that was allowed, until the driver has made or refused it. */
struct look {
	struct lineage of;
	__u64 device;
	__u64 size; /* charged; 0: it is not to be in VRAM */
	__u64 most; /* what the driver may make of it; more is a changed argument */
};

struct object {
	struct lineage of;
	__u64 device;
	__u64 size;
	__u64 wiping; /* it is freed, and this much of VRAM is not returned yet */
	__u32 freed;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct lineage);
} lineages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct look);
} looks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DAVY_MAX_VRAM_BOS);
	__type(key, __u64);
	__type(value, struct object);
} objects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_VRAM);
	__type(key, struct davy_vram_key);
	__type(value, struct davy_vram);
} vram_accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, struct davy_vram_device);
} vram_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_VRAM_LIMITS);
	__type(key, __u64);
	__type(value, struct davy_vram_limit);
} vram_limits SEC(".maps");

struct device_name {
	char dev[DAVY_DEV_LEN];
};

/* By the device's name: userspace sets them before the device is seen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct device_name);
	__type(value, __u64);
} vram_reserves SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct davy_vram_state);
} vram_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct davy_vram_counts);
} vram_counts SEC(".maps");

#endif
