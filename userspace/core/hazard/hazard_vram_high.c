/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: the account of VRAM: an adopted workload has more on a device than vram_high of its rule.
 *   Its allocations succeed; vram_max is the limit that refuses them.
 * Threshold: vram_high of the policy. Level 2. The agent reports the state once a second, so the
 *   alarm ends soon after the workload has freed the memory.
 * False alarms: none: an operator has set the limit. Therefore it predicts no failure, and does not
 *   count in the scores of predictions.
 * Test: tests/unit/test_vram_high.c, tests/vm (admit).
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

static void vram_high_look(struct davy_step *s)
{
	const struct davy_ev_vram *in = &s->ev->vram;
	struct davy_plan note;

	if (in->why != DAVY_VRAM_HIGH)
		return;
	note = davy_plan_about(s, DAVY_HZ_VRAM_HIGH,
			       davy_world_process(&s->core->world, s->ev->pid));
	davy_copy_name(note.device, sizeof(note.device), in->device);
	note.level = 2;
	note.unit = DAVY_UNIT_BYTES;
	note.observed = in->used;
	note.threshold = in->limit;
	davy_alarm_raise(s, &note);
}

static void vram_high_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "has %" PRIu64 " MiB of VRAM, more than vram_high of its rule (%" PRIu64 " MiB)",
	       p->observed >> 20, p->threshold >> 20);
}

const struct davy_hazard_row davy_hazard_vram_high = {
	.sees = DAVY_SEES(DAVY_EV_VRAM),
	.look = vram_high_look,
	.reason = vram_high_reason,
	.precursor.seen_in_events = true,
	.escalation[0] = { 2, { DAVY_ACTION_UNLOAD, DAVY_ACTION_SHRINK, DAVY_ACTION_THROTTLE } },
	.names_culprit = true, /* act on this workload, not on the largest user */
};
