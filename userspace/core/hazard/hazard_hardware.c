/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: reports of the kernel and the drivers about memory errors (RAS, ECC, poison, machine
 *   checks), heat, the link (AER, PCI), and NVIDIA's Xids of these classes. Sources: kernel log
 *   lines, the amdgpu interrupt of an uncorrectable error, KFD's throttling, facts of BPF
 *   programs, NVML's count of uncorrectable errors and its reasons for lower clocks.
 * Threshold: one. The level is the weight of the line (log_kind.c, xid.c), 3 if the driver
 *   requests a reset or has lost the device, 1 for throttling, 2 if that lasts for a minute.
 *   Corrected errors are level 1 at any number, on the link only from "corrected" within
 *   "window" on; the first one in half a day while an engine computes is level 2. An error of a
 *   port is about the host: the devices behind it are not known.
 * False alarms: a few corrected link errors, single retired pages (level 1), Xids that the
 *   program itself causes (13, 31, 43, 45, 69: see other hazards), clocks at the limit of power.
 * Test: tests/unit/test_hardware.c.
 */
#include "core/event/fact.h"
#include "core/hazard/hazards.h"

#include <inttypes.h>
#include <string.h>

#define COMPUTES_NS	  (60 * DAVY_NS_PER_S)
#define THROTTLE_GAP_NS	  (60 * DAVY_NS_PER_S)
#define THROTTLE_LASTS_NS (60 * DAVY_NS_PER_S)

struct finding {
	const char *device;
	const char *name;
	uint32_t level;
	uint64_t observed;
	uint64_t threshold;
	uint32_t victim_pid;
	enum davy_form form;
	const char *port; /* named by the line; NULL: the line names the device */
};

/* "aer 0000:00:02.0" */
static void hardware_name_port(struct davy_plan *note, const char *port)
{
	size_t used = strlen(note->detail);

	if (used + 2 > sizeof(note->detail))
		return;
	note->detail[used] = ' ';
	davy_copy_name(note->detail + used + 1, sizeof(note->detail) - used - 1, port);
}

static void hardware_raise(struct davy_step *s, const struct finding *f)
{
	struct davy_plan note;

	if (!f->level)
		return;
	note = davy_plan_about(s, DAVY_HZ_HARDWARE, NULL);
	note.pid = 0; /* the device's error, regardless of the process that hit it */
	note.victim_pid = f->victim_pid;
	note.level = (uint8_t)f->level;
	note.unit = DAVY_UNIT_COUNT;
	note.observed = f->observed;
	note.threshold = f->threshold;
	note.device_class = 1;
	davy_copy_name(note.device, sizeof(note.device), f->device);
	davy_copy_name(note.detail, sizeof(note.detail), f->name);
	if (f->port)
		hardware_name_port(&note, f->port);
	note.form = (uint8_t)f->form;
	davy_alarm_raise(s, &note);
}

static uint32_t hardware_level(uint8_t role, uint8_t class, uint8_t hazard, uint8_t weight,
			       bool named_for_hardware)
{
	if (role == DAVY_PART_PRECURSOR && hazard == DAVY_LOG_HZ_HARDWARE_ERROR)
		return weight < 1 ? 1 : weight > 3 ? 3 : weight;
	if (role == DAVY_PART_FAILURE && named_for_hardware &&
	    (class == DAVY_CLASS_GPU_RESET || class == DAVY_CLASS_DEVICE_LOST))
		return 3;
	return 0;
}

static uint64_t hardware_corrected_limit(const struct davy_step *s, const char *device)
{
	return davy_threshold(s, DAVY_CFG_CORRECTED_COUNT, device, NULL);
}

