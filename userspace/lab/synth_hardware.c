/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card itself: memory errors, an SMU that does not answer (amd-oor-001: 9 s), a link that
 * worsens until the device is gone, NVIDIA's Xid 13 before 31 (nv-004: 51 s), ECC before 48.
 */
#include "lab/scenarios.h"

static uint64_t wear_out(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	struct dl_event ev;

	if (!a->stage++)
		a->n[0] = dl_sim_between(s, 3, 7);
	dl_sim_cause(s);
	if (a->stage <= a->n[0]) { /* pages are retired, more and more */
		if (a->stage == 2)
			dl_sim_sign(s, s->now_ns);
		dl_sim_log(s, DL_LOG_RAS_PAGES, p->device, NULL, 0);
		return s->now_ns + dl_sim_around(s, 60 * DL_S / a->stage);
	}
	if (a->stage == a->n[0] + 1) {
		dl_sim_fault(s, p, DL_FAULT_ECC, 0, 1);
		dl_sim_log(s, DL_LOG_RAS_UNCORRECTABLE, p->device, NULL, 0);
		return s->now_ns + dl_sim_around(s, 3 * DL_S);
	}
	ev = dl_sim_fact(s, DL_FACT_RAS_RESET, p->device, NULL);
	dl_sim_tell(s, &ev);
	dl_sim_failed(s);
	dl_sim_log(s, DL_LOG_RAS_RESET, p->device, NULL, 0);
	dl_synth_reset_device(s, p->device, dl_sim_around(s, 3 * DL_S), 0);
	return 0;
}

void dl_synth_ras(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 600);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, wear_out, p, dl_synth_when(s));
}

static uint64_t smu_stalls(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;
	uint64_t next_ns;

	if (!a->stage++)
		a->n[0] = s->now_ns + dl_sim_around(s, 9 * DL_S);
	dl_sim_sign(s, s->now_ns);
	if (s->now_ns >= a->n[0]) {
		dl_sim_log(s, DL_LOG_RESUME_FAILED, p->device, NULL, 0);
		dl_sim_failed(s);
		dl_synth_reset_device(s, p->device, DL_S, -22); /* EINVAL */
		return 0;
	}
	dl_sim_log(s, DL_LOG_SMU_BUSY, p->device, NULL, 0);
	next_ns = s->now_ns + dl_sim_around(s, 2 * DL_S);
	return next_ns < a->n[0] ? next_ns : a->n[0];
}

void dl_synth_smu(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 600);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, smu_stalls, p, dl_synth_when(s));
}

static void lose_device(struct dl_sim *s, struct dl_sim_process *p)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_DEVICE, 0);

	dl_sim_log(s, DL_LOG_DEVICE_LOST, p->device, NULL, 0);
	dl_copy_name(ev.device.device, sizeof(ev.device.device), p->device->name);
	dl_copy_name(ev.device.driver, sizeof(ev.device.driver), p->device->driver);
	ev.device.change = DL_DEVICE_WEDGED;
	dl_sim_tell(s, &ev);
	dl_sim_throw(s, p, DL_LOST);
	dl_sim_exit(s, p, DL_STATUS_ABORT);
}

/* Corrected errors come ever closer, then one that is not. */
static uint64_t link_worsens(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	dl_sim_cause(s);
	if (!a->stage++)
		a->n[0] = dl_sim_around(s, 20 * DL_S);
	if (a->n[0] > 300 * DL_MS) {
		if (a->n[0] < 3 * DL_S)
			dl_sim_sign(s, s->now_ns);
		dl_sim_log(s, DL_LOG_AER_CORRECTED, p->device, NULL, 0);
		a->n[0] -= a->n[0] / 6;
		return s->now_ns + dl_sim_around(s, a->n[0]);
	}
	dl_sim_sign(s, s->now_ns);
	if (!a->n[1]) {
		a->n[1] = s->now_ns + dl_sim_around(s, 5 * DL_S);
		dl_sim_log(s, DL_LOG_AER, p->device, NULL, 0);
		return a->n[1];
	}
	dl_sim_log(s, DL_LOG_PCI_ERROR, p->device, NULL, 0);
	dl_sim_failed(s);
	lose_device(s, p);
	return 0;
}

