/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: GPU VM faults and illegal instructions of one PASID (amdgpu_iv), of one process as
 *   reported by KFD (SMI, kfd_signal_vm_fault_event) and xe, or in the kernel log.
 * Threshold: the first no-retry fault is level 1 (its work is lost: stop new work), level 2 of a
 *   child that looks for devices, "count" faults within "window" level 3. Retry faults (XNACK,
 *   SVM) are a storm only while a graph stays in flight for 10 s. Level 3 stands until an engine
 *   has computed on the device. Served page faults are level 1 from "retries" within "window" on,
 *   and level 2 if that lasts for 10 s. Each sensor is counted separately. A sensor with less
 *   detail is ignored for two seconds after one with more. A hint in the log has its weight;
 *   the first one in half a day is level 2, and only that one if NVIDIA's driver cannot pin memory.
 * False alarms: pasid 0 with vmid 0 is the driver's own traffic after a reset begins; served
 *   faults when a model's pages are touched for the first time.
 * Test: tests/unit/test_gpu_hazards.c, test_fault_signs.c, tests/vm fire.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#define ERROR_NO_MEMORY	  (-12)
#define ERROR_BAD_ADDRESS (-14)
#define LASTING_NS	  (10 * DAVY_NS_PER_S) /* the first touches of a model's pages take less */

struct finding {
	const char *device;
	const char *what; /* line of the kernel log; "": another source */
	enum davy_form form;
	uint32_t pid;
	uint32_t level;
	uint64_t count;
	uint64_t threshold;
	uint64_t first_ns;
};

static uint64_t fault_storm_window_ns(const struct davy_step *s, const char *device, uint32_t pid)
{
	return davy_threshold_ns(s, DAVY_CFG_FAULT_WINDOW_MS, device, davy_scoped_process(s, pid));
}

static uint64_t fault_storm_limit(const struct davy_step *s, const char *device, uint32_t pid)
{
	return davy_threshold(s, DAVY_CFG_FAULT_COUNT, device, davy_scoped_process(s, pid));
}

static void fault_storm_raise(struct davy_step *s, const struct finding *f)
{
	const struct davy_process *p = davy_world_process(&s->core->world, f->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_FAULT_STORM, p);

	note.pid = f->pid;
	if (f->device[0] || s->ev->kind == DAVY_EV_FAULT)
		davy_copy_name(note.device, sizeof(note.device), f->device);
	if (!p && s->ev->kind == DAVY_EV_LOG)
		davy_copy_name(note.comm, sizeof(note.comm), s->ev->log.comm);
	davy_copy_name(note.detail, sizeof(note.detail), f->what);
	note.form = (uint8_t)f->form;
	note.level = (uint8_t)f->level;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = f->count;
	note.threshold = f->threshold;
	note.evidence[0].count = f->count < UINT32_MAX ? (uint32_t)f->count : UINT32_MAX;
	note.device_class = 1;
	if (f->first_ns < note.first_precursor_ns)
		note.first_precursor_ns = f->first_ns;
	davy_alarm_raise(s, &note);
}

/* Ignored if a better source has just reported it. */
static void fault_storm_say(struct davy_step *s, const struct finding *f,
			    enum davy_reporter reporter)
{
	struct davy_world *w = &s->core->world;

	if (davy_world_reported(w, f->device, DAVY_REPORT_FAULT, reporter, f->level, s->now_ns))
		return;
	davy_world_report(w, f->device, DAVY_REPORT_FAULT, reporter, f->level, s->now_ns);
	if (f->level)
		fault_storm_raise(s, f);
}

/*
 * A child that only looks for devices: its first launch failed, so its parent finds no GPU, or the
 * next process that computes fails in the same way (amd-ri-004, ollama/ollama#13589).
 */
static bool fault_storm_in_discovery(struct davy_step *s, uint32_t pid)
{
	const struct davy_process *p = davy_world_process(&s->core->world, pid);

	return p && p->role == DAVY_ROLE_DISCOVERY;
}

/* Faults that are not served: a single one or a storm. "single" is the level of one. */
static void fault_storm_unserved(struct davy_step *s, struct finding *f, uint32_t single,
				 enum davy_reporter reporter)
{
	uint64_t limit =
		davy_threshold(s, DAVY_CFG_FAULT_COUNT, f->device, davy_scoped_process(s, f->pid));

