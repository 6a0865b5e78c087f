/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/fdinfo of a DRM file, in the keys of every driver and kernel (Documentation/gpu/
 * drm-usage-stats.rst; amdgpu's own names are older): outside input.
 */
#ifndef DAVY_FDINFO_H
#define DAVY_FDINFO_H

#include "core/event/types.h"

struct davy_fdinfo {
	char driver[24];
	char device[DAVY_DEVICE_LEN]; /* drm-pdev */
	uint64_t client_id;
	uint32_t pasid; /* amdgpu; 0 unknown */
	uint64_t vram;	/* bytes resident */
	uint64_t gtt;
	uint64_t system;
	uint64_t evicted; /* bytes that should be in VRAM and are not */
	uint64_t busy_ns; /* over all engines */
};

/*
 * False when it is no DRM file's. "text" is terminated; lines that are not understood are passed
 * over.
 */
bool davy_fdinfo_parse(const char *text, struct davy_fdinfo *ret_info);

#endif
