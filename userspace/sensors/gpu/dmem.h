/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup controller of device memory (kernel/cgroup/dmem.c, since 6.14; amdgpu has the region
 * "vram", xe "vram0" and "vram1"). An allocation is charged to the cgroup of the process, or to the
 * nearest ancestor that has the controller.
 */
#ifndef DAVY_DMEM_H
#define DAVY_DMEM_H

#include "core/event/event.h"

#define DAVY_DMEM_REGIONS 32 /* per host */
#define DAVY_DMEM_PATH	  512

struct davy_dmem_line {
	char device[DAVY_DEVICE_LEN];
	char region[16];
	uint64_t bytes; /* UINT64_MAX: "max" */
};

/* Parses lines "drm/0000:03:00.0/vram0 BYTES|max"; skips other lines. */
size_t davy_dmem_parse(const char *text, struct davy_dmem_line *list, size_t max);

/* True if this kernel has the controller in its cgroup v2 tree. */
bool davy_dmem_present(void);

/*
 * The cgroup that is charged for a process, relative to the root of the tree; -ENOENT if it is the
 * root, which has no limits.
 */
int davy_dmem_cgroup_of(uint32_t pid, char ret_path[DAVY_DMEM_PATH]);

/* All regions of that cgroup, with its name as the unit. Returns their number. */
size_t davy_dmem_read(const char *cgroup, struct davy_ev_dmem *list, size_t max);

#endif