	if (single && fault_storm_in_discovery(s, f->pid))
		single = 2;
	f->level = f->count >= limit ? 3 : single;
	f->threshold = f->count >= limit ? limit : 1;
	fault_storm_say(s, f, reporter);
}

/*
 * With XNACK, each first touch of a page faults: thousands per second while a model loads. Faults
 * that never end cannot be served. Returns true if they last.
 */
static bool fault_storm_lasts(struct davy_step *s, struct davy_client *client, uint64_t limit)
{
	if (client->fault_count < limit)
		return false;
	if (!client->storm_ns)
		client->storm_ns = client->window_ns ? client->window_ns : 1;
	return s->now_ns - client->storm_ns >= LASTING_NS;
}

static void fault_storm_next_window(struct davy_step *s, struct davy_client *client, uint64_t limit,
				    uint64_t window)
{
	if (client->fault_count < limit || s->now_ns - client->window_ns > 2 * window)
		client->storm_ns = 0;
	client->window_ns = s->now_ns;
	client->fault_count = 0;
}

/* Retried by the hardware until they are served; never, if the graph stays in flight meanwhile. */
static bool fault_storm_never_ends(struct davy_step *s, struct davy_client *client, uint64_t limit)
{
	const struct davy_process *p = davy_world_process(&s->core->world, client->pid);
	bool lasts = fault_storm_lasts(s, client, limit);

	return lasts && p && p->graph.entered_ns && s->now_ns - p->graph.entered_ns >= LASTING_NS;
}

/* True if each window since 10 s or longer had as many served faults. */
static bool fault_storm_served_lasts(struct davy_step *s, const struct finding *f)
{
	uint64_t window_ns = fault_storm_window_ns(s, f->device, f->pid);
	struct davy_tally *t = davy_world_tally(&s->core->world, DAVY_TALLY_RETRY_LASTS, f->device,
						f->pid, s->now_ns, 2 * window_ns);

	if (!t->first)
		t->first = s->now_ns ? s->now_ns : 1;
	t->window_ns = s->now_ns; /* a longer time without them ends the storm */
	return s->now_ns - t->first >= LASTING_NS;
}

static void fault_storm_retried(struct davy_step *s, struct davy_client *client, uint64_t limit,
				struct finding *f)
{
	uint64_t many = davy_threshold(s, DAVY_CFG_FAULT_RETRIES, f->device,
				       davy_scoped_process(s, f->pid));

	if (fault_storm_never_ends(s, client, limit)) {
		fault_storm_unserved(s, f, 0, DAVY_BY_PROGRAM);
	} else if (f->count >= many && fault_storm_served_lasts(s, f)) {
		f->level = 2;
		f->threshold = many;
		f->form = DAVY_FORM_RETRIED;
		fault_storm_say(s, f, DAVY_BY_PROGRAM);
	}
}

static void fault_storm_look_at_fault(struct davy_step *s)
{
	const struct davy_ev_fault *in = &s->ev->fault;
	struct finding f = { .device = in->device, .what = "" };
	uint64_t limit, window;
	struct davy_client *client;

	if (!in->pasid || in->fault_class == DAVY_FAULT_NONE)
		return;
	client = davy_world_client_get(&s->core->world, in->pasid, s->now_ns);
	window = fault_storm_window_ns(s, in->device, client->pid);
	limit = fault_storm_limit(s, in->device, client->pid);
	if (s->now_ns - client->window_ns > window)
		fault_storm_next_window(s, client, limit, window);
	client->fault_count += in->fresh;
	f.pid = client->pid;
	f.count = client->fault_count;
	f.first_ns = client->window_ns;
	if (in->fault_class != DAVY_FAULT_VM_RETRY)
		fault_storm_unserved(s, &f, 1, DAVY_BY_PROGRAM);
	else
		fault_storm_retried(s, client, limit, &f);
}

static struct finding fault_storm_counted(struct davy_step *s, enum davy_tally_kind kind,
					  const char *device, uint32_t pid, uint64_t fresh)
{
	struct davy_tally *t = davy_world_tally(&s->core->world, kind, device, pid, s->now_ns,
						fault_storm_window_ns(s, device, pid));
	struct finding f = { .device = device, .what = "", .pid = pid };

	t->count += fresh;
	f.count = t->count;
	f.first_ns = t->window_ns;
	return f;
}