void dl_synth_link(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, link_worsens, p, dl_synth_when(s));
}

struct xid {
	uint32_t code, role, class, hazard, weight;
};

/* As kmsg_xid.c judges them. */
static const struct xid xids[] = {
	{ 13, DL_PART_PRECURSOR, DL_CLASS_PAGE_FAULT, DL_LOG_HZ_FAULT_STORM, 2 },
	{ 31, DL_PART_FAILURE, DL_CLASS_PAGE_FAULT, 0, 0 },
	{ 48, DL_PART_FAILURE, DL_CLASS_GPU_RESET, 0, 0 },
	{ 63, DL_PART_PRECURSOR, DL_CLASS_GPU_RESET, DL_LOG_HZ_HARDWARE_ERROR, 1 },
	{ 94, DL_PART_PRECURSOR, DL_CLASS_GPU_RESET, DL_LOG_HZ_HARDWARE_ERROR, 3 },
};

static void say_xid(struct dl_sim *s, uint32_t code, const struct dl_sim_process *p)
{
	struct dl_event ev = dl_sim_fact(s, DL_FACT_NVIDIA_XID, p->device, NULL);
	const struct xid *x = xids;

	while (x->code != code)
		x++;
	ev.fact.detail = code;
	dl_sim_tell(s, &ev);
	ev = dl_sim_log_of(s, DL_LOG_XID, p->device, p);
	ev.log.code = code;
	ev.log.role = (uint8_t)x->role;
	ev.log.log_class = (uint8_t)x->class;
	ev.log.hazard = (uint8_t)x->hazard;
	ev.log.weight = (uint8_t)x->weight;
	ev.log.leads = (uint16_t)(x->weight ? 1u << x->class : 0);
	dl_sim_log_event(s, &ev);
}

static struct dl_sim_process *cuda(struct dl_sim *s)
{
	struct dl_sim_device *d = dl_synth_nvidia(s, (uint32_t)dl_sim_between(s, 0, 2));
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_CUDA, 700);

	dl_synth_chat(s, p);
	dl_sim_subject(s, d, p);
	return p;
}

static uint64_t shader_then_fault(struct dl_sim *s, struct dl_sim_actor *a)
{
	if (!a->stage++) {
		dl_sim_sign(s, s->now_ns);
		say_xid(s, 13, a->of);
		return s->now_ns + dl_sim_around(s, 51 * DL_S);
	}
	say_xid(s, 31, a->of);
	dl_sim_failed(s);
	dl_sim_exit(s, a->of, DL_STATUS_ABORT);
	return 0;
}

void dl_synth_xid(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	dl_sim_add_actor(s, shader_then_fault, cuda(s), dl_synth_when(s));
}

/* A row is remapped, another error is contained, the next is not. */
static uint64_t ecc(struct dl_sim *s, struct dl_sim_actor *a)
{
	switch (a->stage++) {
	case 0:
		dl_sim_cause(s);
		say_xid(s, 63, a->of);
		return s->now_ns + dl_sim_around(s, 5 * DL_MIN);
	case 1:
		dl_sim_sign(s, s->now_ns);
		say_xid(s, 94, a->of);
		return s->now_ns + dl_sim_around(s, 40 * DL_S);
	default:
		say_xid(s, 48, a->of);
		dl_sim_failed(s);
		dl_sim_exit(s, a->of, DL_STATUS_ABORT);
		return 0;
	}
}

void dl_synth_xid_ecc(struct dl_sim *s, uint64_t arg)
{
	(void)arg;
	dl_sim_add_actor(s, ecc, cuda(s), dl_synth_when(s));
}
