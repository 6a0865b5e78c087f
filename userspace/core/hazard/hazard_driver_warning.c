/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: precursors in the kernel log that no other hazard covers: a firmware scheduler without
 *   response, late jobs and fences, a stuck kernel, a host out of memory, a leaking VM. The
 *   table below lists the kinds.
 * Threshold: one line. The level is its weight (log_kind.c) unless the table has another. The
 *   alarm stays while the line is repeated. The third WARN() of a driver in ten minutes is level
 *   2. So is the first fence in half a day that amdgpu's timer found, and the first of some lines
 *   while an engine computes: a spurious PME, a hogging worker, an oversubscribed runlist, pages
 *   that were not there although memory is available. Such a fence is level 3 the third time in
 *   ten minutes, and within "again" after a reset. An expired fence of i915 is level 3 only while
 *   an engine may wait for it. Lines about memory are level 1 while an eighth of the host's is
 *   available: a cgroup is at its limit. A process that is there 10 s after NVIDIA's driver
 *   removed its channels (Xid 43, 45) is level 2.
 * Actions: from level 3 on, each engine on the device moves to the CPU; from level 2 on if the
 *   kernel itself is about to hang, because nothing can move then. Not for a driver's WARN().
 * False alarms: messages of a recovering driver are consequences and are ignored. A driver's
 *   WARN() and a VM leak are hints, level 1. A guest whose card loses an interrupt at times. Large
 *   blocks of pages, which callers do without.
 * Test: tests/unit/test_hardware.c, test_doubt.c. The table lists lead times from field reports.
 */
#include "core/hazard/hazards.h"

#define BY_WEIGHT    0
#define OFTEN	     3
#define FENCE_NS     (5 * DAVY_NS_PER_S)
#define COMPUTES_NS  (60 * DAVY_NS_PER_S)
#define COSTLY_ORDER 3 /* PAGE_ALLOC_COSTLY_ORDER: callers expect that larger blocks fail */
#define OFTEN_NS     (600 * DAVY_NS_PER_S)

static const struct {
	uint16_t kind;
	uint8_t level;
} kinds[] = {
	{ DAVY_LOG_FENCE_FALLBACK, 1 },	    /* 4 to 7 min before a job timed out */
	{ DAVY_LOG_I915_FENCE_EXPIRED, 3 }, /* 8 s before GPU HANG */
	{ DAVY_LOG_VM_LEAK, 1 },	    /* 25 h before a freeze: restart at a convenient time */
	{ DAVY_LOG_SMU_BUSY, BY_WEIGHT },   /* 9 s before the PSP failed */
	{ DAVY_LOG_KILLED_ENTITY, BY_WEIGHT }, /* 125 to 245 s before the report of a hung task */
	{ DAVY_LOG_WORKER_HOGGED, BY_WEIGHT }, /* 17 s before a fault (amd-ev-001) */
	{ DAVY_LOG_PME_SPURIOUS, BY_WEIGHT },  /* 8 min before a host stood still (amd-hang-001) */
	{ DAVY_LOG_SMU_FAILED, BY_WEIGHT },
	{ DAVY_LOG_KIQ_TIMEOUT, BY_WEIGHT },
	{ DAVY_LOG_MES_FAILED, BY_WEIGHT },
	{ DAVY_LOG_QUEUE_CREATE_FAILED, BY_WEIGHT },
	{ DAVY_LOG_QUEUE_EVICT_FAILED, BY_WEIGHT },
	{ DAVY_LOG_QUIESCE_FAILED, BY_WEIGHT },
	{ DAVY_LOG_XE_TLB_TIMEOUT, BY_WEIGHT },
	{ DAVY_LOG_XE_GUC_SILENT, BY_WEIGHT },
	{ DAVY_LOG_I915_NO_REPLY, BY_WEIGHT },
	{ DAVY_LOG_ILLEGAL_OPCODE, BY_WEIGHT },
	{ DAVY_LOG_DISPLAY_STALLED, BY_WEIGHT },
	{ DAVY_LOG_NV_PROGRESS, BY_WEIGHT },
	{ DAVY_LOG_NV_MISMATCH, BY_WEIGHT },
	{ DAVY_LOG_IP_DUMP_UNFINISHED, BY_WEIGHT },
	{ DAVY_LOG_RCU_STALL, BY_WEIGHT },
	{ DAVY_LOG_IOMMU_STUCK, BY_WEIGHT },
	{ DAVY_LOG_DRIVER_WARNING, BY_WEIGHT },
	{ DAVY_LOG_I915_PURGED, BY_WEIGHT },
	{ DAVY_LOG_OOM_INVOKED, BY_WEIGHT },
	{ DAVY_LOG_PAGE_ALLOC_FAILED, BY_WEIGHT },
	{ DAVY_LOG_OVERSUBSCRIBED, BY_WEIGHT }, /* 0.4 s before a fault or a queue is refused */
	{ DAVY_LOG_MEMORY_REPORT, BY_WEIGHT },
};

