/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: what looks like a sign and is none. The list is INCIDENTS' "not precursors". */
#include "lab/scenarios.h"

/* n[0]: kind, n[1]: lines in a burst, n[2]: ns between two bursts */
static uint64_t say_lines(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_device *d = a->of;
	uint32_t code = a->n[0] == DL_LOG_RESTORE_WORKER_HOGGED ? 4 : 0;

	if (a->n[3]++ < a->n[1]) {
		dl_sim_log(s, (enum dl_log_kind)a->n[0], d, NULL, code);
		return s->now_ns + dl_sim_between(s, 1, 40) * DL_MS;
	}
	a->n[3] = 0;
	return s->now_ns + dl_sim_around(s, a->n[2]);
}

/* DL_LINES(kind, lines in a burst, minutes between two) */
void dl_benign_lines(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);
	struct dl_sim_actor *a;

	dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_ROCM, 500));
	a = dl_sim_add_actor(s, say_lines, d, s->begin_ns + dl_sim_around(s, 2 * DL_MIN));
	a->n[0] = arg >> 32;
	a->n[1] = arg >> 16 & 0xffff;
	a->n[2] = (arg & 0xffff) * DL_MIN;
}

/* The driver's own traffic: VMID 0, PASID 0, when a device comes back. */
static uint64_t stray(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process nobody = { .device = a->of };

	dl_sim_log(s, DL_LOG_RESET_CHATTER, a->of, NULL, 0);
	dl_sim_fault(s, &nobody, DL_FAULT_VM, dl_sim_between(s, 1, 1 << 20) * 4096,
		     (uint32_t)dl_sim_between(s, 1, 60));
	return s->now_ns + dl_sim_around(s, 8 * DL_MIN);
}

void dl_benign_driver_faults(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, 0);

	(void)arg;
	dl_synth_chat(s, dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500));
	dl_sim_add_actor(s, stray, d, s->begin_ns + DL_MIN);
}

/* With XNACK a page is brought at its first touch, by a retry fault: thousands while a model loads.
 */
static uint64_t touch(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (!a->stage++)
		a->n[0] = s->now_ns + dl_sim_around(s, 5 * DL_S);
	dl_sim_fault(s, p, DL_FAULT_VM_RETRY, 0x7f0000000000 + dl_sim_between(s, 0, 99999) * 4096,
		     (uint32_t)dl_sim_between(s, 20, 400));
	p->kfd.fault_count += 200;
	p->kfd.pages_in += 200ull * 512;
	if (s->now_ns < a->n[0])
		return s->now_ns + 50 * DL_MS;
	a->stage = 0;
	return s->now_ns + dl_sim_around(s, 15 * DL_MIN);
}

void dl_benign_first_touch(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_apu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 500);

	(void)arg;
	dl_synth_chat(s, p);
	dl_sim_add_actor(s, touch, p, s->begin_ns + 20 * DL_S);
}

/* A window opens, KFD's queues make room for it and come back: once in some minutes. */
static uint64_t make_room(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	if (a->stage++ % 2) {
		dl_sim_kfd(s, DL_KFD_QUEUES_RESTORED, p, 0, 0);
		p->kfd.evicted_ms += (s->now_ns - a->n[0]) / DL_MS;
		dl_sim_move_in(s, p->pid, p, p->client.evicted);
		return s->now_ns + dl_sim_around(s, 3 * DL_MIN);
	}
	a->n[0] = s->now_ns;
	dl_sim_move_out(s, s->process[1].pid, p, dl_sim_between(s, 8, 120) * DL_MIB);
	dl_sim_kfd(s, DL_KFD_QUEUES_EVICTED, p, 2, 0);
	return s->now_ns + dl_sim_between(s, 100, 250) * DL_MS;
}

void dl_benign_queue_moves(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, 0);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 880);

	(void)arg;
	dl_synth_chat(s, p);
	dl_synth_desktop(s, d);
	dl_sim_add_actor(s, make_room, p, s->begin_ns + DL_MIN);
}
