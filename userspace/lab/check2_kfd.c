/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set: KFD and MES, mostly of integrated GPUs. */
#include <errno.h>

#include "lab/check2_parts.h"

static struct davy_check_engine check2_runner(const char *model, uint64_t bytes)
{
	struct davy_check_engine e = davy_check_by_rocm(model, bytes, 16384);

	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	return e;
}

/* Another model is loaded; n[0]: its bytes */
static uint64_t check2_loads_other(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t step = 250 * DAVY_MIB;

	if (!a->stage) {
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 300, 2500) * DAVY_MS;
	}
	if (a->stage == 1) {
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		a->stage = 2;
	}
	if (p->client.gtt + step < a->n[0]) {
		p->client.gtt += step;
		return s->now_ns + 100 * DAVY_MS;
	}
	if (a->stage == 2) {
		a->stage = 3;
		return s->now_ns + davy_sim_around(s, 2 * DAVY_S);
	}
	davy_sim_precursor(s, s->now_ns);
	davy_check2_mes_reset(s, p->device, p);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-gr-010 (and gr-001, gr-009, gr-011): Ollama by ROCm on an APU. 2 s after a runner started,
 * at the first use of its model, MES does not answer REMOVE_QUEUE; the reset follows at once.
 */
void davy_check2_mes_first_use(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check2_runner("Qwen3-8B", 5 * DAVY_GIB);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p = davy_check_engine(s, d, &e, 7 * DAVY_GIB);

	(void)arg;
	davy_check_frames(s, davy_synth_desktop(s, d), 4 * DAVY_MS, 60);
	davy_check_chat(s, p, 10 * DAVY_S);
	davy_check2_then(s, check2_loads_other, p)->n[0] = davy_sim_between(s, 9, 18) * DAVY_GIB;
	davy_sim_subject(s, d, p);
}

/* n: end of the swaps. The runner is swapped each 45 s while a Vulkan client draws. */
static uint64_t check2_swaps_wedge(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t whole = (uint64_t)(5 + p->pid % 4) * DAVY_GIB;

	if (!a->stage++) {
		davy_sim_cause(s);
		a->n[0] = s->now_ns + davy_sim_around(s, 816 * DAVY_S);
	}
	if (a->n[1]) { /* the fault has happened */
		davy_check2_mes_reset(s, p->device, p);
		davy_sim_failed(s);
		return 0;
	}
	if (!p->alive) {
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		davy_check_go_on(s, davy_check_load_of(s, p));
		return s->now_ns + 100 * DAVY_MS;
	}
	if (p->client.gtt < whole) {
		p->client.gtt += 200 * DAVY_MIB;
		return s->now_ns + 100 * DAVY_MS;
	}
	if (s->now_ns >= a->n[0]) {
		a->n[1] = 1;
		davy_sim_precursor(s, s->now_ns);
		davy_check2_page_fault(s, p, 0x7f3fa8f64000, 1);
		return s->now_ns + davy_sim_around(s, 2 * DAVY_S);
	}
	if (!a->n[2]) {
		a->n[2] = 1;
		return s->now_ns + davy_sim_around(s, 38 * DAVY_S);
	}
	a->n[2] = 0;
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
	return s->now_ns + davy_sim_between(s, 500, 2500) * DAVY_MS;
}

/*
 * INCIDENTS.md B2 row 16 (TheRock#5993): a model swap each 45 s beside a Vulkan client on an APU;
 * a page fault and MES's silence after 816 s.
 */
void davy_check2_swap_wedge(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check2_runner("gemma-4-4b", 5 * DAVY_GIB), v;
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_process *p, *vulkan;

	(void)arg;
	v = davy_check_by_vulkan("Llama-3.2-3B", 2 * DAVY_GIB, 8192);
	p = davy_check_engine(s, d, &e, 5 * DAVY_GIB);
	vulkan = davy_check_engine(s, d, &v, 3 * DAVY_GIB);
	davy_check_chat(s, p, 8 * DAVY_S);
	davy_check_chat(s, vulkan, 3 * DAVY_S);
	davy_check2_then(s, check2_swaps_wedge, p);
	davy_sim_subject(s, d, p);
}

/* A flood of faults; Ollama starts another runner hours later, which gets no queue. */
static uint64_t check2_card_is_dead(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_precursor(s, s->now_ns);
		davy_check2_page_fault(s, p, 0x72c7c5205000,
				       (uint32_t)davy_sim_between(s, 60, 4000));
		davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, p->device, NULL, 3);
		davy_synth_end_later(s, p, davy_sim_between(s, 100, 900) * DAVY_MS,
				     DAVY_STATUS_ABORT);
		return s->now_ns + davy_sim_between(s, 3600, 10800) * DAVY_S;
	case 1:
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 900, 2500) * DAVY_MS;
	default:
		davy_check2_lines(s, DAVY_LOG_QUEUE_CREATE_FAILED, p->device, p, 1);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
		davy_sim_failed(s);
		davy_check2_lines(s, DAVY_LOG_HWS_HANG, p->device, NULL, 1);
		return s->now_ns + 4004 * DAVY_MS;
	}
}

/*
 * amd-hang-004: a flood of page faults of ollama's runner. Two hours later, when a model is wanted
 * again, KFD cannot create a queue, each 4.0 s.
 */