/* Xids after which a process has lost channels: 43 after its own error, 45 at its end */
#define XID_CHANNEL_RESET   43
#define XID_CHANNEL_REMOVED 45
#define ENDS_NS		    (10 * DAVY_NS_PER_S) /* a process that is killed ends in that time */

static uint32_t driver_warning_level_of(const struct davy_ev_log *l)
{
	uint32_t weight = l->weight < 1 ? 1 : l->weight > 3 ? 3 : l->weight;

	if (l->role != DAVY_PART_PRECURSOR)
		return 0;
	if (l->kind == DAVY_LOG_XID) /* Xid 32: invalid pushbuffer */
		return l->hazard == DAVY_LOG_HZ_JOB_STALL ? weight : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == l->kind)
			return kinds[i].level == BY_WEIGHT ? weight : kinds[i].level;
	return 0;
}

static bool driver_warning_is_frequent(struct davy_step *s, enum davy_tally_kind kind)
{
	const struct davy_ev_log *l = &s->ev->log;
	struct davy_tally *t =
		davy_world_tally(&s->core->world, kind, l->device, 0, s->now_ns, OFTEN_NS);

	t->count += 1 + (uint64_t)l->repeats;
	return t->count >= OFTEN;
}

/*
 * An interrupt was lost, and amdgpu_fence_fallback() has found the fence half a second later: the
 * driver goes on, and some guests with a card by passthrough live with it. Not if interrupts are
 * lost again and again (QubesOS/qubes-issues#7971: each half second), or after a reset: 84 s after
 * a first one, 7 min before the fatal one (amd-vk-002).
 */
static bool driver_warning_loses_interrupts(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;
	const struct davy_device_state *d = davy_world_device(&s->core->world, l->device);
	uint64_t again_ns = davy_threshold_ns(s, DAVY_CFG_RESET_AGAIN_MS, l->device, NULL);

	return driver_warning_is_frequent(s, DAVY_TALLY_FALLBACK) ||
	       (d && d->reset_ns && s->now_ns - d->reset_ns <= again_ns);
}

/* The kernel's lines about a cgroup at its limit are the same; the host has memory then. */
static bool driver_warning_has_room(const struct davy_step *s)
{
	const struct davy_memory *m = &s->core->world.memory;

	for (size_t i = 0; i < m->device_count; i++)
		if (m->devices[i].device[0] && m->devices[i].now.host_total)
			return m->devices[i].now.host_available > m->devices[i].now.host_total / 8;
	return false;
}

/*
 * True if an engine may wait for an expired fence: its graph is in flight, or nothing is known of
 * its graphs. On another host 585 of them came while the engine worked or was idle.
 */
static bool driver_warning_waits(struct davy_step *s, const char *device)
{
	const struct davy_process *p;
	size_t at = 0;

	while ((p = davy_world_process_next(&s->core->world, &at)))
		if (p->engine != DAVY_ENGINE_NONE && davy_same_name(p->device, device) &&
		    (!p->graph.graph_count ||
		     (p->graph.entered_ns && s->now_ns - p->graph.entered_ns > FENCE_NS)))
			return true;
	return false;
}

/* Usual on a host that is busy with other things, and then not new. */
static bool driver_warning_is_new(struct davy_step *s)
{
	uint16_t kind = s->ev->log.kind;

	return (kind == DAVY_LOG_WORKER_HOGGED || kind == DAVY_LOG_PME_SPURIOUS ||
		kind == DAVY_LOG_FENCE_FALLBACK || kind == DAVY_LOG_OVERSUBSCRIBED ||
		(kind == DAVY_LOG_PAGE_ALLOC_FAILED && s->ev->log.code <= COSTLY_ORDER)) &&
	       davy_world_line_is_new(&s->core->world, kind, s->now_ns) &&
	       (kind == DAVY_LOG_FENCE_FALLBACK || davy_engine_computes(s, "", COMPUTES_NS));
}

