/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: host memory that a device needs: for an integrated GPU its own memory (MemAvailable,
 *   PSI), for a card with runtime suspend the room for its VRAM.
 * Threshold: level 1 if MemAvailable is below the larger of "available" and "share", or all tasks
 *   wait for memory "stall" of the time. Level 2 if half of that is available, or both conditions
 *   hold. Level 3 if a quarter is available, or half and stalled. A card whose VRAM in use exceeds
 *   "suspend" of MemAvailable: level 1. A level stays until a quarter more is available, or until
 *   half the stall; a level is raised by its own threshold only. "swapped" bytes of GPU memory that
 *   TTM swapped out within 10 s: level 1, or level 2 if less than a quarter of the host's memory is
 *   available. The same bytes that i915's shrinker is asked for: level 1. Attributed to the process
 *   whose memory on the device grows, otherwise to the largest one. A host with a card only: level
 *   2 and 3 at a quarter and an eighth of the threshold, of nobody and without an action: what
 *   takes the memory is not on the device (legacy-rocm-build#5915: the driver leaked it).
 * False alarms: a stall while a quarter of the memory is available comes from a limited cgroup. An
 *   integrated GPU that holds almost no memory is not affected. On a small host the threshold is at
 *   most a quarter of its memory. A card that is kept awake (power/control on) is never suspended.
 *   Hibernation swaps all out while memory is available: level 1. kswapd asks the shrinker for more
 *   than it takes.
 * Test: tests/unit/test_host_pressure.c, test_fact_hazards.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#include "core/event/fact.h"

#define SWAPPED_NS (10 * DAVY_NS_PER_S)
#define USED_PART  64 /* part of host memory; a device that holds less is hardly in use */
#define GREW_NS	   (30 * DAVY_NS_PER_S)

struct finding {
	uint32_t level;
	enum davy_unit unit;
	uint64_t observed;
	uint64_t threshold;
	const char *what;
	enum davy_form form;
};

/* The process whose growth takes the memory; if none has grown much, the one with the most. */
static uint32_t host_pressure_cause(const struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_memory *m = &s->core->world.memory;
	const struct davy_memory_client *c = davy_memory_grower(m, d->device, s->now_ns, GREW_NS);

	if (!c || c->bytes - c->from < d->now.host_total / USED_PART)
		c = davy_memory_largest(m, d->device);
	return c ? c->pid : 0;
}

/* The threshold for the device and for the model of the process that the alarm names. */
static uint64_t host_pressure_limit(const struct davy_step *s, const struct davy_memory_device *d,
				    enum davy_config_key key)
{
	uint32_t pid = d->pressed_pid;

	if (s->core->config.override_count && !pid)
		pid = host_pressure_cause(s, d);
	return davy_threshold(s, key, d->device, davy_scoped_process(s, pid));
}

static uint64_t host_pressure_low(const struct davy_step *s, const struct davy_memory_device *d)
{
	uint64_t low = host_pressure_limit(s, d, DAVY_CFG_PRESSURE_AVAILABLE);
	const struct davy_ev_memory *m = &d->now;
	uint64_t share = m->host_total / 1000 * host_pressure_limit(s, d, DAVY_CFG_PRESSURE_SHARE);

	low = share > low ? share : low;
	return low < m->host_total / 4 ? low : m->host_total / 4;
}

static bool host_pressure_in_use(struct davy_step *s, const struct davy_ev_memory *m)
{
	const struct davy_memory_client *c = davy_memory_largest(&s->core->world.memory, m->device);

	return m->gtt_used >= m->host_total / USED_PART ||
	       m->vram_used >= m->host_total / USED_PART ||
	       (c && c->bytes >= m->host_total / USED_PART);
}

/* Level 1 below threshold / from, levels 2 and 3 below a half and a quarter of that. */
static uint32_t host_pressure_level(uint64_t available, uint64_t threshold, uint64_t from,
				    bool raised)
{
	uint64_t least = raised ? threshold + threshold / 4 : threshold;
	uint32_t level = 0;

	for (uint64_t part = from; part <= 4 * from; part *= 2)
		level += available < least / part;
	return level;
}

/* "raised": by the limits that keep an alarm: a quarter more room, or half the stall. */
static struct finding host_pressure_of_shared(const struct davy_step *s,
					      const struct davy_memory_device *d, bool raised)
{
	uint64_t low = host_pressure_low(s, d),
		 stall = host_pressure_limit(s, d, DAVY_CFG_PRESSURE_STALL);
	const struct davy_ev_memory *m = &d->now;
	bool stalls = m->pressure_permille >= (raised ? stall / 2 : stall) &&
		      m->host_available < m->host_total / 4;
	struct finding f = { 0,	  DAVY_UNIT_BYTES, m->host_available,
			     low, "available",	   DAVY_FORM_PLAIN };

	f.level = host_pressure_level(m->host_available, low, 1, raised);
	if (!stalls)
		return f;
	if (!f.level) {
		f.unit = DAVY_UNIT_PERMILLE;
		f.observed = m->pressure_permille;
		f.threshold = stall;
		f.what = "stall";
	}
	f.level += f.level < 3;
	return f;
}

/* One card speaks for a host whose GPUs are all cards. */
static bool host_pressure_speaks(const struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_memory *m = &s->core->world.memory;
	const struct davy_memory_device *first = NULL;

	for (size_t i = 0; i < m->device_count; i++) {
		if (!m->devices[i].device[0])
			continue;
		if (m->devices[i].now.flags & DAVY_MEMORY_SHARED)
			return false;
		first = first ? first : &m->devices[i];
	}
	return first == d && d->now.host_total;
}

static struct finding host_pressure_of_card(const struct davy_step *s,
					    const struct davy_memory_device *d, bool raised)
{
	uint64_t permille = host_pressure_limit(s, d, DAVY_CFG_PRESSURE_SUSPEND);
	const struct davy_ev_memory *m = &d->now;
	struct finding f = { 0, DAVY_UNIT_BYTES, m->vram_used, 0, "", DAVY_FORM_SUSPEND };
	uint64_t low = host_pressure_low(s, d);
	uint32_t level = host_pressure_speaks(s, d)
				 ? host_pressure_level(m->host_available, low, 2, raised)
				 : 0;

	if (level > 1)
		return (struct finding){ level,	  DAVY_UNIT_BYTES, m->host_available,
					 low / 4, "host",	   DAVY_FORM_HINT };
	permille = raised ? permille * 7 / 8 : permille;
	f.threshold = m->host_available / 1000 * permille;
	f.level =
		(m->flags & DAVY_MEMORY_MAY_SUSPEND) && m->host_total && m->vram_used > f.threshold;
	return f;
}

static void host_pressure_raise(struct davy_step *s, struct davy_memory_device *d,
				const struct finding *f)
{
	const struct davy_process *p = davy_world_process(&s->core->world, d->pressed_pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_HOST_PRESSURE, p);

	note.pid = d->pressed_pid;
	davy_copy_name(note.device, sizeof(note.device), d->device);
	davy_copy_name(note.detail, sizeof(note.detail), f->what);
	note.form = (uint8_t)f->form;
	note.level = (uint8_t)f->level;
	note.unit = (uint8_t)f->unit;
	note.observed = f->observed;
	note.threshold = f->threshold;
	davy_alarm_raise(s, &note);
}

static struct finding host_pressure_find(const struct davy_step *s,
					 const struct davy_memory_device *d, bool raised)
{
	return d->now.flags & DAVY_MEMORY_SHARED ? host_pressure_of_shared(s, d, raised)
						 : host_pressure_of_card(s, d, raised);
}

static void host_pressure_judge(struct davy_step *s, struct davy_memory_device *d)
{
	const struct davy_ev_memory *m = &d->now;
	uint32_t raised = davy_alarm_level(s, DAVY_HZ_HOST_PRESSURE, d->pressed_pid, d->device, "");
	struct finding f = host_pressure_find(s, d, false);

	if (f.level <= raised) {
		if (raised && host_pressure_find(s, d, true).level >= raised)
			davy_alarm_keep(s, DAVY_HZ_HOST_PRESSURE, d->pressed_pid, d->device, "");
		return; /* otherwise the alarm expires */
	}
	if (!raised && (m->flags & DAVY_MEMORY_SHARED) && !host_pressure_in_use(s, m))
		return;
	if (f.form == DAVY_FORM_HINT)
		d->pressed_pid = 0;
	else if (!raised)
		d->pressed_pid = host_pressure_cause(s, d);
	host_pressure_raise(s, d, &f);
}

/* Bytes are cumulative over "count" events; assumes that new ones have the mean size. */
static void host_pressure_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct davy_world *w = &s->core->world;
	const struct davy_memory_device *d = davy_memory_device(&w->memory, in->device);
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);
	bool swapped = in->fact == DAVY_FACT_TTM_SWAPOUT;
	struct davy_plan note;
	struct davy_tally *t;

	if ((!swapped && in->fact != DAVY_FACT_I915_SHRINK) || !in->count || in->fresh > in->count)
		return;
	t = davy_world_tally(w, swapped ? DAVY_TALLY_SWAPPED : DAVY_TALLY_SHRUNK, in->device, 0,
			     s->now_ns, SWAPPED_NS);
	t->count += in->bytes / in->count * in->fresh;
	note = davy_plan_about(s, DAVY_HZ_HOST_PRESSURE, NULL);
	note.pid = d ? d->pressed_pid : 0;
	davy_copy_name(note.device, sizeof(note.device), in->device);
	davy_copy_name(note.detail, sizeof(note.detail), davy_fact_text(in->fact));
	note.level =
		swapped && d && d->now.host_total && d->now.host_available < d->now.host_total / 4
			? 2
			: 1;
	note.unit = DAVY_UNIT_BYTES;
	note.observed = t->count;
	note.threshold = davy_threshold(s, DAVY_CFG_PRESSURE_SWAPPED, in->device, p);
	if (note.observed >= note.threshold)
		davy_alarm_raise(s, &note);
}