/* Served page faults: their rate is the cost. The first touch of a model's pages ends soon. */
static void fault_storm_served(struct davy_step *s, enum davy_tally_kind kind, const char *device,
			       uint64_t fresh, enum davy_reporter reporter)
{
	uint64_t limit = davy_threshold(s, DAVY_CFG_FAULT_RETRIES, device,
					davy_scoped_process(s, s->ev->pid));
	struct davy_world *w = &s->core->world;
	struct finding f;

	if (davy_world_reported(w, device, DAVY_REPORT_RETRY, reporter, 0, s->now_ns))
		return;
	davy_world_report(w, device, DAVY_REPORT_RETRY, reporter, 0, s->now_ns);
	f = fault_storm_counted(s, kind, device, s->ev->pid, fresh);
	if (f.count < limit)
		return;
	f.level = fault_storm_served_lasts(s, &f) ? 2 : 1;
	f.threshold = limit;
	f.form = DAVY_FORM_RETRIED;
	fault_storm_raise(s, &f);
}

static uint32_t fault_storm_owner_of(struct davy_step *s)
{
	const struct davy_client *client;

	if (s->ev->pid)
		return s->ev->pid;
	client = davy_world_client(&s->core->world, s->ev->fact.pasid);
	return client ? client->pid : 0;
}

/*
 * The tracepoint of an Xid fires before its line is in the log, and names no process: level 1. The
 * line names the process, and its faults are counted there.
 */
static void fault_storm_look_at_xid(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	const struct davy_log_meaning *xid = davy_xid_meaning(in->detail);
	struct finding f;

	if (xid->role != DAVY_PART_FAILURE || xid->class != DAVY_CLASS_PAGE_FAULT)
		return;
	f = fault_storm_counted(s, DAVY_TALLY_FAULT, in->device, 0, in->fresh);
	f.what = xid->name;
	f.level = 1;
	f.threshold = 1;
	fault_storm_say(s, &f, DAVY_BY_LOG);
}

static void fault_storm_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct finding f;

	switch (in->fact) {
	case DAVY_FACT_SVM_FAULT:
		if (in->error != ERROR_NO_MEMORY && in->error != ERROR_BAD_ADDRESS)
			return; /* the driver retries the others */
		break;
	case DAVY_FACT_NVIDIA_XID:
		fault_storm_look_at_xid(s);
		return;
	case DAVY_FACT_KFD_VM_FAULT:
	case DAVY_FACT_XE_CAT_ERROR:
		break;
	case DAVY_FACT_KFD_PAGE_FAULT:
	case DAVY_FACT_XE_PAGE_FAULT:
		fault_storm_served(s, DAVY_TALLY_RETRY, in->device, in->fresh, DAVY_BY_PROGRAM);
		return;
	default:
		return;
	}
	f = fault_storm_counted(s, DAVY_TALLY_FAULT, in->device, fault_storm_owner_of(s),
				in->fresh);
	fault_storm_unserved(s, &f, 1, DAVY_BY_PROGRAM);
}

static void fault_storm_look_at_kfd(struct davy_step *s)
{
	const char *device = s->ev->kfd.device;
	struct finding f;

	if (s->ev->kfd.event == DAVY_KFD_PAGE_FAULT_BEGIN) {
		fault_storm_served(s, DAVY_TALLY_RETRY_SMI, device, 1, DAVY_BY_DRIVER);
	} else if (s->ev->kfd.event == DAVY_KFD_VM_FAULT) {
		f = fault_storm_counted(s, DAVY_TALLY_FAULT_SMI, device, s->ev->pid, 1);
		fault_storm_unserved(s, &f, 1, DAVY_BY_DRIVER);
	}
}

/* 0: none or several. */
static uint32_t fault_storm_only_engine(struct davy_step *s, const char *device)
{
	const struct davy_process *p;
	uint32_t only = 0;
	size_t at = 0;

	while ((p = davy_world_process_next(&s->core->world, &at))) {
		if (p->engine == DAVY_ENGINE_NONE || !davy_same_name(p->device, device))
			continue;
		if (only)
			return 0;
		only = p->pid;
	}
	return only;
}

