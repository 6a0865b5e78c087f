/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: VRAM is full and requests for VRAM get GTT: GTT jumps, a client has bytes outside VRAM
 *   that belong in VRAM (amd-evicted-vram), or the driver places buffers in GTT that prefer VRAM
 *   (DAVY_FACT_VRAM_SPILL).
 * Threshold: level 2 if the smaller of "bytes" and "share" of VRAM spills within "window", VRAM
 *   is at "full" or has less than "headroom", and both still hold a second later. Level 3 if the
 *   speed (tokens, otherwise graphs) of an engine on the device falls below "collapse" of its
 *   usual speed: during such a spill, or if GTT has grown as much slowly since VRAM became full.
 *   Level 2 for half of that fall. The alarm stays while half of the jump remains. Level 2 is
 *   acted on after 10 s without a pause, and not if another process took the room. In that case
 *   a spill is level 1 until the speed falls, if the engine reports its work.
 * False alarms: GTT that grows while VRAM is not full (layers kept on the CPU), or due to a
 *   process that is still loading and has nothing evicted; a device that shares host memory; a
 *   runtime suspend (VRAM moves to GTT and is not full a second later). Two models that take
 *   turns: one that is evicted while the other loads, and comes back with its next request, is
 *   level 1.
 * Test: tests/unit/test_silent_spill.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>
#include <string.h>

#define CONFIRM_NS DAVY_NS_PER_S
#define RETURN_NS  (5 * DAVY_NS_PER_S) /* a model of 16 GB needs 3 s over PCIe 3.0 x8 */
#define GREW_NS	   (15 * DAVY_NS_PER_S)
#define WORKS_NS   (10 * DAVY_NS_PER_S)
#define SEEP_PART  4  /* a spill of this part of a jump stops learning the usual speed */
#define HOLD_FULL  50 /* permille below "full" at which VRAM still counts as full */

/* The process that spills, otherwise the largest one, if its model may have its own thresholds. */
static const struct davy_process *silent_spill_spiller(const struct davy_step *s,
						       const struct davy_memory_device *d)
{
	const struct davy_memory_client *c;

	if (!s->core->config.override_count)
		return NULL;
	if (d->spill.pid)
		return davy_scoped_process(s, d->spill.pid);
	c = davy_memory_spiller(&s->core->world.memory, d->device);
	c = c ? c : davy_memory_largest(&s->core->world.memory, d->device);
	return c ? davy_scoped_process(s, c->pid) : NULL;
}

static bool silent_spill_full(const struct davy_step *s, const struct davy_memory_device *d,
			      const struct davy_process *p, uint64_t slack)
{
	uint64_t headroom = davy_threshold(s, DAVY_CFG_SPILL_HEADROOM, d->device, p), left;
	uint64_t permille = davy_threshold(s, DAVY_CFG_SPILL_FULL, d->device, p);
	const struct davy_ev_memory *m = &d->now;

	if ((m->flags & DAVY_MEMORY_SHARED) || !m->vram_total)
		return false;
	permille = permille > slack ? permille - slack : 0;
	left = m->vram_total > m->vram_used ? m->vram_total - m->vram_used : 0;
	if (headroom > m->vram_total / 10)
		headroom = m->vram_total / 10; /* "headroom" may exceed a small VRAM */
	return left <= m->vram_total / 1000 * (1000 - permille) || left < headroom;
}

static uint64_t silent_spill_jump(const struct davy_step *s, const struct davy_memory_device *d,
				  const struct davy_process *p)
{
	uint64_t bytes = davy_threshold(s, DAVY_CFG_SPILL_BYTES, d->device, p);
	uint64_t share =
		d->now.vram_total / 1000 * davy_threshold(s, DAVY_CFG_SPILL_SHARE, d->device, p);

	bytes = share < bytes ? share : bytes;
	return bytes ? bytes : 1;
}

/* How much GTT has grown since VRAM became full, fast or slowly. */
static uint64_t silent_spill_seeped(const struct davy_memory_device *d)
{
	return d->spill.full && d->now.gtt_used > d->spill.seep_from
		       ? d->now.gtt_used - d->spill.seep_from
		       : 0;
}