/* The level of the line, given what the agent knows of the host. */
static uint32_t driver_warning_level(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;
	uint32_t level = driver_warning_level_of(l);

	if (!level)
		return 0;
	if (l->hazard == DAVY_LOG_HZ_HOST_MEMORY && driver_warning_has_room(s))
		level = 1;
	if (l->kind == DAVY_LOG_I915_FENCE_EXPIRED && !driver_warning_waits(s, l->device))
		level = 2;
	if (l->kind == DAVY_LOG_FENCE_FALLBACK && driver_warning_loses_interrupts(s))
		level = 3;
	/* a single WARN() means little; several in a row were followed by an oops */
	if (l->kind == DAVY_LOG_DRIVER_WARNING && driver_warning_is_frequent(s, DAVY_TALLY_WARNING))
		level = 2;
	return driver_warning_is_new(s) && level < 2 ? 2 : level;
}

static void driver_warning_note_channels(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;
	struct davy_process *p;

	if (l->kind != DAVY_LOG_XID ||
	    (l->code != XID_CHANNEL_RESET && l->code != XID_CHANNEL_REMOVED))
		return;
	p = davy_world_process(&s->core->world, s->ev->pid);
	if (p && !p->channels_lost_ns)
		p->channels_lost_ns = s->now_ns;
}

/*
 * NVIDIA's driver removes the channels of a process that ends. One that goes on has a dead context:
 * its next calls fail, or block in the driver (leptonai/gpud#117: 192 s later a hung task).
 */
static void driver_warning_look_at_tick(struct davy_step *s)
{
	struct davy_process *p;
	struct davy_plan note;
	size_t at = 0;

	while ((p = davy_world_process_next(&s->core->world, &at))) {
		if (!p->channels_lost_ns || s->now_ns - p->channels_lost_ns < ENDS_NS)
			continue;
		note = davy_plan_about(s, DAVY_HZ_DRIVER_WARNING, p);
		davy_copy_name(note.detail, sizeof(note.detail), "it has lost its channels");
		davy_plan_evidence(&note, p->channels_lost_ns, DAVY_EV_LOG, 1);
		p->channels_lost_ns = 0;
		note.level = 2;
		note.unit = DAVY_UNIT_COUNT;
		note.observed = note.threshold = 1;
		davy_alarm_raise(s, &note);
	}
}

static void driver_warning_look_at_log(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;
	uint32_t level = driver_warning_level(s);
	struct davy_plan note;

	driver_warning_note_channels(s);
	if (!level)
		return;
	note = davy_plan_about(s, DAVY_HZ_DRIVER_WARNING,
			       davy_world_process(&s->core->world, s->ev->pid));
	davy_copy_name(note.device, sizeof(note.device), l->device);
	davy_copy_name(note.ring, sizeof(note.ring), l->ring);
	davy_copy_name(note.detail, sizeof(note.detail), davy_log_line_name(l->kind, l->code));
	if (!note.comm[0])
		davy_copy_name(note.comm, sizeof(note.comm), l->comm);
	note.level = (uint8_t)level;
	if (l->hazard == DAVY_LOG_HZ_HOST_STALL && l->weight > 1)
		note.form = DAVY_FORM_HOST_STALL;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = 1;
	note.threshold = 1;
	note.device_class = l->hazard != DAVY_LOG_HZ_HOST_MEMORY;
	davy_alarm_raise(s, &note);
}

static void driver_warning_look(struct davy_step *s)
{
	if (s->ev->kind == DAVY_EV_TICK)
		driver_warning_look_at_tick(s);
	else
		driver_warning_look_at_log(s);
}

static void driver_warning_reason(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "kernel log: %s", p->detail);
}

const struct davy_hazard_row davy_hazard_driver_warning = {
	.sees = DAVY_SEES(DAVY_EV_LOG) | DAVY_SEES(DAVY_EV_TICK),
	.look = driver_warning_look,
	.reason = driver_warning_reason,
	.precursor.leads = DAVY_CAN_NOT_ANSWER | DAVY_CAN_FIND_NO_ROOM | DAVY_CAN_PAGE_FAULT |
			   DAVY_CAN_HOST_CRASH | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_END |
			   DAVY_CAN_DISCOVERY_MISS,
	.precursor.horizon = DAVY_CFG_FORESIGHT_RESET_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_MIGRATE_CPU }, DAVY_FORM_HOST_STALL },
	.escalation[1] = { 3, { DAVY_ACTION_MIGRATE_CPU } },
	.of_device = true,
};
