/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: bytes that one process moves out of VRAM and back in, within a window; bytes that an
 *   owner loses to any process and moves back in, within a longer window.
 * Threshold: "bytes" out within "window" is level 1, again in the next window level 2. If also a
 *   quarter of it moves back in, it is thrash, level 3. It is also thrash if one owner moves
 *   "bytes" out and in within "thrash_window": evictions run in the evictor's context, moves back
 *   in the owner's. The subject is the evictor, whose allocation needs the room. The owner is the
 *   victim. Mutual eviction by two processes is one thrash.
 *   The mappings that an xe process lost count as bytes out, without an evictor: level 2 if the
 *   next window is full, too, and the process works.
 * False alarms: a free or a first placement is no move (distinguished in the BPF program). Loading
 *   a model evicts an idle one once: level 1 if it ends within two windows. Two models used in
 *   turn, minutes apart, are no thrash. A suspend empties the device in a process without memory on
 *   it (systemd-sleep, a kworker), possibly soon after its last work: level 1, unless the host
 *   lacks room.
 * Test: tests/unit/test_gpu_hazards.c, test_fact_hazards.c, tests/vm fire and fill.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>
#include <string.h>

static uint64_t eviction_storm_increase(uint64_t *seen, uint64_t now)
{
	uint64_t by = now >= *seen ? now - *seen : now; /* smaller: the counter restarted */

	*seen = now;
	return by;
}

static struct davy_moved_owner *eviction_storm_owner_of(struct davy_device_state *d, uint32_t pid,
							uint64_t now_ns)
{
	struct davy_moved_owner *victim = &d->owners[0];

	for (size_t i = 0; i < DAVY_MOVED_OWNERS; i++) {
		struct davy_moved_owner *o = &d->owners[i];

		if (o->window_ns && o->pid == pid)
			return o;
		if (o->window_ns < victim->window_ns)
			victim = o;
	}
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	victim->window_ns = now_ns ? now_ns : 1;
	return victim;
}

/* Adds a move. Returns true if the owner recently lost and got back too much. */
static bool eviction_storm_owner_thrashes(struct davy_step *s, struct davy_moved_owner *o,
					  uint64_t out, uint64_t in, uint64_t limit)
{
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);
	const char *device = s->ev->bo_moved.device;

	if (s->now_ns - o->window_ns >
	    davy_threshold_ns(s, DAVY_CFG_EVICTION_THRASH_MS, device, p)) {
		o->window_ns = s->now_ns;
		o->out_bytes = o->in_bytes = o->again_bytes = 0;
	}
	if (out)
		o->evictor_pid = s->ev->pid;
	o->again_bytes += out < o->in_bytes ? out : o->in_bytes;
	o->out_bytes += out;
	o->in_bytes += in;
	return o->out_bytes >= limit && o->in_bytes >= limit && o->again_bytes >= limit / 4;
}

/* One thrash alarm per device: while it is active, all participants keep it. */
static bool eviction_storm_thrash_stands(struct davy_step *s, const struct davy_device_state *d)
{
	return d->thrash_pid &&
	       davy_alarm_level(s, DAVY_HZ_EVICTION_STORM, d->thrash_pid, d->device, "") == 3;
}

static void eviction_storm_raise_thrash(struct davy_step *s, struct davy_device_state *d,
					const struct davy_moved_owner *o, uint64_t limit)
{
	const struct davy_process *p = davy_world_process(&s->core->world, o->evictor_pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_EVICTION_STORM, p);

	note.pid = d->thrash_pid = o->evictor_pid;
	davy_copy_name(note.device, sizeof(note.device), d->device);
	note.level = 3;
	note.unit = DAVY_UNIT_BYTES;
	note.observed = o->out_bytes;
	note.threshold = limit;
	note.victim_pid = o->pid;
	davy_plan_evidence(&note, o->window_ns, DAVY_EV_BO_MOVED, 1);
	davy_alarm_raise(s, &note);
}

static void eviction_storm_raise(struct davy_step *s, struct davy_mover_state *m, uint32_t level,
				 uint64_t limit)
{
	const struct davy_process *p = davy_world_process(&s->core->world, m->evictor_pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_EVICTION_STORM, p);

	note.pid = m->evictor_pid; /* 0: unknown */
	davy_copy_name(note.device, sizeof(note.device), m->device);
	note.level = (uint8_t)level;
	note.unit = DAVY_UNIT_BYTES;
	note.observed = m->window_out_bytes;
	note.threshold = limit;
	note.victim_pid = m->owner_pid;
	note.first_precursor_ns = m->first_precursor_ns;
	davy_alarm_raise(s, &note);
}

static void eviction_storm_next_window(struct davy_step *s, struct davy_mover_state *m,
				       uint64_t limit, uint64_t window_ns)
{
	if (s->now_ns - m->window_ns <= window_ns)
		return;
	if (m->window_out_bytes >= limit && s->now_ns - m->window_ns <= 2 * window_ns)
		m->full_windows++;
	else
		m->full_windows = 0;
	if (!m->full_windows) {
		m->first_precursor_ns = s->now_ns;
		m->run_bytes = 0;
	}
	m->window_ns = s->now_ns;
	m->window_out_bytes = m->window_in_bytes = 0;
}

/*
 * An evictor needs room and is a client. If the device has known clients but the evictor is none of
 * them, the kernel empties the device for a suspend (amdgpu 6.12, amdgpu_device_evict_resources).
 */