/* Count within the window, including this error and its repeats; 0 below the threshold. */
static uint32_t hardware_corrected(struct davy_step *s, const char *device, uint32_t repeats)
{
	struct davy_device_state *d = davy_world_device_get(&s->core->world, device, s->now_ns);

	if (!d->corrected ||
	    s->now_ns - d->corrected_ns >
		    davy_threshold_ns(s, DAVY_CFG_CORRECTED_WINDOW_MS, device, NULL)) {
		d->corrected_ns = s->now_ns;
		d->corrected = 0;
	}
	if (repeats >= UINT32_MAX - d->corrected)
		d->corrected = UINT32_MAX;
	else
		d->corrected += 1 + repeats;
	return d->corrected >= hardware_corrected_limit(s, device) ? d->corrected : 0;
}

/* Nothing where it is usual; a first one came just before a card fell off the bus (nv-010). */
static bool hardware_is_new_while_computing(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;

	return l->kind == DAVY_LOG_AER_CORRECTED &&
	       davy_world_line_is_new(&s->core->world, l->kind, s->now_ns) &&
	       davy_engine_computes(s, l->device, COMPUTES_NS);
}

/* A port between the host and devices: which of them is behind it is not known. */
static bool hardware_is_of_port(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;

	return l->kind == DAVY_LOG_AER && l->device[0] &&
	       !davy_memory_device(&s->core->world.memory, l->device);
}

static void hardware_look_at_log(struct davy_step *s)
{
	const struct davy_ev_log *l = &s->ev->log;
	bool hardware = l->kind == DAVY_LOG_XID || l->kind == DAVY_LOG_RAS_RESET ||
			l->kind == DAVY_LOG_OFF_THE_BUS;
	struct finding f = { .device = l->device,
			     .name = davy_log_kind_name(l->kind),
			     .observed = 1,
			     .threshold = 1,
			     .victim_pid = s->ev->pid };

	f.level = hardware_level(l->role, l->log_class, l->hazard, l->weight, hardware);
	if (l->kind == DAVY_LOG_XID || l->kind == DAVY_LOG_SXID)
		f.observed = l->code;
	if (l->kind == DAVY_LOG_OVER_TEMPERATURE)
		f.form = DAVY_FORM_HEAT;
	else if (l->kind == DAVY_LOG_XID)
		f.form = DAVY_FORM_XID;
	else if (l->kind == DAVY_LOG_SXID)
		f.form = DAVY_FORM_SXID;
	if (l->kind == DAVY_LOG_AER_CORRECTED && f.level) {
		f.observed = hardware_corrected(s, l->device, l->repeats);
		f.threshold = hardware_corrected_limit(s, l->device);
		f.level = f.observed ? 1 : 0;
	}
	if (hardware_is_new_while_computing(s))
		f.level = 2, f.observed = f.threshold = 1;
	if (hardware_is_of_port(s))
		f.port = l->device, f.device = "";
	hardware_raise(s, &f);
}

static uint32_t hardware_owner_of(struct davy_step *s, uint32_t pasid)
{
	const struct davy_client *c = davy_world_client(&s->core->world, pasid);

	return c ? c->pid : 0;
}

static void hardware_look_at_fact(struct davy_step *s)
{
	const struct davy_ev_fact *in = &s->ev->fact;
	struct finding f = { .device = in->device,
			     .name = davy_fact_name(in->fact),
			     .observed = 1,
			     .threshold = 1,
			     .victim_pid = s->ev->pid };
	const struct davy_log_meaning *xid;

	switch (in->fact) {
	case DAVY_FACT_RAS_RESET:
		f.level = 3;
		break;
	case DAVY_FACT_KFD_POISON: /* same meaning as KFD's log line */
		f.level = davy_log_meaning(DAVY_LOG_POISON_SIGNAL)->weight;
		f.victim_pid = hardware_owner_of(s, in->pasid);
		break;
	case DAVY_FACT_NVIDIA_XID:
		xid = davy_xid_meaning(in->detail);
		f.level = hardware_level(xid->role, xid->class, xid->hazard, xid->weight, true);
		f.form = DAVY_FORM_XID;
		f.observed = in->detail;
		break;
	default:
		break;
	}
	hardware_raise(s, &f);
}

