/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: KFD stops a process's queues because its memory is needed (SMI events,
 *   kfd_process_evict_queues), and the part of the time for which they are stopped (evicted_ms).
 * Threshold: "count" evictions within "window" are level 2, three times as many level 3: each costs
 *   100 ms or more until the restore worker runs (kfd_process.c). A part above "share" in two
 *   samples is level 2, above "share3" level 3. The subject is the process that needs the memory,
 *   if known. The owner of the stopped queues is the victim.
 * False alarms: a suspend or a checkpoint (CRIU) also stops queues: their triggers and the samples
 *   during them do not count. A single eviction makes room for a model once.
 * Test: tests/unit/test_kfd_hazards.c.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#define TRIGGER_SUSPEND 3    /* enum KFD_QUEUE_EVICTION_TRIGGERS of kfd_ioctl.h; 4 and 5: CRIU */
#define ERROR_IO	(-5) /* the queues stopped anyway; other failures were rolled back */
#define SAMPLE_NS	DAVY_NS_PER_S
#define SAMPLES		2

struct finding {
	const char *device;
	uint32_t level;
	uint32_t unit;
	uint64_t observed;
	uint64_t threshold;
	uint64_t first_ns;
};

/* Threshold for the owner of the queues and its device. */
static uint64_t queue_thrash_limit(const struct davy_step *s, enum davy_config_key key,
				   const char *device)
{
	return davy_threshold(s, key, device, davy_scoped_process(s, s->ev->pid));
}

static uint64_t queue_thrash_window_ns(const struct davy_step *s, const char *device)
{
	return queue_thrash_limit(s, DAVY_CFG_THRASH_WINDOW_MS, device) * DAVY_NS_PER_MS;
}

/* The process that recently moved most of "pid"'s memory out of that device; 0: none seen. */
static uint32_t queue_thrash_mover(const struct davy_step *s, const char *device, uint32_t pid)
{
	const struct davy_world *w = &s->core->world;
	const struct davy_mover_state *worst = NULL;
	uint64_t within_ns = queue_thrash_window_ns(s, device);

	for (size_t i = 0; i < DAVY_WORLD_MOVERS; i++) {
		const struct davy_mover_state *m = &w->movers[i];

		if (m->owner_pid != pid || !m->evictor_pid || m->evictor_pid == pid ||
		    s->now_ns - m->used_ns > within_ns ||
		    (device[0] && !davy_same_name(m->device, device)))
			continue;
		if (!worst || m->window_out_bytes > worst->window_out_bytes)
			worst = m;
	}
	return worst ? worst->evictor_pid : 0;
}

static uint32_t queue_thrash_evictor(struct davy_step *s, const char *device, uint32_t pid)
{
	const struct davy_kfd_state *k = davy_world_kfd(&s->core->world, pid);

	if (k && k->evictor_pid && s->now_ns - k->evictor_ns <= queue_thrash_window_ns(s, device))
		return k->evictor_pid;
	return queue_thrash_mover(s, device, pid);
}

static void queue_thrash_raise(struct davy_step *s, const struct finding *f)
{
	uint32_t pid = s->ev->pid, evictor = pid ? queue_thrash_evictor(s, f->device, pid) : 0;
	const struct davy_process *p = davy_world_process(&s->core->world, evictor ? evictor : pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_QUEUE_THRASH, p);

	if (evictor) {
		note.pid = evictor;
		note.victim_pid = pid;
	}
	if (f->device[0])
		davy_copy_name(note.device, sizeof(note.device), f->device);
	note.level = (uint8_t)f->level;
	note.unit = (uint8_t)f->unit;
	note.observed = f->observed;
	note.threshold = f->threshold;
	if (f->first_ns < note.first_precursor_ns)
		note.first_precursor_ns = f->first_ns;
	davy_alarm_raise(s, &note);
}

static void queue_thrash_evicted(struct davy_step *s, enum davy_tally_kind kind, const char *device,
				 uint32_t trigger)
{
	uint64_t count = queue_thrash_limit(s, DAVY_CFG_THRASH_COUNT, device);
	struct finding f = { .device = device, .unit = DAVY_UNIT_COUNT, .threshold = count };
	struct davy_kfd_state *k;
	struct davy_tally *t;

	if (trigger >= TRIGGER_SUSPEND) {
		k = davy_world_kfd_get(&s->core->world, device, s->ev->pid, s->now_ns);
		k->excused_ns = s->now_ns;
		return;
	}
	t = davy_world_tally(&s->core->world, kind, device, s->ev->pid, s->now_ns,
			     queue_thrash_window_ns(s, device));
	t->count++;
	if (t->count < count)
		return;
	f.level = t->count >= 3 * count ? 3 : 2;
	f.observed = t->count;
	f.first_ns = t->window_ns;
	queue_thrash_raise(s, &f);
}