static bool eviction_storm_is_suspend(const struct davy_step *s, const struct davy_mover_state *m)
{
	const struct davy_process *p = davy_world_process(&s->core->world, m->evictor_pid);
	const struct davy_memory *memory = &s->core->world.memory;

	if (p && (p->engine != DAVY_ENGINE_NONE || p->device[0]))
		return false;
	return davy_memory_largest(memory, m->device) &&
	       !davy_memory_client_of(memory, m->evictor_pid, m->device);
}

/*
 * An idle model does not need its VRAM now. But its data moves to host memory, which may be full.
 */
static bool eviction_storm_missed(struct davy_step *s, const struct davy_mover_state *m)
{
	const struct davy_memory_device *d = davy_memory_device(&s->core->world.memory, m->device);
	uint64_t room = d ? d->now.host_available : 0;

	if (!m->full_windows)
		return false;
	if (room && m->run_bytes > room / 2)
		return true;
	return !davy_is_idle(s, m->owner_pid) && !eviction_storm_is_suspend(s, m);
}

/* Bytes are cumulative over "count" mappings; assumes that new ones have the mean size. */
static void eviction_storm_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);
	uint64_t limit = davy_threshold(s, DAVY_CFG_EVICTION_BYTES, in->device, p);
	struct davy_mover_state *m;
	uint64_t bytes;

	if (in->fact != DAVY_FACT_XE_VMA_EVICT || !in->count || in->fresh > in->count)
		return;
	bytes = in->bytes / in->count * in->fresh;
	m = davy_world_mover_get(&s->core->world, in->device, 0, s->ev->pid, s->now_ns);
	eviction_storm_next_window(
		s, m, limit, davy_threshold_ns(s, DAVY_CFG_EVICTION_WINDOW_MS, in->device, p));
	m->window_out_bytes += bytes;
	m->run_bytes += bytes;
	if (m->window_out_bytes >= limit)
		eviction_storm_raise(s, m, m->full_windows && !davy_is_idle(s, s->ev->pid) ? 2 : 1,
				     limit);
}

static void eviction_storm_look_at_move(struct davy_step *s)
{
	const struct davy_ev_bo_moved *in = &s->ev->bo_moved;
	const struct davy_process *p = davy_scoped_process(s, s->ev->pid);
	uint64_t limit = davy_threshold(s, DAVY_CFG_EVICTION_BYTES, in->device, p);
	uint64_t window_ns = davy_threshold_ns(s, DAVY_CFG_EVICTION_WINDOW_MS, in->device, p);
	struct davy_device_state *d = davy_world_device_get(&s->core->world, in->device, s->now_ns);
	struct davy_moved_owner *o = eviction_storm_owner_of(d, in->owner_pid, s->now_ns);
	uint64_t out_bytes, in_bytes;
	struct davy_mover_state *m;
	bool thrashes;

	m = davy_world_mover_get(&s->core->world, in->device, s->ev->pid, in->owner_pid, s->now_ns);
	eviction_storm_next_window(s, m, limit, window_ns);
	out_bytes = eviction_storm_increase(&m->out_bytes, in->out_bytes);
	in_bytes = eviction_storm_increase(&m->in_bytes, in->in_bytes);
	m->window_out_bytes += out_bytes;
	m->run_bytes += out_bytes;
	m->window_in_bytes += in_bytes;
	thrashes = eviction_storm_owner_thrashes(s, o, out_bytes, in_bytes, limit);
	if (eviction_storm_thrash_stands(s, d)) {
		if (o->out_bytes + o->in_bytes >= limit || m->window_out_bytes >= limit)
			davy_alarm_keep(s, DAVY_HZ_EVICTION_STORM, d->thrash_pid, d->device, "");
		return;
	}
	if (thrashes) {
		eviction_storm_raise_thrash(s, d, o, limit);
		return;
	}
	if (m->window_out_bytes < limit)
		return;
	if (m->window_in_bytes >= limit / 4)
		d->thrash_pid = m->evictor_pid;
	eviction_storm_raise(s, m,
			     m->window_in_bytes >= limit / 4 ? 3
			     : eviction_storm_missed(s, m)   ? 2
							     : 1,
			     limit);
}

static void eviction_storm_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_FACT)
		eviction_storm_look_at_fact(s);
	else
		eviction_storm_look_at_move(s);
}

static void eviction_storm_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "moved %" PRIu64 " MiB out of VRAM (threshold %" PRIu64 " MiB)%s",
	       p->observed >> 20, p->threshold >> 20,
	       p->level == 3 ? " and back in (thrashing)" : "");
	if (p->victim_pid)
		c->say(c, ", owned by pid %u", p->victim_pid);
}

const struct davy_hazard_row davy_hazard_eviction_storm = {
	.sees = DAVY_SEES(DAVY_EV_BO_MOVED) | DAVY_SEES(DAVY_EV_FACT),
	.look = eviction_storm_look,
	.reason = eviction_storm_reason,
	.precursor.leads =
		DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_HANG | DAVY_CAN_PAGE_FAULT | DAVY_CAN_GPU_RESET,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	/* a throttled process evicts less, in proportion to its duty */
	.escalation[0] = { 2, { DAVY_ACTION_PAUSE, DAVY_ACTION_THROTTLE, DAVY_ACTION_THROTTLE } },
	.escalation[1] = { 3,
			   { DAVY_ACTION_PAUSE, DAVY_ACTION_THROTTLE, DAVY_ACTION_THROTTLE,
			     DAVY_ACTION_UNLOAD, DAVY_ACTION_CAP, DAVY_ACTION_SHRINK } },
	.shortage = DAVY_SHORT_OF_MEMORY,
	.names_culprit = true,
};
