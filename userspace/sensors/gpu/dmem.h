/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup controller of device memory (kernel/cgroup/dmem.c, since 6.14; amdgpu has the region
 * "vram", xe "vram0" and "vram1"). What a process allocates is charged to its cgroup, or to the
 * next above that has the controller.
 */
#ifndef DAVY_DMEM_H
#define DAVY_DMEM_H

#include "core/event/event.h"

#define DAVY_DMEM_REGIONS 32 /* of one host */
#define DAVY_DMEM_PATH	  512

struct davy_dmem_line {
	char device[DAVY_DEVICE_LEN];
	char region[16];
	uint64_t bytes; /* UINT64_MAX: "max" */
};

/* Lines "drm/0000:03:00.0/vram0 BYTES|max"; what is not understood is passed over. */
size_t davy_dmem_parse(const char *text, struct davy_dmem_line *list, size_t max);

/* Whether this kernel has the controller in its one cgroup tree. */
bool davy_dmem_present(void);

/*
 * The cgroup that accounts for a process, from the root of the tree; -ENOENT when that is the root,
 * which has no limits.
 */
int davy_dmem_cgroup_of(uint32_t pid, char ret_path[DAVY_DMEM_PATH]);

/* Every region as that cgroup has it, with its name as the unit; how many. */
size_t davy_dmem_read(const char *cgroup, struct davy_ev_dmem *list, size_t max);

#endif
