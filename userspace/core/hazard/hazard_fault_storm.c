/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: GPU VM faults and illegal instructions of one PASID (amdgpu_iv), of one process as KFD
 *   (SMI, kfd_signal_vm_fault_event) and xe tell them, and as the kernel's log does.
 * Threshold: a first no-retry fault is level 1 (the work behind it is lost: stop new work), "count"
 *   faults within "window" level 3. Retry faults count, and are no sign one by one (XNACK, SVM):
 *   page faults that are served are level 2 from "retries" within "window" on. Each sense is
 *   counted by itself, and one that knows less is silent for two seconds after one that knows more.
 * False alarms: pasid 0 with vmid 0 is the driver's own traffic after a reset begins; the served
 *   faults of a model that is touched for the first time.
 * Test: tests/unit/test_gpu_hazards.c, test_fault_signs.c, tests/vm fire.
 */
#include "core/hazard/hazards.h"

#include <inttypes.h>

#define ERROR_NO_MEMORY	  (-12)
#define ERROR_BAD_ADDRESS (-14)
#define LASTING_NS	  (10 * DAVY_NS_PER_S) /* a model's first touches take less */

struct sign {
	const char *device;
	const char *what; /* of the kernel's log; "": it is not from there */
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

static uint64_t count_limit(const struct davy_step *s, const char *device, uint32_t pid)
{
	return davy_threshold(s, DAVY_CFG_FAULT_COUNT, device, davy_scoped_process(s, pid));
}

static void fault_storm_raise(struct davy_step *s, const struct sign *sign)
{
	const struct davy_process *p = davy_world_process(&s->core->world, sign->pid);
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_FAULT_STORM, p);

	note.pid = sign->pid;
	if (sign->device[0] || s->ev->kind == DAVY_EV_FAULT)
		davy_copy_name(note.device, sizeof(note.device), sign->device);
	if (!p && s->ev->kind == DAVY_EV_LOG)
		davy_copy_name(note.comm, sizeof(note.comm), s->ev->log.comm);
	davy_copy_name(note.detail, sizeof(note.detail), sign->what);
	note.form = (uint8_t)sign->form;
	note.level = (uint8_t)sign->level;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = sign->count;
	note.threshold = sign->threshold;
	note.evidence[0].count = sign->count < UINT32_MAX ? (uint32_t)sign->count : UINT32_MAX;
	note.device_class = 1;
	if (sign->first_ns < note.first_sign_ns)
		note.first_sign_ns = sign->first_ns;
	davy_alarm_raise(s, &note);
}

/* Unless one who knows more has said it just now. */
static void fault_storm_say(struct davy_step *s, const struct sign *sign, enum davy_reporter teller)
{
	struct davy_world *w = &s->core->world;

	if (davy_world_was_reported(w, sign->device, DAVY_REPORT_FAULT, teller, sign->level,
				    s->now_ns))
		return;
	davy_world_report(w, sign->device, DAVY_REPORT_FAULT, teller, sign->level, s->now_ns);
	if (sign->level)
		fault_storm_raise(s, sign);
}

/* Faults that nobody serves: the first one, or a storm. "single" is the level of one. */
static void unserved(struct davy_step *s, struct sign *sign, uint32_t single,
		     enum davy_reporter teller)
{
	uint64_t limit = davy_threshold(s, DAVY_CFG_FAULT_COUNT, sign->device,
					davy_scoped_process(s, sign->pid));

	sign->level = sign->count >= limit ? 3 : single;
	sign->threshold = sign->count >= limit ? limit : 1;
	fault_storm_say(s, sign, teller);
}

/*
 * Pages of a process that computes with XNACK come at their first touch, thousands a second while a
 * model loads; what never ends is none that could be served. True when it lasts.
 */
static bool retries_last(struct davy_step *s, struct davy_client *client, uint64_t limit)
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

static void fault_storm_look_at_fault(struct davy_step *s)
{
	const struct davy_ev_fault *in = &s->ev->fault;
	struct sign sign = { .device = in->device, .what = "" };
	uint64_t limit, window;
	struct davy_client *client;

	if (!in->pasid || in->fault_class == DAVY_FAULT_NONE)
		return;
	client = davy_world_client_get(&s->core->world, in->pasid, s->now_ns);
	window = fault_storm_window_ns(s, in->device, client->pid);
	limit = count_limit(s, in->device, client->pid);
	if (s->now_ns - client->window_ns > window)
		fault_storm_next_window(s, client, limit, window);
	client->fault_count += in->fresh;
	sign.pid = client->pid;
	sign.count = client->fault_count;
	sign.first_ns = client->window_ns;
	if (in->fault_class != DAVY_FAULT_VM_RETRY)
		unserved(s, &sign, 1, DAVY_BY_PROGRAM);
	else if (retries_last(s, client, limit))
		unserved(s, &sign, 0, DAVY_BY_PROGRAM);
}

