/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: memory of the device that a process asked for and did not get (TTM, DRM ioctls).
 * Threshold: a heap without room is normal while a model is loaded over an idle one: level 1 only
 *   for "count" of them within "window". So is a validation that failed after evicting: the driver
 *   may try a wider placement. No pages of the host is level 2, an ioctl that told the application
 *   so level 3: it is about to give up.
 * False alarms: drivers probe for room with placements they can do without: levels 1.
 * Test: tests/unit/test_gpu_hazards.c, tests/vm huge.
 */
#include "hazards.h"

#include <assert.h>

static bool many(struct dl_step *s, const struct dl_ev_alloc_failed *in)
{
	const struct dl_config *config = &s->core->config;
	struct dl_alloc_state *a;

	a = dl_world_alloc_get(&s->core->world, in->device, s->ev->pid, s->now_ns);
	if (s->now_ns - a->window_ns > dl_config_ns(config, DL_CFG_ALLOC_WINDOW_MS)) {
		a->window_ns = s->now_ns;
		a->window_count = 0;
	}
	a->window_count += in->fresh;
	return a->window_count >= dl_config_u64(config, DL_CFG_ALLOC_COUNT);
}

static const uint8_t levels[] = {
	[DL_ALLOC_RESOURCE] = 1,
	[DL_ALLOC_VALIDATE] = 1, /* the driver may try a wider placement, and mostly succeeds */
	[DL_ALLOC_IOCTL] = 3,
	[DL_ALLOC_POPULATE] = 2, /* the host itself is out of memory */
};

void dl_look_alloc_failure(struct dl_step *s)
{
	const struct dl_ev_alloc_failed *in = &s->ev->alloc_failed;
	const struct dl_process *p = dl_world_process(&s->core->world, s->ev->pid);
	struct dl_plan note = dl_plan_about(s, DL_HZ_ALLOC_FAILURE, p);

	assert(in->stage >= DL_ALLOC_RESOURCE && in->stage <= DL_ALLOC_POPULATE);
	if (in->stage == DL_ALLOC_RESOURCE && !many(s, in))
		return;
	dl_copy_name(note.device, sizeof(note.device), in->device);
	note.level = levels[in->stage];
	note.unit = DL_UNIT_BYTES;
	note.observed = in->bytes;
	note.result = in->error;
	dl_alarm_raise(s, &note);
}
