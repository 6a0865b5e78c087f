/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses /proc/PID/fdinfo of a DRM file, with the keys of all drivers and kernels
 * (Documentation/gpu/drm-usage-stats.rst; amdgpu's own names are older). The input is untrusted.
 */
#ifndef DAVY_FDINFO_H
#define DAVY_FDINFO_H

#include "core/event/types.h"

struct davy_fdinfo {
	char driver[24];
	char device[DAVY_DEVICE_LEN]; /* drm-pdev */
	uint64_t client_id;
	uint32_t pasid; /* amdgpu; 0: unknown */
	uint64_t vram;	/* bytes resident */
	uint64_t gtt;
	uint64_t system;
	uint64_t evicted; /* bytes that belong in VRAM but are elsewhere */
	uint64_t total;	  /* bytes of all buffers, resident or not; 0: not reported */
	uint64_t busy_ns; /* sum of all engines */
	bool has_memory;  /* the driver reports memory, maybe 0 */
};

/* False if it is not a DRM file. "text" is terminated; unknown lines are skipped. */
bool davy_fdinfo_parse(const char *text, struct davy_fdinfo *ret_info);

#endif
