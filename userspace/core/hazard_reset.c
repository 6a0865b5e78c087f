/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: the driver's own job timeout, and the GPU reset that follows with its result.
 * Threshold: one. A reset that succeeded is level 2, the best sign of the fatal one (seconds to
 *   minutes before it in field reports); one that failed is level 3. Attributed to the owner of the
 *   job that timed out.
 * False alarms: none known; the named process may be a victim of whoever held the engine.
 * Test: tests/unit/test_gpu_hazards.c, tests/vm hang.
 */
#include "hazards.h"

#include <string.h>

static void timed_out(struct dl_step *s)
{
	const struct dl_ev_job_timeout *in = &s->ev->job_timeout;
	struct dl_world *w = &s->core->world;
	const struct dl_process *p = dl_world_process(w, s->ev->pid);
	struct dl_device_state *d = dl_world_device_get(w, in->device, s->now_ns);
	struct dl_ring_state *r = dl_world_ring_get(w, in->device, in->ring, s->now_ns);
	struct dl_plan note = dl_plan_about(s, DL_HZ_RESET, p);

	dl_copy_name(note.device, sizeof(note.device), in->device);
	dl_copy_name(note.ring, sizeof(note.ring), in->ring);
	dl_copy_name(note.detail, sizeof(note.detail), "job timeout");
	note.level = 1;
	note.unit = DL_UNIT_NS;
	note.observed = in->age_ns;
	note.device_class = 1;
	if (r->first_sign_ns && r->fence_seqno == in->fence_seqno)
		dl_plan_evidence(&note, r->first_sign_ns, DL_EV_RING, 1);
	memset(&d->timed_out, 0, sizeof(d->timed_out));
	if (p)
		d->timed_out = *p;
	d->timed_out.pid = s->ev->pid;
	d->first_sign_ns = note.first_sign_ns;
	dl_alarm_raise(s, &note);
}

static void reset_ended(struct dl_step *s)
{
	const struct dl_ev_reset *in = &s->ev->reset;
	struct dl_device_state *d = dl_world_device_get(&s->core->world, in->device, s->now_ns);
	struct dl_plan note = dl_plan_about(s, DL_HZ_RESET, &d->timed_out);

	dl_copy_name(note.device, sizeof(note.device), in->device);
	dl_copy_name(note.detail, sizeof(note.detail),
		     in->result ? "GPU reset failed" : "GPU reset succeeded");
	note.level = in->result ? 3 : 2;
	note.unit = DL_UNIT_COUNT;
	note.observed = 1;
	note.threshold = 1;
	note.result = in->result;
	note.device_class = 1;
	if (d->first_sign_ns)
		dl_plan_evidence(&note, d->first_sign_ns, DL_EV_JOB_TIMEOUT, 1);
	dl_alarm_raise(s, &note);
}

void dl_look_reset(struct dl_step *s)
{
	if (s->ev->kind == DL_EV_JOB_TIMEOUT)
		timed_out(s);
	else if (!s->ev->reset.begun)
		reset_ended(s);
}
