/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: the driver's job timeout, and the resets that follow: of a ring, a queue, an engine or
 *   the device. Sources: BPF programs, otherwise the driver's announcements (uevents, KFD),
 *   otherwise the log.
 * Threshold: one. A timeout is level 1. A successful reset is level 2: it is the best precursor of
 *   a fatal one (seconds to minutes before it in field reports). Level 3: another successful reset
 *   within "again", a failed reset, a lost device, or one that is removed under an engine; it
 *   stands until an engine has computed on the device. Attributed to the owner of the job that
 *   timed out.
 * False alarms: messages of a recovering GPU. Several reports of one reset count once. The named
 *   process may be a victim of the process that occupied the engine.
 * Test: tests/unit/test_gpu_hazards.c, test_reset_signs.c, tests/vm hang.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>
#include <string.h>

#define ATTRIBUTE_NS (60 * DAVY_NS_PER_S) /* a device reset may take half a minute */
/* maximum delay until all sources have reported a reset */
#define SOURCES_DELAY_NS (5 * DAVY_NS_PER_S)
#define RESETTING_NS	 (60 * DAVY_NS_PER_S)
#define WEDGE_NONE	 1 /* DRM_WEDGE_RECOVERY_NONE: no recovery needed */

struct finding {
	const char *device;
	const char *ring;
	const char *what;
	uint32_t pid; /* 0: owner of the last job that timed out */
	uint32_t level;
	int32_t result;
	enum davy_reporter reporter;
	bool over; /* a successful reset */
};

static void reset_timed_out(struct davy_step *s, const char *device, uint32_t pid,
			    uint64_t first_ns)
{
	struct davy_world *w = &s->core->world;
	struct davy_device_state *d = davy_world_device_get(w, device, s->now_ns);
	const struct davy_process *p = davy_world_process(w, pid);

	memset(&d->timed_out, 0, sizeof(d->timed_out));
	if (p)
		d->timed_out = *p;
	d->timed_out.pid = pid;
	d->timed_out_ns = s->now_ns;
	d->first_precursor_ns = first_ns;
}

static void reset_look_at_timeout(struct davy_step *s)
{
	const struct davy_ev_job_timeout *in = &s->ev->job_timeout;
	struct davy_world *w = &s->core->world;
	const struct davy_process *p = davy_world_process(w, s->ev->pid);
	struct davy_ring_state *r = davy_world_ring_get(w, in->device, in->ring, s->now_ns);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_RESET, p);

	davy_copy_name(note.device, sizeof(note.device), in->device);
	davy_copy_name(note.ring, sizeof(note.ring), in->ring);
	davy_copy_name(note.detail, sizeof(note.detail), "job timeout");
	note.level = 1;
	note.unit = DAVY_UNIT_NS;
	note.observed = in->age_ns;
	note.device_class = 1;
	if (r->first_precursor_ns && r->fence_seqno == in->fence_seqno)
		davy_plan_evidence(&note, r->first_precursor_ns, DAVY_EV_RING, 1);
	reset_timed_out(s, in->device, s->ev->pid, note.first_precursor_ns);
	davy_world_report(w, in->device, DAVY_REPORT_RESET, DAVY_BY_PROGRAM, 1, s->now_ns);
	davy_alarm_raise(s, &note);
}

/* Counts successful resets; several reports of one reset count once. Returns the recent number. */
static uint32_t reset_count(struct davy_step *s, struct davy_device_state *d,
			    const struct davy_process *p)
{
	uint64_t again_ns = davy_threshold_ns(s, DAVY_CFG_RESET_AGAIN_MS, d->device, p);

	if (!d->reset_ns || s->now_ns - d->reset_ns > SOURCES_DELAY_NS) {
		d->before_reset_ns = d->reset_ns;
		d->reset_ns = s->now_ns;
		d->reset_count++;
	}
	return d->before_reset_ns && s->now_ns - d->before_reset_ns <= again_ns ? 2 : 1;
}

/* The log may be read before the record of the timeout: use the known stall of the ring. */
static void reset_add_stall(struct davy_step *s, const struct finding *f, struct davy_plan *note)
{
	const struct davy_world *w = &s->core->world;

	for (size_t i = 0; f->ring[0] && i < DAVY_WORLD_RINGS; i++) {
		const struct davy_ring_state *r = &w->rings[i];

		if (r->first_precursor_ns && r->pid == note->pid &&
		    s->now_ns - r->used_ns <= ATTRIBUTE_NS && davy_same_name(r->ring, f->ring) &&
		    davy_same_name(r->device, f->device))
			davy_plan_evidence(note, r->first_precursor_ns, DAVY_EV_RING, 1);
	}
}