static struct sign fault_storm_counted(struct davy_step *s, enum davy_tally_kind kind,
				       const char *device, uint32_t pid, uint64_t fresh)
{
	struct davy_tally *t = davy_world_tally(&s->core->world, kind, device, pid, s->now_ns,
						fault_storm_window_ns(s, device, pid));
	struct sign sign = { .device = device, .what = "", .pid = pid };

	t->count += fresh;
	sign.count = t->count;
	sign.first_ns = t->window_ns;
	return sign;
}

/* Page faults that were served: their rate is what costs. */
static void served(struct davy_step *s, enum davy_tally_kind kind, const char *device,
		   uint64_t fresh, enum davy_reporter teller)
{
	uint64_t limit = davy_threshold(s, DAVY_CFG_FAULT_RETRIES, device,
					davy_scoped_process(s, s->ev->pid));
	struct davy_world *w = &s->core->world;
	struct sign sign;

	if (davy_world_was_reported(w, device, DAVY_REPORT_RETRY, teller, 0, s->now_ns))
		return;
	davy_world_report(w, device, DAVY_REPORT_RETRY, teller, 0, s->now_ns);
	sign = fault_storm_counted(s, kind, device, s->ev->pid, fresh);
	if (sign.count < limit)
		return;
	sign.level = 2;
	sign.threshold = limit;
	sign.form = DAVY_FORM_RETRIED;
	fault_storm_raise(s, &sign);
}

static uint32_t fault_storm_owner_of(struct davy_step *s)
{
	const struct davy_client *client;

	if (s->ev->pid)
		return s->ev->pid;
	client = davy_world_client(&s->core->world, s->ev->fact.pasid);
	return client ? client->pid : 0;
}

static void fault_storm_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct sign sign;

	switch (in->fact) {
	case DAVY_FACT_SVM_FAULT:
		if (in->error != ERROR_NO_MEMORY && in->error != ERROR_BAD_ADDRESS)
			return; /* the rest are tried again */
		break;
	case DAVY_FACT_KFD_VM_FAULT:
	case DAVY_FACT_XE_CAT_ERROR:
		break;
	case DAVY_FACT_KFD_PAGE_FAULT:
	case DAVY_FACT_XE_PAGE_FAULT:
		served(s, DAVY_TALLY_RETRY, in->device, in->fresh, DAVY_BY_PROGRAM);
		return;
	default:
		return;
	}
	sign = fault_storm_counted(s, DAVY_TALLY_FAULT, in->device, fault_storm_owner_of(s),
				   in->fresh);
	unserved(s, &sign, 1, DAVY_BY_PROGRAM);
}

static void fault_storm_look_at_kfd(struct davy_step *s)
{
	const char *device = s->ev->kfd.device;
	struct sign sign;

	if (s->ev->kfd.event == DAVY_KFD_PAGE_FAULT_BEGIN) {
		served(s, DAVY_TALLY_RETRY_SMI, device, 1, DAVY_BY_DRIVER);
	} else if (s->ev->kfd.event == DAVY_KFD_VM_FAULT) {
		sign = fault_storm_counted(s, DAVY_TALLY_FAULT_SMI, device, s->ev->pid, 1);
		unserved(s, &sign, 1, DAVY_BY_DRIVER);
	}
}

/* A line that names a fault, or a sign of faults by its weight: full interrupt rings, IOMMU. */
static void fault_storm_look_at_log(struct davy_step *s)
{
	const struct davy_ev_log *in = &s->ev->log;
	bool failure = in->role == DAVY_PART_FAILURE && in->log_class == DAVY_CLASS_PAGE_FAULT;
	bool hint = in->role == DAVY_PART_PRECURSOR && in->hazard == DAVY_LOG_HZ_FAULT_STORM;
	struct sign sign;

	if (!failure && !hint)
		return;
	sign = fault_storm_counted(s, DAVY_TALLY_FAULT_LINE, in->device, s->ev->pid,
				   1 + (uint64_t)in->repeats);
	sign.what = davy_log_kind_name(in->kind);
	if (failure) {
		unserved(s, &sign, 1, DAVY_BY_LOG);
		return;
	}
	sign.level = in->weight > 1 ? 2 : 1;
	sign.threshold = 1;
	fault_storm_say(s, &sign, DAVY_BY_LOG);
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

static void fault_storm_because(const struct davy_plan *p, struct davy_clause *c)
{
	c->say(c, "%" PRIu64 " GPU faults", p->observed);
	if (p->form == DAVY_FORM_RETRIED)
		c->say(c, " that were served");
	else if (p->detail[0])
		c->say(c, ", as the kernel's log says: %s", p->detail);
	c->say(c, " (threshold %" PRIu64 ")", p->threshold);
}

const struct davy_hazard_row davy_hazard_fault_storm = {
	.sees = DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_KFD) |
		DAVY_SEES(DAVY_EV_LOG),
	.look = fault_storm_look,
	.reason = fault_storm_because,
	.precursor.leads = DAVY_CAN_PAGE_FAULT | DAVY_CAN_HANG | DAVY_CAN_GPU_RESET |
			   DAVY_CAN_DEVICE_LOST | DAVY_CAN_WRONG_OUTPUT,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_SWITCH, DAVY_ACTION_MIGRATE_CPU } },
	.device_fails = 3,
};