static void queue_thrash_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct davy_world *w = &s->core->world;
	struct davy_kfd_state *k = davy_world_kfd(w, s->ev->pid);

	if (in->fact == DAVY_FACT_KFD_QUEUES_EVICTED && (!in->error || in->error == ERROR_IO))
		queue_thrash_evicted(s, DAVY_TALLY_EVICTED, k ? k->device : "", in->detail);
	if (in->fact != DAVY_FACT_KFD_EVICTION_FENCE || !k || in->by_pid == s->ev->pid ||
	    !davy_world_process(w, in->by_pid))
		return; /* a kernel worker may evict for any process */
	k->evictor_pid = in->by_pid;
	k->evictor_ns = s->now_ns;
}

/* Compares consecutive counters, at least one second apart. */
static void queue_thrash_look_at_use(struct davy_step *s)
{
	const struct davy_ev_kfd_use *in = &s->ev->kfd_use;
	struct davy_kfd_state *k =
		davy_world_kfd_get(&s->core->world, in->device, s->ev->pid, s->now_ns);
	struct finding f = { .device = in->device, .unit = DAVY_UNIT_PERMILLE };
	uint64_t passed_ms = (s->now_ns - k->sample_ns) / DAVY_NS_PER_MS, still_ms;
	uint64_t since_ns = k->sample_ns;

	if (since_ns && s->now_ns - since_ns < SAMPLE_NS)
		return;
	still_ms = in->evicted_ms > k->evicted_ms ? in->evicted_ms - k->evicted_ms : 0;
	k->sample_ns = s->now_ns;
	k->evicted_ms = in->evicted_ms;
	if (!since_ns || k->excused_ns >= since_ns || in->gone)
		return;
	if (still_ms > passed_ms)
		still_ms = passed_ms;
	f.observed = still_ms * 1000 / passed_ms;
	f.threshold = queue_thrash_limit(s, DAVY_CFG_THRASH_SHARE, in->device);
	f.first_ns = since_ns;
	k->still_count = f.observed >= f.threshold ? k->still_count + 1 : 0;
	if (k->still_count < SAMPLES)
		return;
	f.level = 2;
	if (f.observed >= queue_thrash_limit(s, DAVY_CFG_THRASH_SHARE3, in->device)) {
		f.level = 3;
		f.threshold = queue_thrash_limit(s, DAVY_CFG_THRASH_SHARE3, in->device);
	}
	queue_thrash_raise(s, &f);
}

static void queue_thrash_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_FACT)
		queue_thrash_look_at_fact(s);
	else if (s->ev->kind == DAVY_EV_KFD_USE)
		queue_thrash_look_at_use(s);
	else if (s->ev->kfd.event == DAVY_KFD_QUEUES_EVICTED)
		queue_thrash_evicted(s, DAVY_TALLY_EVICTED_SMI, s->ev->kfd.device,
				     s->ev->kfd.trigger);
}

static void queue_thrash_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->unit == DAVY_UNIT_PERMILLE)
		c->say(c,
		       "compute queues were stopped for %" PRIu64 ".%" PRIu64
		       " %% of the time (threshold %" PRIu64 ".%" PRIu64 " %%)",
		       p->observed / 10, p->observed % 10, p->threshold / 10, p->threshold % 10);
	else
		c->say(c,
		       "compute queues were stopped %" PRIu64
		       " times within the window (threshold %" PRIu64 ")",
		       p->observed, p->threshold);
	if (p->victim_pid)
		c->say(c, "; they belong to pid %u, whose memory this process evicts",
		       p->victim_pid);
}

const struct davy_hazard_row davy_hazard_queue_thrash = {
	.sees = DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) | DAVY_SEES(DAVY_EV_KFD_USE),
	.look = queue_thrash_look,
	.reason = queue_thrash_reason,
	.precursor.leads = DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_NOT_ANSWER | DAVY_CAN_PAGE_FAULT,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_THROTTLE, DAVY_ACTION_THROTTLE } },
	.names_culprit = true,
	.subject_suffers = true,
};