static void reset_say(struct davy_step *s, struct finding f)
{
	struct davy_world *w = &s->core->world;
	struct davy_device_state *d = davy_world_device_get(w, f.device, s->now_ns);
	const struct davy_process *p = davy_world_process(w, f.pid);
	bool after = d->timed_out_ns && s->now_ns - d->timed_out_ns <= ATTRIBUTE_NS;
	struct davy_plan note;

	if (davy_world_reported(w, f.device, DAVY_REPORT_RESET, f.reporter, f.level, s->now_ns))
		return;
	davy_world_report(w, f.device, DAVY_REPORT_RESET, f.reporter, f.level, s->now_ns);
	note = davy_plan_about(s, DAVY_HZ_RESET, !f.pid && after ? &d->timed_out : p);
	if (f.pid || !after)
		note.pid = f.pid;
	if (f.device[0])
		davy_copy_name(note.device, sizeof(note.device), f.device);
	davy_copy_name(note.ring, sizeof(note.ring), f.ring);
	davy_copy_name(note.detail, sizeof(note.detail), f.what);
	note.unit = DAVY_UNIT_COUNT;
	note.observed = f.over ? reset_count(s, d, p) : 1;
	note.threshold = 1;
	note.level = (uint8_t)(note.observed > 1 ? 3 : f.level);
	note.result = f.result;
	note.device_class = 1;
	if (after)
		davy_plan_evidence(&note, d->first_precursor_ns, DAVY_EV_JOB_TIMEOUT, 1);
	else
		reset_add_stall(s, &f, &note);
	davy_alarm_raise(s, &note);
}

static void reset_look_at_reset(struct davy_step *s)
{
	const struct davy_ev_reset *in = &s->ev->reset;
	struct davy_world *w = &s->core->world;
	struct davy_device_state *d = davy_world_device_get(w, in->device, s->now_ns);
	struct finding f = { .device = in->device, .ring = "", .result = in->result };

	d->resetting_ns = in->begun ? s->now_ns : 0;
	if (in->begun) {
		davy_world_report(w, in->device, DAVY_REPORT_RESET, DAVY_BY_PROGRAM, 1, s->now_ns);
		return;
	}
	f.over = !in->result;
	f.what = in->result ? "GPU reset failed" : "GPU reset succeeded";
	f.level = in->result ? 3 : 2;
	reset_say(s, f);
}

static bool reset_is_running(struct davy_step *s, const char *device)
{
	const struct davy_device_state *d =
		davy_world_device_get(&s->core->world, device, s->now_ns);

	return d->resetting_ns && s->now_ns - d->resetting_ns < RESETTING_NS;
}

/* Drivers end a successful reset with "wedged" and no recovery needed. */
static void reset_wedged(struct davy_step *s, const char *device, uint32_t pid, bool recovered)
{
	struct finding f = { .device = device, .ring = "", .pid = pid, .over = recovered };

	if (recovered && reset_is_running(s, device))
		return; /* the end of the reset is reported soon, with its result */
	f.level = recovered ? 2 : 3;
	f.what = recovered ? "device recovered" : "device wedged";
	f.reporter = DAVY_BY_DRIVER;
	reset_say(s, f);
}

static void reset_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct finding f = { .device = in->device, .ring = in->name, .pid = s->ev->pid };

	f.result = in->error;
	f.level = in->error ? 3 : 2;
	f.over = !in->error;
	switch (in->fact) {
	case DAVY_FACT_SOFT_RECOVERY:
		if (in->error)
			return; /* a reset follows */
		f.over = false;
		f.level = 1;
		f.what = "soft recovery";
		break;
	case DAVY_FACT_RING_RESET:
		f.what = in->error ? "ring reset failed" : "ring reset succeeded";
		break;
	case DAVY_FACT_ENGINE_RESET:
		f.what = in->error ? "engine reset failed" : "engine reset succeeded";
		break;
	case DAVY_FACT_XE_QUEUE_RESET:
		f.what = "queue reset";
		break;
	case DAVY_FACT_GT_ERROR:
		f.ring = "";
		f.over = false;
		f.level = 1;
		f.what = "hang declared";
		break;
	case DAVY_FACT_CONTEXT_BANNED:
		f.over = false;
		f.what = "context banned";
		break;
	case DAVY_FACT_WEDGED:
		reset_wedged(s, in->device, s->ev->pid, false);
		return;
	case DAVY_FACT_WEDGED_EVENT:
		reset_wedged(s, in->device, s->ev->pid, in->detail == WEDGE_NONE);
		return;
	default:
		return;
	}
	reset_say(s, f);
}