/* Samples arrive only on change: without one, the values are unchanged. */
static void host_pressure_look(struct davy_step *s)
{
	struct davy_memory *m = &s->core->world.memory;
	struct davy_memory_device *d;

	if (s->ev->kind == DAVY_EV_FACT) {
		host_pressure_look_at_fact(s);
		return;
	}
	if (s->ev->kind == DAVY_EV_MEMORY) {
		d = davy_memory_device(m, s->ev->memory.device);
		if (d)
			host_pressure_judge(s, d);
		return;
	}
	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].device[0])
			host_pressure_judge(s, &m->devices[i]);
}

static void host_pressure_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->unit == DAVY_UNIT_PERMILLE)
		c->say(c,
		       "all tasks wait for memory %" PRIu64 ".%" PRIu64
		       " %% of the time (threshold %" PRIu64 " %%)",
		       p->observed / 10, p->observed % 10, p->threshold / 10);
	else if (p->form == DAVY_FORM_SUSPEND)
		c->say(c,
		       "%" PRIu64 " MiB of VRAM are in use, but host memory has room for only "
		       "%" PRIu64 " MiB in a runtime suspend (power/control is auto)",
		       p->observed >> 20, p->threshold >> 20);
	else if (p->evidence[0].kind == DAVY_EV_FACT)
		c->say(c, "%s: %" PRIu64 " MiB within 10 s (threshold %" PRIu64 " MiB)", p->detail,
		       p->observed >> 20, p->threshold >> 20);
	else if (p->form == DAVY_FORM_HINT)
		c->say(c,
		       "%" PRIu64 " MiB of the host's memory are available (threshold %" PRIu64
		       " MiB)",
		       p->observed >> 20, p->threshold >> 20);
	else
		c->say(c,
		       "%" PRIu64 " MiB of the memory that the GPU shares with the host are "
		       "available "
		       "(threshold %" PRIu64 " MiB)",
		       p->observed >> 20, p->threshold >> 20);
}

const struct davy_hazard_row davy_hazard_host_pressure = {
	.sees = DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_FACT),
	.look = host_pressure_look,
	.reason = host_pressure_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_DEVICE_LOST | DAVY_CAN_HANG |
			   DAVY_CAN_HOST_CRASH | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 1, { DAVY_ACTION_AWAKE }, DAVY_FORM_SUSPEND },
	.escalation[1] = { 2, { DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP } },
	.escalation[2] = { 3,
			   { DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP, DAVY_ACTION_SHRINK,
			     DAVY_ACTION_RESTART, DAVY_ACTION_STOP } },
	.escalation[3] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_HINT },
	.outlives_restart = true,
};