/* "full": VRAM is full still, and a slow spill goes on. */
static void silent_spill_forget(struct davy_step *s, struct davy_memory_device *d, bool full)
{
	struct davy_spill was = d->spill;

	s->core->world.memory.spilling -= was.found_ns != 0;
	memset(&d->spill, 0, sizeof(d->spill));
	if (!full)
		return;
	d->spill.full = was.full;
	d->spill.seep_from = was.seep_from;
}

static void silent_spill_found(struct davy_step *s, struct davy_memory_device *d, uint64_t bytes,
			       uint32_t pid, bool of_client)
{
	struct davy_spill *p = &d->spill;

	if (p->raised)
		return;
	if (pid && !p->pid) {
		p->pid = pid;
		p->of_client = of_client;
	}
	if (p->found_ns)
		return;
	s->core->world.memory.spilling++;
	p->found_ns = s->now_ns ? s->now_ns : 1;
	p->bytes = bytes;
	p->gtt_before = p->gtt.last - davy_low_rise(&p->gtt);
}

/* The minimum of GTT counts from the time when VRAM became full: earlier use is no spill. */
static void silent_spill_look_at_memory(struct davy_step *s)
{
	struct davy_memory_device *d =
		davy_memory_device(&s->core->world.memory, s->ev->memory.device);
	const struct davy_process *p = d ? silent_spill_spiller(s, d) : NULL;

	if (!d)
		return;
	if (!silent_spill_full(s, d, p, d->spill.raised ? HOLD_FULL : 0)) {
		if (!d->spill.raised)
			silent_spill_forget(s, d, false);
		return;
	}
	if (!d->spill.full || d->now.gtt_used < d->spill.seep_from)
		d->spill.seep_from = d->now.gtt_used;
	d->spill.full = 1;
	davy_low_add(&d->spill.gtt, s->now_ns, d->now.gtt_used,
		     davy_threshold_ns(s, DAVY_CFG_SPILL_WINDOW_MS, d->device, p));
	if (d->now.gtt_total && davy_low_rise(&d->spill.gtt) >= silent_spill_jump(s, d, p))
		silent_spill_found(s, d, davy_low_rise(&d->spill.gtt), 0, false);
}

static void silent_spill_look_at_client(struct davy_step *s)
{
	struct davy_memory_device *d =
		davy_memory_device(&s->core->world.memory, s->ev->client.device);
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);
	const struct davy_memory_client *c;
	uint64_t jump;

	if (!d || !s->ev->client.evicted || !silent_spill_full(s, d, p, 0))
		return;
	c = davy_memory_client_of(&s->core->world.memory, s->ev->pid, d->device);
	jump = silent_spill_jump(s, d, p);
	if (c && davy_low_rise(&c->evicted) >= jump)
		silent_spill_found(s, d, davy_low_rise(&c->evicted), s->ev->pid, true);
}

/* Bytes are cumulative over "count" buffers; assumes that new buffers have the mean size. */
static void silent_spill_look_at_fact(struct davy_step *s)
{
	const struct davy_process *owner = davy_scoped_process(s, s->ev->pid);
	const struct davy_ev_fact *in = &s->ev->fact;
	struct davy_memory_device *d;
	struct davy_spill *p;

	if (in->fact != DAVY_FACT_VRAM_SPILL || !in->count)
		return;
	d = davy_memory_device(&s->core->world.memory, in->device);
	if (!d || !silent_spill_full(s, d, owner, 0))
		return;
	p = &d->spill;
	if (s->now_ns - p->wanted_ns >
	    davy_threshold_ns(s, DAVY_CFG_SPILL_WINDOW_MS, d->device, owner)) {
		p->wanted_ns = s->now_ns;
		p->wanted = 0;
	}
	if (in->fresh <= in->count)
		p->wanted += in->bytes / in->count * in->fresh;
	if (p->wanted >= silent_spill_jump(s, d, owner))
		silent_spill_found(s, d, p->wanted, s->ev->pid, true);
	if (s->ev->pid == p->pid)
		p->asked_ns = s->now_ns;
}

static uint64_t silent_spill_evicted(struct davy_step *s, const struct davy_memory_device *d,
				     uint32_t pid)
{
	const struct davy_memory_client *c =
		davy_memory_client_of(&s->core->world.memory, pid, d->device);

	return c ? c->evicted.last : 0;
}

