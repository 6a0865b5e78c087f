/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benign: look-alikes of precursors, from INCIDENTS' "not precursors". */
#include "lab/scenarios.h"

/* n[0]: kind, n[1]: lines in a burst, n[2]: ns between two bursts */
static uint64_t say_lines(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	uint32_t code = a->n[0] == DAVY_LOG_RESTORE_WORKER_HOGGED ? 4 : 0;

	if (a->n[3]++ < a->n[1]) {
		davy_sim_log(s, (enum davy_log_kind)a->n[0], d, NULL, code);
		return s->now_ns + davy_sim_between(s, 1, 40) * DAVY_MS;
	}
	a->n[3] = 0;
	return s->now_ns + davy_sim_around(s, a->n[2]);
}

/* DAVY_LINES(kind, lines in a burst, minutes between two) */
void davy_benign_lines(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);
	struct davy_sim_actor *a;

	davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 500));
	a = davy_sim_add_actor(s, say_lines, d, s->begin_ns + davy_sim_around(s, 2 * DAVY_MIN));
	a->n[0] = arg >> 32;
	a->n[1] = arg >> 16 & 0xffff;
	a->n[2] = (arg & 0xffff) * DAVY_MIN;
}

/* The driver's own traffic: VMID 0, PASID 0, when a device comes back. */
static uint64_t noise_stray(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process nobody = { .device = a->of };

	davy_sim_log(s, DAVY_LOG_RESET_CHATTER, a->of, NULL, 0);
	davy_sim_fault(s, &nobody, DAVY_FAULT_VM, davy_sim_between(s, 1, 1 << 20) * 4096,
		       (uint32_t)davy_sim_between(s, 1, 60));
	return s->now_ns + davy_sim_around(s, 8 * DAVY_MIN);
}

void davy_benign_driver_faults(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, 0);

	(void)arg;
	davy_synth_chat(s, davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500));
	davy_sim_add_actor(s, noise_stray, d, s->begin_ns + DAVY_MIN);
}

/* With XNACK the first touch maps a page by a retry fault: thousands while a model loads. */
static uint64_t touch(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++)
		a->n[0] = s->now_ns + davy_sim_around(s, 5 * DAVY_S);
	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY,
		       0x7f0000000000 + davy_sim_between(s, 0, 99999) * 4096,
		       (uint32_t)davy_sim_between(s, 20, 400));
	p->kfd.fault_count += 200;
	p->kfd.pages_in += 200ull * 512;
	if (s->now_ns < a->n[0])
		return s->now_ns + 50 * DAVY_MS;
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 15 * DAVY_MIN);
}

void davy_benign_first_touch(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 500);

	(void)arg;
	davy_synth_chat(s, p);
	davy_sim_add_actor(s, touch, p, s->begin_ns + 20 * DAVY_S);
}

/* A window opens: KFD's queues are evicted and restored, once in some minutes. */
static uint64_t noise_make_room(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage++ % 2) {
		davy_sim_kfd(s, DAVY_KFD_QUEUES_RESTORED, p, 0, 0);
		p->kfd.evicted_ms += (s->now_ns - a->n[0]) / DAVY_MS;
		davy_sim_move_in(s, p->pid, p, p->client.evicted);
		return s->now_ns + davy_sim_around(s, 3 * DAVY_MIN);
	}
	a->n[0] = s->now_ns;
	davy_sim_move_out(s, s->process[1].pid, p, davy_sim_between(s, 8, 120) * DAVY_MIB);
	davy_sim_kfd(s, DAVY_KFD_QUEUES_EVICTED, p, 2, 0);
	return s->now_ns + davy_sim_between(s, 100, 250) * DAVY_MS;
}

void davy_benign_queue_moves(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 880);

	(void)arg;
	davy_synth_chat(s, p);
	davy_synth_desktop(s, d);
	davy_sim_add_actor(s, noise_make_room, p, s->begin_ns + DAVY_MIN);
}