static void hardware_look_at_fault(struct davy_step *s)
{
	const struct davy_ev_fault *in = &s->ev->fault;
	struct finding f = { .device = in->device,
			     .name = "ecc",
			     .level = 3,
			     .observed = in->fresh,
			     .threshold = 1,
			     .victim_pid = hardware_owner_of(s, in->pasid) };

	if (in->fault_class == DAVY_FAULT_ECC)
		hardware_raise(s, &f);
}

/* Heat that throttling does not end: a fan that stopped, a summer. */
static bool hardware_throttles_on(struct davy_step *s, const char *device)
{
	struct davy_tally *t = davy_world_tally(&s->core->world, DAVY_TALLY_HEAT, device, 0,
						s->now_ns, THROTTLE_GAP_NS);

	if (!t->first)
		t->first = s->now_ns ? s->now_ns : 1;
	t->window_ns = s->now_ns; /* a longer time without it ends the heat */
	return s->now_ns - t->first >= THROTTLE_LASTS_NS;
}

static void hardware_look_at_kfd(struct davy_step *s)
{
	const struct davy_ev_kfd *in = &s->ev->kfd;
	struct finding f = { .device = in->device,
			     .name = davy_kfd_event_name(in->event),
			     .level = 1,
			     .observed = 1,
			     .threshold = 1 };

	if (in->event != DAVY_KFD_THERMAL_THROTTLE)
		return;
	if (hardware_throttles_on(s, in->device))
		f.level = 2;
	hardware_raise(s, &f);
}

static void hardware_look_at_clocks(struct davy_step *s)
{
	const struct davy_ev_clocks *in = &s->ev->clocks;
	struct finding f = { .device = in->device,
			     .name = davy_clock_reason_name(in->reason),
			     .level = 1,
			     .observed = 1,
			     .threshold = 1 };

	if (davy_clock_reason_bad(in->reason))
		hardware_raise(s, &f);
}

static void hardware_look(struct davy_step *s)
{
	switch (s->ev->kind) {
	case DAVY_EV_LOG:
		hardware_look_at_log(s);
		break;
	case DAVY_EV_FACT:
		hardware_look_at_fact(s);
		break;
	case DAVY_EV_FAULT:
		hardware_look_at_fault(s);
		break;
	case DAVY_EV_CLOCKS:
		hardware_look_at_clocks(s);
		break;
	default:
		hardware_look_at_kfd(s);
		break;
	}
}

static void hardware_reason(const struct davy_plan *p, struct davy_clause *c)
{
	if (p->form == DAVY_FORM_XID || p->form == DAVY_FORM_SXID)
		c->say(c, "reported %s %" PRIu64, p->form == DAVY_FORM_XID ? "Xid" : "SXid",
		       p->observed);
	else if (p->threshold > 1)
		c->say(c, "reported %s %" PRIu64 " times (threshold %" PRIu64 ")", p->detail,
		       p->observed, p->threshold);
	else
		c->say(c, "reported %s", p->detail);
}

const struct davy_hazard_row davy_hazard_hardware = {
	.sees = DAVY_SEES(DAVY_EV_LOG) | DAVY_SEES(DAVY_EV_FAULT) | DAVY_SEES(DAVY_EV_KFD) |
		DAVY_SEES(DAVY_EV_FACT) | DAVY_SEES(DAVY_EV_CLOCKS),
	.look = hardware_look,
	.reason = hardware_reason,
	.precursor.leads = DAVY_CAN_NOT_ANSWER | DAVY_CAN_PAGE_FAULT | DAVY_CAN_HOST_CRASH |
			   DAVY_CAN_WRONG_OUTPUT | DAVY_CAN_DISCOVERY_MISS | DAVY_CAN_END,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.escalation[0] = { 3, { DAVY_ACTION_MIGRATE_CPU } },
	/* half of the work is half of the heat; at once, as a replacement takes longer */
	.escalation[1] = { 3, { DAVY_ACTION_THROTTLE, DAVY_ACTION_MIGRATE_CPU }, DAVY_FORM_HEAT },
	.of_device = true,
};
