/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All DRM drivers (drm_drv.c, drm_atomic_helper.c, ttm_bo.c, sched_entity.c), and nouveau. */
#include "sensors/kmsg/kmsg_table.h"

static const struct davy_kmsg_row rows[] = {
	{ "device wedged, {but recovered|but no recovery}", DAVY_LOG_RECOVERED },
	{ "device wedged, needs recovery", DAVY_LOG_WEDGED },
	{ "device is wedged", DAVY_LOG_WEDGED },
	{ "Trying to push to a killed entity", DAVY_LOG_KILLED_ENTITY },
	{ "Failed to find memory space for buffer", DAVY_LOG_TTM_NO_MEMORY },
	{ "Buffer eviction failed", DAVY_LOG_TTM_NO_MEMORY },
	{ "Unable to allocate page", DAVY_LOG_TTM_NO_MEMORY },
	{ "Failed allocating {page table|swap storage}", DAVY_LOG_TTM_NO_MEMORY },
	{ "scheduler %r is not ready, skipping", DAVY_LOG_JOBS_SKIPPED },
	{ "flip_done timed out", DAVY_LOG_DISPLAY_STALLED },
	{ "[%w] {flip_done|commit wait|cleanup_done|hw_done or flip_done} timed out",
	  DAVY_LOG_DISPLAY_STALLED },
	{ "probe of %b failed with error %e", DAVY_LOG_INIT_FAILED },
	{ "probe with driver %w failed with error %e", DAVY_LOG_INIT_FAILED },
	{ "{can't|Unable to} change power state*inaccessible", DAVY_LOG_DEVICE_LOST },
	/* nouveau */
	{ "job timeout, channel %d killed", DAVY_LOG_RING_TIMEOUT },
	{ "%n[%p]: job timeout, channel %d killed", DAVY_LOG_RING_TIMEOUT },
	{ "gsp: Xid:%c", DAVY_LOG_XID }, /* with NVIDIA's firmware */
	{ "gsp: GSP-FMC boot failed", DAVY_LOG_INIT_FAILED },
	{ "{fifo|gr}: fault %w [*] at %a engine*[%w %n[%p]]", DAVY_LOG_PAGE_FAULT },
	{ "{fifo|gr}: fault %w [*] at %a engine", DAVY_LOG_PAGE_FAULT },
	{ "fifo:*:[%n[%p]] errored - disabling channel", DAVY_LOG_RING_TIMEOUT },
	{ "{fifo|gr}:*channel %d*killed", DAVY_LOG_RING_TIMEOUT },
};

const struct davy_kmsg_group davy_kmsg_drm = DAVY_KMSG_GROUP(
	rows, DAVY_KMSG_BIT(ANYBODY) | DAVY_KMSG_BIT(AMDGPU) | DAVY_KMSG_BIT(RADEON) |
		      DAVY_KMSG_BIT(I915) | DAVY_KMSG_BIT(XE) | DAVY_KMSG_BIT(NOUVEAU));