static bool silent_spill_remains(struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_spill *p = &d->spill;

	if (!silent_spill_full(s, d, silent_spill_spiller(s, d), p->raised ? HOLD_FULL : 0))
		return false;
	if (p->of_client && silent_spill_evicted(s, d, p->pid) >= p->bytes / 2)
		return true;
	return d->now.gtt_used >= p->gtt_before + p->bytes / 2;
}

static void silent_spill_raise(struct davy_step *s, const struct davy_memory_device *d,
			       uint32_t level, enum davy_unit unit, uint64_t observed,
			       uint64_t threshold)
{
	const struct davy_process *p = davy_world_process(&s->core->world, d->spill.pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_SILENT_SPILL, p);

	note.pid = d->spill.pid;
	davy_copy_name(note.device, sizeof(note.device), d->device);
	note.level = (uint8_t)level;
	note.unit = (uint8_t)unit;
	note.observed = observed;
	note.threshold = threshold;
	if (d->spill.pressed)
		note.form = DAVY_FORM_HINT;
	if (unit == DAVY_UNIT_PERMILLE && s->ev->pid != note.pid)
		note.victim_pid = s->ev->pid;
	davy_plan_evidence(&note, d->spill.found_ns,
			   d->spill.of_client ? DAVY_EV_CLIENT : DAVY_EV_MEMORY, 1);
	davy_alarm_raise(s, &note);
}

/*
 * A model that was evicted for another one is only level 1: until it gets requests again, and then
 * for the time in which its memory comes back.
 */
static bool silent_spill_hurts(struct davy_step *s, struct davy_memory_device *d)
{
	struct davy_spill *p = &d->spill;
	uint64_t evicted, worked_ns;

	if (!p->of_client || !davy_world_process(&s->core->world, p->pid))
		return true;
	evicted = silent_spill_evicted(s, d, p->pid);
	p->evicted = evicted > p->evicted ? evicted : p->evicted;
	worked_ns = davy_worked_ns(s, p->pid);
	worked_ns = p->asked_ns > worked_ns ? p->asked_ns : worked_ns;
	if (worked_ns < p->found_ns + CONFIRM_NS || s->now_ns - worked_ns > WORKS_NS) {
		p->returns_ns = 0;
		return false;
	}
	if (evicted == p->evicted)
		return true;
	if (!p->returns_ns)
		p->returns_ns = s->now_ns;
	return s->now_ns - p->returns_ns >= RETURN_NS;
}

/*
 * Another program took the room, as a game does: the driver evicts what is used least, and nothing
 * fails. What that costs, the model's speed tells (silent_spill_look_at_pace), if it is reported.
 */
static bool silent_spill_waits_for_pace(struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_process *p = davy_world_process(&s->core->world, d->spill.pid);

	return d->spill.pressed && p && (p->life.progress_ns || p->graph.graph_count);
}

static void silent_spill_report(struct davy_step *s, struct davy_memory_device *d)
{
	bool hurts = silent_spill_hurts(s, d) && !silent_spill_waits_for_pace(s, d);

	silent_spill_raise(s, d, hurts ? 2 : 1, DAVY_UNIT_BYTES, d->spill.bytes,
			   silent_spill_jump(s, d, silent_spill_spiller(s, d)));
}

/* A game that starts beside an idle model; NVIDIA's and AMD's drivers evict what is used least. */
static bool silent_spill_is_pressed(struct davy_step *s, const struct davy_memory_device *d)
{
	const struct davy_memory_client *c =
		davy_memory_grower(&s->core->world.memory, d->device, s->now_ns, GREW_NS);

	return c && d->spill.pid && c->pid != d->spill.pid &&
	       c->bytes - c->from >= d->spill.bytes / 2;
}

static void silent_spill_confirm(struct davy_step *s, struct davy_memory_device *d)
{
	struct davy_spill *p = &d->spill;
	const struct davy_memory_client *c;

	if (!silent_spill_remains(s, d)) {
		silent_spill_forget(s, d, true);
		return;
	}
	if (!p->pid) {
		c = davy_memory_spiller(&s->core->world.memory, d->device);
		if (c && !c->evicted.last && !davy_memory_settled(c, s->now_ns)) {
			silent_spill_forget(s, d, true); /* a load that requested GTT */
			return;
		}
		p->pid = c ? c->pid : 0;
	}
	p->raised = 1;
	p->pressed = silent_spill_is_pressed(s, d);
	silent_spill_report(s, d);
}