/* An engine whose model is on the device; 0: none. */
static uint32_t reset_user_of(const struct davy_step *s, const char *device)
{
	const struct davy_process *p;
	size_t at = 0;

	while ((p = davy_world_process_next(&s->core->world, &at)))
		if (p->engine != DAVY_ENGINE_NONE && p->backend != DAVY_BACKEND_CPU &&
		    davy_same_name(p->device, device))
			return p->pid;
	return 0;
}

/* i915: ERROR=1 is a hang, RESET=1 the start of a reset, ERROR=0 its success. */
static void reset_look_at_device(struct davy_step *s)
{
	const struct davy_ev_device *in = &s->ev->device;
	struct finding f = { .device = in->device, .ring = "", .pid = s->ev->pid };

	f.reporter = DAVY_BY_DRIVER;
	if (in->change == DAVY_DEVICE_WEDGED) {
		reset_wedged(s, in->device, s->ev->pid, davy_same_name(in->detail, "none"));
		return;
	}
	if (in->change == DAVY_DEVICE_ERROR) {
		f.over = !in->value;
		f.what = in->value ? "hang declared" : "GPU reset succeeded";
	} else if (in->change == DAVY_DEVICE_RESET) {
		f.what = "GPU reset begins";
	} else if (in->change == DAVY_DEVICE_REMOVED) {
		f.pid = reset_user_of(s, in->device); /* which fails at its next request */
		f.what = "device removed";
	}
	if (!f.what || (in->change == DAVY_DEVICE_REMOVED && !f.pid))
		return;
	f.level = f.over ? 2 : in->change == DAVY_DEVICE_REMOVED ? 3 : 1;
	reset_say(s, f);
}

static void reset_look_at_kfd(struct davy_step *s)
{
	const struct davy_ev_kfd *in = &s->ev->kfd;
	struct finding f = { .device = in->device, .ring = "" };

	if (in->event != DAVY_KFD_RESET_BEGIN && in->event != DAVY_KFD_RESET_END)
		return;
	f.reporter = DAVY_BY_DRIVER;
	f.over = in->event == DAVY_KFD_RESET_END; /* sent when KFD runs again */
	f.level = f.over ? 2 : 1;
	f.what = f.over ? "GPU reset succeeded" : "GPU reset begins";
	if (!f.over && in->detail[0])
		f.what = in->detail;
	reset_say(s, f);
}

/* Meaning of log lines about resets; for an Xid, its class decides. */
static const struct line {
	uint16_t kind;
	uint8_t level;
	bool over;
	const char *what;
} lines[] = {
	{ DAVY_LOG_RING_TIMEOUT, 1, false, "job timeout" },
	{ DAVY_LOG_XE_JOB_TIMEOUT, 1, false, "job timeout" },
	{ DAVY_LOG_SOFT_RECOVERED, 1, false, "soft recovery" },
	{ DAVY_LOG_I915_HANG, 1, false, "hang declared" },
	{ DAVY_LOG_GPU_RESET_BEGUN, 1, false, "GPU reset begins" },
	{ DAVY_LOG_XE_GT_RESET, 1, false, "GPU reset begins" },
	{ DAVY_LOG_RING_RESET_DONE, 2, true, "ring reset succeeded" },
	{ DAVY_LOG_I915_GT_RESET, 2, true, "GPU reset" }, /* failures have their own line */
	{ DAVY_LOG_I915_ENGINE_RESET, 2, true, "engine reset" },
	{ DAVY_LOG_XE_ENGINE_RESET, 2, true, "engine reset" },
	{ DAVY_LOG_QUEUE_RESET, 2, true, "queue reset" },
	{ DAVY_LOG_GPU_RESET_DONE, 2, true, "GPU reset succeeded" },
	{ DAVY_LOG_XE_GT_RESET_DONE, 2, true, "GPU reset succeeded" },
	{ DAVY_LOG_RECOVERED, 2, true, "device recovered" },
	{ DAVY_LOG_QUEUE_HANG, 2, false, "queue hang" },
	{ DAVY_LOG_HWS_HANG, 2, false, "queue scheduler hang" },
	{ DAVY_LOG_MES_UNRECOVERABLE, 2, false, "queue scheduler hang" },
	{ DAVY_LOG_NV_LOCKED, 2, false, "GPU is locked" },
	{ DAVY_LOG_NV_UVM_FATAL, 3, false, "driver gave up" },
	{ DAVY_LOG_RESUME_FAILED, 3, false, "a block did not resume" },
	{ DAVY_LOG_VRAM_LOST, 3, false, "VRAM is lost" },
	{ DAVY_LOG_RING_RESET_FAILED, 3, false, "ring reset failed" },
	{ DAVY_LOG_GPU_RESET_FAILED, 3, false, "GPU reset failed" },
	{ DAVY_LOG_I915_RESET_FAILED, 3, false, "GPU reset failed" },
	{ DAVY_LOG_XE_GT_RESET_FAILED, 3, false, "GPU reset failed" },
	{ DAVY_LOG_XE_ENGINES_DEAD, 3, false, "engines are dead" },
	{ DAVY_LOG_GSP_DEAD, 3, false, "firmware is dead" },
	{ DAVY_LOG_OFF_THE_BUS, 3, false, "off the bus" },
	{ DAVY_LOG_DEVICE_LOST, 3, false, "device lost" },
	{ DAVY_LOG_WEDGED, 3, false, "device wedged" },
};

