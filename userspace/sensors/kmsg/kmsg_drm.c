/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every DRM driver can say (drm_drv.c, drm_atomic_helper.c, ttm_bo.c, sched_entity.c), and
 * nouveau.
 */
#include "sensors/kmsg/kmsg_table.h"

static const struct dl_kmsg_row rows[] = {
	{ "device wedged, {but recovered|but no recovery}", DL_LOG_RECOVERED },
	{ "device wedged, needs recovery", DL_LOG_WEDGED },
	{ "device is wedged", DL_LOG_WEDGED },
	{ "Trying to push to a killed entity", DL_LOG_KILLED_ENTITY },
	{ "Failed to find memory space for buffer", DL_LOG_TTM_NO_MEMORY },
	{ "Buffer eviction failed", DL_LOG_TTM_NO_MEMORY },
	{ "Unable to allocate page", DL_LOG_TTM_NO_MEMORY },
	{ "Failed allocating page table", DL_LOG_TTM_NO_MEMORY },
	{ "flip_done timed out", DL_LOG_DISPLAY_STALLED },
	{ "[%w] flip_done timed out", DL_LOG_DISPLAY_STALLED },
	{ "[%w] commit wait timed out", DL_LOG_DISPLAY_STALLED },
	{ "probe of %b failed with error %e", DL_LOG_INIT_FAILED },
	{ "probe with driver %w failed with error %e", DL_LOG_INIT_FAILED },
	{ "{can't|Unable to} change power state*inaccessible", DL_LOG_DEVICE_LOST },
	/* nouveau */
	{ "job timeout, channel %d killed", DL_LOG_RING_TIMEOUT },
	{ "%n[%p]: job timeout, channel %d killed", DL_LOG_RING_TIMEOUT },
	{ "{fifo|gr}: fault %w [*] at %a engine", DL_LOG_PAGE_FAULT },
	{ "{fifo|gr}:*channel %d*killed", DL_LOG_RING_TIMEOUT },
};

const struct dl_kmsg_group dl_kmsg_drm =
	DL_KMSG_GROUP(rows, DL_KMSG_BIT(ANYBODY) | DL_KMSG_BIT(AMDGPU) | DL_KMSG_BIT(RADEON) |
				    DL_KMSG_BIT(I915) | DL_KMSG_BIT(XE) | DL_KMSG_BIT(NOUVEAU));