void davy_check2_dead_card(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check2_runner("Mistral-Nemo-12B", 8 * DAVY_GIB);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p;

	(void)arg;
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	davy_check_chat(s, p, 12 * DAVY_S);
	davy_check2_then(s, check2_card_is_dead, p);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_wq_then_fault(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		davy_sim_log(s, DAVY_LOG_WORKER_HOGGED, NULL, NULL, 5);
		return s->now_ns + davy_sim_around(s, 17 * DAVY_S);
	}
	davy_check2_lines(s, DAVY_LOG_WAVE_ERROR, p->device, NULL, 205);
	davy_sim_fault(s, p, DAVY_FAULT_WAVE, 0, 205);
	davy_check2_page_fault(s, p, 0x72570855b000, 4);
	davy_sim_failed(s);
	davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, p->device, NULL, 4);
	davy_synth_end_later(s, p, 70 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-ev-001: an iGPU and a card under one runner. The workqueue that frees KFD's processes hogs a
 * CPU, 17 s later the waves report errors and the GPU faults, in the same ms. A runner ended
 * before.
 */
void davy_check2_wq_hogged(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check2_runner("Qwen3-14B", 9 * DAVY_GIB);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_check2_visits probe = {
		.period_ns = 9 * DAVY_MIN,
		.stay_ns = 2 * DAVY_S,
		.bytes = 200 * DAVY_MIB,
		.status = DAVY_STATUS_KILL,
	};
	struct davy_sim_process *p, *child;

	(void)arg;
	p = davy_check_engine(s, d, &e, 11 * DAVY_GIB);
	child = davy_sim_add_process(s, d, "ollama");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->by_kfd = true;
	davy_check2_visits(s, child, &probe);
	davy_check_chat(s, p, 7 * DAVY_S);
	davy_check2_then(s, check2_wq_then_fault, p);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_cannot_evict(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		davy_check_evict_queues(s, p, 1); /* a user pointer's pages were taken */
		davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, p->device, p, 4);
		davy_check2_lines(s, DAVY_LOG_QUIESCE_FAILED, p->device, NULL, 1);
		davy_check2_lines(s, DAVY_LOG_IP_DUMP_BEGUN, p->device, NULL, 1);
		davy_check2_lines(s, DAVY_LOG_WAVE_ERROR, p->device, NULL, 40);
		davy_sim_fault(s, p, DAVY_FAULT_WAVE, 0, 40);
		for (size_t i = 0; i < s->load_count; i++)
			s->load[i].stick = true;
		return s->now_ns + davy_sim_around(s, 90 * DAVY_S);
	}
	davy_sim_log(s, DAVY_LOG_PANIC, NULL, NULL, 0);
	davy_check2_host_dies(s);
	return 0;
}

/*
 * amd-hc-001: several llama-servers on a Ryzen AI Max. An MMU notifier wants a server's queues off
 * the GPU, none can be evicted, KFD cannot be quiesced, the waves report errors 0.5 ms later; the
 * kernel panics "after some time" (the report does not say after how long).
 */
void davy_check2_unevictable(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-8B", 5 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p = NULL;

	(void)arg;
	davy_check2_host(s, d, 112);
	for (int i = 0; i < 3; i++) {
		p = davy_check_engine(s, d, &e, davy_sim_between(s, 6, 12) * DAVY_GIB);
		davy_check_chat(s, p, davy_sim_between(s, 4, 20) * DAVY_S);
	}
	davy_check2_then(s, check2_cannot_evict, p);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_pme(struct davy_sim *s, struct davy_sim_actor *a)
{
	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		a->n[0] = davy_sim_between(s, 1, 3);
		a->n[1] = s->now_ns + davy_sim_around(s, 503 * DAVY_S);
	}
	if (a->n[0]) {
		a->n[0]--;
		davy_sim_log(s, DAVY_LOG_PME_SPURIOUS, NULL, NULL, 0);
		return a->n[0] ? s->now_ns + davy_sim_between(s, 1, 90) * DAVY_S : a->n[1];
	}
	davy_check2_host_dies(s);
	return 0;
}

/*
 * amd-hang-001: Strix Halo under load. One to three spurious PME interrupts of a PCIe port, 8 min
 * 23 s later the host stands still; nothing else is logged, and nothing after.
 */
void davy_check2_spurious_pme(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 20 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_host(s, d, 112);
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	p = davy_check_engine(s, d, &e, 52 * DAVY_GIB);
	davy_check_chat(s, p, 2 * DAVY_S);
	davy_check2_then(s, check2_pme, NULL);
	davy_sim_subject(s, d, p);
}

static uint64_t check2_garbles(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage) {
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		a->stage = 1;
		return s->now_ns + davy_sim_between(s, 800, 3000) * DAVY_MS;
	}
	if (a->stage == 1) {
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		a->stage = 2;
	}
	if (p->client.gtt < a->n[0]) {
		p->client.gtt += 300 * DAVY_MIB;
		return s->now_ns + 100 * DAVY_MS;
	}
	if (a->stage == 2) {
		a->stage = 3;
		l->slow_permille = 900;
		davy_check_go_on(s, l);
	}
	if (l->phase != DAVY_SIM_ANSWER)
		return s->now_ns + 200 * DAVY_MS;
	davy_sim_precursor(s, s->now_ns);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-wo-003: after the unload of a model and the load of another one Ollama answers GGGGGG. The
 * GPU is busy with less power than usual, which no sensor of this agent shows.
 */
void davy_check2_garbage(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = check2_runner("gpt-oss-20b", 12 * DAVY_GIB);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p;

	(void)arg;
	davy_check2_host(s, d, 112);
	p = davy_check_engine(s, d, &e, 14 * DAVY_GIB);
	davy_check2_then(s, check2_garbles, davy_check_chat(s, p, 9 * DAVY_S))->n[0] =
		davy_sim_between(s, 8, 40) * DAVY_GIB;
	davy_sim_subject(s, d, p);
}
