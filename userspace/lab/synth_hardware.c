/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card: memory errors; an SMU that does not answer (amd-oor-001: 9 s); a link that degrades
 * until the device is lost; NVIDIA's Xid 13 before 31 (nv-004: 51 s); ECC errors before Xid 48.
 */
#include "lab/scenarios.h"

static uint64_t wear_out(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev;

	if (!a->stage++)
		a->n[0] = davy_sim_between(s, 3, 7);
	davy_sim_cause(s);
	if (a->stage <= a->n[0]) { /* ever more pages are retired */
		if (a->stage == 2)
			davy_sim_precursor(s, s->now_ns);
		davy_sim_log(s, DAVY_LOG_RAS_PAGES, p->device, NULL, 0);
		return s->now_ns + davy_sim_around(s, 60 * DAVY_S / a->stage);
	}
	if (a->stage == a->n[0] + 1) {
		davy_sim_fault(s, p, DAVY_FAULT_ECC, 0, 1);
		davy_sim_log(s, DAVY_LOG_RAS_UNCORRECTABLE, p->device, NULL, 0);
		return s->now_ns + davy_sim_around(s, 3 * DAVY_S);
	}
	ev = davy_sim_fact(s, DAVY_FACT_RAS_RESET, p->device, NULL);
	davy_sim_tell(s, &ev);
	davy_sim_failed(s);
	davy_sim_log(s, DAVY_LOG_RAS_RESET, p->device, NULL, 0);
	davy_synth_reset_device(s, p->device, davy_sim_around(s, 3 * DAVY_S), 0);
	return 0;
}

void davy_synth_ras(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 600);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, wear_out, p, davy_synth_when(s));
}

static uint64_t smu_stalls(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t next_ns;

	if (!a->stage++)
		a->n[0] = s->now_ns + davy_sim_around(s, 9 * DAVY_S);
	davy_sim_precursor(s, s->now_ns);
	if (s->now_ns >= a->n[0]) {
		davy_sim_log(s, DAVY_LOG_RESUME_FAILED, p->device, NULL, 0);
		davy_sim_failed(s);
		davy_synth_reset_device(s, p->device, DAVY_S, -22); /* EINVAL */
		return 0;
	}
	davy_sim_log(s, DAVY_LOG_SMU_BUSY, p->device, NULL, 0);
	next_ns = s->now_ns + davy_sim_around(s, 2 * DAVY_S);
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void davy_synth_smu(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 600);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, smu_stalls, p, davy_synth_when(s));
}

static void lose_device(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_DEVICE, 0);

	davy_sim_log(s, DAVY_LOG_DEVICE_LOST, p->device, NULL, 0);
	davy_copy_name(ev.device.device, sizeof(ev.device.device), p->device->name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), p->device->driver);
	ev.device.change = DAVY_DEVICE_WEDGED;
	davy_sim_tell(s, &ev);
	davy_sim_throw(s, p, DAVY_LOST);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
}

/* Ever more frequent corrected errors, then an uncorrected one. */
static uint64_t link_worsens(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	davy_sim_cause(s);
	if (!a->stage++)
		a->n[0] = davy_sim_around(s, 20 * DAVY_S);
	if (a->n[0] > 300 * DAVY_MS) {
		if (a->n[0] < 3 * DAVY_S)
			davy_sim_precursor(s, s->now_ns);
		davy_sim_log(s, DAVY_LOG_AER_CORRECTED, p->device, NULL, 0);
		a->n[0] -= a->n[0] / 6;
		return s->now_ns + davy_sim_around(s, a->n[0]);
	}
	davy_sim_precursor(s, s->now_ns);
	if (!a->n[1]) {
		a->n[1] = s->now_ns + davy_sim_around(s, 5 * DAVY_S);
		davy_sim_log(s, DAVY_LOG_AER, p->device, NULL, 0);
		return a->n[1];
	}
	davy_sim_log(s, DAVY_LOG_PCI_ERROR, p->device, NULL, 0);
	davy_sim_failed(s);
	lose_device(s, p);
	return 0;
}

void davy_synth_link(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, link_worsens, p, davy_synth_when(s));
}

struct xid {
	uint32_t code, role, class, hazard, weight;
};

/* As kmsg_xid.c judges them. */
static const struct xid xids[] = {
	{ 13, DAVY_PART_PRECURSOR, DAVY_CLASS_PAGE_FAULT, DAVY_LOG_HZ_FAULT_STORM, 2 },
	{ 31, DAVY_PART_FAILURE, DAVY_CLASS_PAGE_FAULT, 0, 0 },
	{ 48, DAVY_PART_FAILURE, DAVY_CLASS_GPU_RESET, 0, 0 },
	{ 63, DAVY_PART_PRECURSOR, DAVY_CLASS_GPU_RESET, DAVY_LOG_HZ_HARDWARE_ERROR, 1 },
	{ 94, DAVY_PART_PRECURSOR, DAVY_CLASS_GPU_RESET, DAVY_LOG_HZ_HARDWARE_ERROR, 3 },
};

static void say_xid(struct davy_sim *s, uint32_t code, const struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_NVIDIA_XID, p->device, NULL);
	const struct xid *x = xids;

	while (x->code != code)
		x++;
	ev.fact.detail = code;
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_XID, p->device, p);
	ev.log.code = code;
	ev.log.role = (uint8_t)x->role;
	ev.log.log_class = (uint8_t)x->class;
	ev.log.hazard = (uint8_t)x->hazard;
	ev.log.weight = (uint8_t)x->weight;
	ev.log.leads = (uint16_t)(x->weight ? 1u << x->class : 0);
	davy_sim_log_event(s, &ev);
}

static struct davy_sim_process *cuda(struct davy_sim *s)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, (uint32_t)davy_sim_between(s, 0, 2));
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_CUDA, 700);

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, p);
	return p;
}

static uint64_t shader_then_fault(struct davy_sim *s, struct davy_sim_actor *a)
{
	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		say_xid(s, 13, a->of);
		return s->now_ns + davy_sim_around(s, 51 * DAVY_S);
	}
	say_xid(s, 31, a->of);
	davy_sim_failed(s);
	davy_sim_exit(s, a->of, DAVY_STATUS_ABORT);
	return 0;
}

void davy_synth_xid(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	davy_sim_add_actor(s, shader_then_fault, cuda(s), davy_synth_when(s));
}

/* A row is remapped, another error is contained, the next one is not. */
static uint64_t ecc(struct davy_sim *s, struct davy_sim_actor *a)
{
	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		say_xid(s, 63, a->of);
		return s->now_ns + davy_sim_around(s, 5 * DAVY_MIN);
	case 1:
		davy_sim_precursor(s, s->now_ns);
		say_xid(s, 94, a->of);
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	default:
		say_xid(s, 48, a->of);
		davy_sim_failed(s);
		davy_sim_exit(s, a->of, DAVY_STATUS_ABORT);
		return 0;
	}
}

void davy_synth_xid_ecc(struct davy_sim *s, uint64_t arg)
{
	(void)arg;
	davy_sim_add_actor(s, ecc, cuda(s), davy_synth_when(s));
}