static struct line reset_line_of(const struct davy_ev_log *in)
{
	struct line line = { .kind = in->kind, .what = "Xid" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].kind == in->kind)
			return lines[i];
	if (in->kind != DAVY_LOG_XID || in->role != DAVY_PART_FAILURE)
		return line;
	if (in->log_class == DAVY_CLASS_RING_TIMEOUT)
		line.level = 1;
	else if (in->log_class == DAVY_CLASS_GPU_RESET || in->log_class == DAVY_CLASS_HANG)
		line.level = 2;
	else if (in->log_class == DAVY_CLASS_DEVICE_LOST)
		line.level = 3;
	return line;
}

static void reset_look_at_log(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	const struct line line = reset_line_of(in);
	struct finding f = { .device = in->device, .ring = in->ring, .what = line.what };
	bool dragged = in->role == DAVY_PART_AFTERMATH &&
		       davy_log_meaning(in->kind)->role == DAVY_PART_FAILURE;
	bool news;

	if (!line.level || dragged) /* a timeout during a device reset is no news */
		return;
	f.reporter = DAVY_BY_LOG;
	f.pid = s->ev->pid;
	f.level = line.level;
	f.over = line.over;
	f.result = in->kind == DAVY_LOG_XID ? (int32_t)(in->code & INT32_MAX) : in->error;
	news = !davy_world_reported(&s->core->world, in->device, DAVY_REPORT_RESET, DAVY_BY_LOG, 1,
				    s->now_ns);
	reset_say(s, f);
	if (line.level == 1 && f.pid && news)
		reset_timed_out(s, in->device, f.pid, s->now_ns);
}

static void reset_look(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_JOB_TIMEOUT:
		reset_look_at_timeout(s);
		break;
	case DAVY_EV_RESET:
		reset_look_at_reset(s);
		break;
	case DAVY_EV_FACT:
		reset_look_at_fact(s);
		break;
	case DAVY_EV_DEVICE:
		reset_look_at_device(s);
		break;
	case DAVY_EV_KFD:
		reset_look_at_kfd(s);
		break;
	default:
		reset_look_at_log(s);
		break;
	}
}

static bool reset_has_evidence(const struct davy_plan *p, enum davy_event_kind kind)
{
	for (size_t i = 0; i < p->evidence_count && i < DAVY_PLAN_EVIDENCE; i++)
		if (p->evidence[i].kind == kind)
			return true;
	return false;
}

static void reset_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->unit == DAVY_UNIT_NS) {
		c->say(c, "its job on ring %s exceeded the driver's timeout after %" PRIu64 " ms",
		       p->ring, p->observed / DAVY_NS_PER_MS);
		return;
	}
	c->say(c, "%s%s%s", p->detail, p->ring[0] ? " of ring " : "", p->ring);
	if (p->result || reset_has_evidence(p, DAVY_EV_RESET))
		c->say(c, " (%d)", p->result);
	if (p->observed > 1)
		c->say(c, ", the second recently");
	if (reset_has_evidence(p, DAVY_EV_JOB_TIMEOUT))
		c->say(c, " after its job had timed out");
}

const struct davy_hazard_row davy_hazard_reset = {
	.sees = DAVY_SEES(DAVY_EV_JOB_TIMEOUT) | DAVY_SEES(DAVY_EV_RESET) |
		DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_DEVICE) | DAVY_SEES(DAVY_EV_KFD) |
		DAVY_SEES(DAVY_EV_LOG),
	.look = reset_look,
	.reason = reset_reason,
	.precursor.leads = DAVY_CAN_NOT_ANSWER | DAVY_CAN_HOST_CRASH | DAVY_CAN_WRONG_OUTPUT |
			   DAVY_CAN_DISCOVERY_MISS | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_RESET_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_SWITCH, DAVY_ACTION_MIGRATE_CPU } },
	.shortage = DAVY_SHORT_OF_TIME,
	.stands = davy_device_unproven,
	.device_fails = 2,
};