/* An Xid's line may lack the pid: the process with nearly all of the device's memory. */
static uint32_t fault_storm_only_client(struct davy_step *s, const char *device)
{
	const struct davy_memory *m = &s->core->world.memory;
	const struct davy_memory_client *most = davy_memory_largest(m, device), *next;

	if (!most)
		return fault_storm_only_engine(s, device);
	next = davy_memory_largest_but(m, device, most->pid);
	return next && next->bytes >= most->bytes / 16 ? 0 : most->pid;
}

/*
 * A first hint in half a day is news: ollama/ollama#738 and ROCm/amdgpu#204 have 20 to 60 s between
 * the driver's own fault and the engine's. NVIDIA's driver that could not pin host memory is news
 * only then: engines use pageable memory (llama.cpp#1233), at each load if the limit is low.
 */
static uint32_t fault_storm_hint_level(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;

	if (davy_world_line_is_new(&s->core->world, in->kind, s->now_ns))
		return 2;
	return in->weight > 1 && in->kind != DAVY_LOG_NV_MAP_FAILED ? 2 : 1;
}

/*
 * A line that reports a fault, or a precursor of faults by its weight: full interrupt rings, IOMMU.
 */
static void fault_storm_look_at_log(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	bool failure = in->role == DAVY_PART_FAILURE && in->log_class == DAVY_CLASS_PAGE_FAULT;
	bool hint = in->role == DAVY_PART_PRECURSOR && in->hazard == DAVY_LOG_HZ_FAULT_STORM;
	struct finding f;
	uint32_t pid;

	if (!failure && !hint)
		return;
	pid = s->ev->pid;
	if (!pid && in->kind == DAVY_LOG_XID)
		pid = fault_storm_only_client(s, in->device);
	f = fault_storm_counted(s, DAVY_TALLY_FAULT_LINE, in->device, pid,
				1 + (uint64_t)in->repeats);
	f.what = davy_log_line_name(in->kind, in->code);
	if (failure) {
		fault_storm_unserved(s, &f, 1, DAVY_BY_LOG);
		return;
	}
	f.level = fault_storm_hint_level(s);
	if (in->weight < 2)
		f.form = DAVY_FORM_HINT;
	f.threshold = 1;
	fault_storm_say(s, &f, DAVY_BY_LOG);
}

static void fault_storm_look(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_FAULT:
		fault_storm_look_at_fault(s);
		break;
	case DAVY_EV_FACT:
		fault_storm_look_at_fact(s);
		break;
	case DAVY_EV_KFD:
		fault_storm_look_at_kfd(s);
		break;
	default:
		fault_storm_look_at_log(s);
		break;
	}
}

static void fault_storm_reason(const struct davy_plan *p, struct davy_clause *c)
{
	bool retried = p->form == DAVY_FORM_RETRIED;

	c->say(c, "%" PRIu64 " %sGPU faults", p->observed, retried ? "recoverable " : "");
	if (!retried && p->detail[0])
		c->say(c, ", according to the kernel log: %s", p->detail);
	c->say(c, " (threshold %" PRIu64 ")", p->threshold);
}

const struct davy_hazard_row davy_hazard_fault_storm = {
	.sees = DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) |
		DAVY_SEES(DAVY_EV_LOG),
	.look = fault_storm_look,
	.reason = fault_storm_reason,
	/*
	 * amd-ri-004: a discovery child faulted before the runner died at its first graph.
	 * ROCm/rocm-systems#3531: the flood overflowed the interrupt ring, then the kernel crashed.
	 */
	.precursor.leads = DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG | DAVY_CAN_GPU_RESET |
			   DAVY_CAN_DEVICE_LOST | DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_HOST_CRASH |
			   DAVY_CAN_RUNNER_CRASH_INIT | DAVY_CAN_DISCOVERY_MISS,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 2, { DAVY_ACTION_SWITCH, DAVY_ACTION_MIGRATE_CPU } },
	.escalation[1] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_RETRIED }, /* slow, and served */
	.escalation[2] = { 2, { DAVY_ACTION_NONE }, DAVY_FORM_HINT },
	.stands = davy_device_unproven,
	.device_fails = 3,
};