static void silent_spill_look_at_tick(struct davy_step *s)
{
	struct davy_memory *m = &s->core->world.memory;

	for (size_t i = 0; m->spilling && i < m->device_count; i++) {
		struct davy_memory_device *d = &m->devices[i];
		struct davy_spill *p = &d->spill;

		if (!p->found_ns)
			continue;
		if (!p->raised && s->now_ns - p->found_ns >= CONFIRM_NS)
			silent_spill_confirm(s, d);
		else if (p->raised && silent_spill_remains(s, d))
			silent_spill_report(s, d);
		else if (p->raised)
			silent_spill_forget(s, d, true);
	}
}

/* A spill that was too slow to be found, and that an engine now pays for. */
static void silent_spill_found_by_pace(struct davy_step *s, struct davy_memory_device *d,
				       uint64_t seeped)
{
	const struct davy_memory_client *c = davy_memory_spiller(&s->core->world.memory, d->device);

	if (d->spill.raised)
		return;
	silent_spill_found(s, d, seeped, c ? c->pid : 0, false);
	d->spill.gtt_before = d->spill.seep_from;
	d->spill.bytes = seeped;
	d->spill.raised = 1;
}

static void silent_spill_look_at_pace(struct davy_step *s)
{
	struct davy_world *w = &s->core->world;
	const struct davy_process *p = davy_world_process(w, s->ev->pid);
	uint64_t collapse, sag, jump = 0, seeped = 0;
	struct davy_memory_device *d;
	uint32_t pace;

	if (!p || p->engine == DAVY_ENGINE_NONE)
		return;
	collapse = davy_threshold(s, DAVY_CFG_SPILL_COLLAPSE, NULL, p);
	sag = (1000 + collapse) / 2;
	d = davy_memory_device(&w->memory, p->device);
	if (d && d->spill.full) {
		jump = silent_spill_jump(s, d, silent_spill_spiller(s, d));
		seeped = silent_spill_seeped(d);
	}
	pace = davy_pace_take(&w->paces, s->ev,
			      !d || !(d->spill.found_ns || seeped > jump / SEEP_PART),
			      (uint32_t)sag);
	if (!d || pace >= sag || !(d->spill.raised || (jump && seeped >= jump)))
		return;
	silent_spill_found_by_pace(s, d, seeped);
	silent_spill_raise(s, d, pace < collapse ? 3 : 2, DAVY_UNIT_PERMILLE, pace,
			   pace < collapse ? collapse : sag);
}

static void silent_spill_look(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_MEMORY:
		silent_spill_look_at_memory(s);
		break;
	case DAVY_EV_CLIENT:
		silent_spill_look_at_client(s);
		break;
	case DAVY_EV_FACT:
		silent_spill_look_at_fact(s);
		break;
	case DAVY_EV_TICK:
		silent_spill_look_at_tick(s);
		break;
	default:
		silent_spill_look_at_pace(s);
		break;
	}
}

static void silent_spill_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->unit == DAVY_UNIT_BYTES)
		c->say(c,
		       "has %" PRIu64 " MiB in GTT that do not fit into VRAM (threshold %" PRIu64
		       " MiB)",
		       p->observed >> 20, p->threshold >> 20);
	else
		c->say(c,
		       "VRAM spills into GTT and pid %u works at %" PRIu64
		       " %% of its usual pace (threshold %" PRIu64 " %%)",
		       p->victim_pid ? p->victim_pid : p->pid, p->observed / 10, p->threshold / 10);
}

const struct davy_hazard_row davy_hazard_silent_spill = {
	.sees = DAVY_SEES(DAVY_EV_MEMORY) | DAVY_SEES(DAVY_EV_CLIENT) | DAVY_SEES(DAVY_EV_FACT) |
		DAVY_SEES(DAVY_EV_GRAPH) | DAVY_SEES(DAVY_EV_PROGRESS) | DAVY_SEES(DAVY_EV_TICK),
	.look = silent_spill_look,
	.reason = silent_spill_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_NOT_ANSWER | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	/* an engine that pages its layers takes them back sooner (ComfyUI --lowvram) */
	.escalation[0] = { 2,
			   { DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP, DAVY_ACTION_SHRINK },
			   .wait_s = 10 },
	.escalation[1] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_HINT },
	.escalation[2] = { 3, { DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP, DAVY_ACTION_SHRINK } },
	.shortage = DAVY_SHORT_OF_MEMORY,
};
