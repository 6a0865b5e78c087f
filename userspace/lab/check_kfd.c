/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out failures of ROCm: KFD's evictions and restores, its faults, its firmware scheduler. */
#include "lab/check_parts.h"

#define TRIGGER_SVM 0 /* KFD_QUEUE_EVICTION_TRIGGER_* */
#define TRIGGER_TTM 2

/* A server by ROCm; of an APU of "gib", or of a card with 16 GB. */
static struct davy_sim_process *check_hip_server(struct davy_sim *s, enum davy_engine engine,
						 const char *model, uint64_t model_gib, bool apu)
{
	struct davy_check_engine e = davy_check_by_rocm(model, model_gib * DAVY_GIB, 32768);
	struct davy_sim_device *d = apu ? davy_synth_apu(s, 0) : davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;

	e.engine = engine;
	if (engine == DAVY_ENGINE_OLLAMA_RUNNER) {
		e.comm = "ollama";
		e.role = DAVY_ROLE_RUNNER;
	} else if (engine == DAVY_ENGINE_COMFYUI) {
		e.comm = "python3";
	} else if (engine == DAVY_ENGINE_LLAMA_CPP) {
		e.comm = "llama-bench";
		e.role = DAVY_ROLE_TOOL;
	}
	if (apu) {
		s->host_total = 128 * DAVY_GIB;
		d->memory.gtt_total = 110 * DAVY_GIB;
	} else {
		d->memory.vram_total = d->memory.visible_total = 16304 * DAVY_MIB;
	}
	p = davy_check_engine(s, d, &e, model_gib * DAVY_GIB / 10 * 11);
	davy_sim_subject(s, d, p);
	return p;
}

static void check_hogged(struct davy_sim *s, uint32_t times)
{
	davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, times);
}

/* Evicted and restored, with shorter and shorter pauses; the load gets slower. */
static uint64_t check_storm(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *other = &s->process[a->n[4]];
	bool svm = a->n[0] == TRIGGER_SVM;
	uint64_t moved = davy_sim_between(s, 150, 700) * DAVY_MIB;

	if (a->stage++ % 2 == 0) {
		davy_sim_precursor(s, s->now_ns);
		davy_check_evict_queues(s, p, (uint32_t)a->n[0]);
		if (!svm)
			davy_sim_move_out(s, other->pid, p, moved);
		a->n[5] = davy_sim_between(s, 100, 450) * DAVY_MS;
		return s->now_ns + a->n[5];
	}
	davy_check_restore_queues(s, p, a->n[5], davy_random_chance(&s->random, svm ? 250 : 60));
	if (!svm)
		davy_sim_move_in(s, other->pid, p, p->client.evicted);
	if (svm && a->stage >= a->n[3]) {
		check_hogged(s, (uint32_t)a->n[3] + 3);
		a->n[3] *= 2;
	}
	a->n[1] = a->n[1] * a->n[2] / 1000;
	l->slow_permille = 1000 + (uint32_t)(1600 * DAVY_S / (a->n[1] + DAVY_S / 4));
	if (l->slow_permille >= 4000)
		davy_sim_failed(s);
	return s->now_ns + davy_random_near(&s->random, a->n[1], 300);
}

static struct davy_sim_actor *check_add_storm(struct davy_sim *s, struct davy_sim_load *l,
					      uint32_t trigger, uint64_t pause_ns, uint64_t at_ns)
{
	struct davy_sim_actor *a = davy_sim_add_actor(s, check_storm, l, at_ns);

	a->n[0] = trigger;
	a->n[1] = pause_ns;
	a->n[2] = davy_sim_between(s, 920, 975); /* of the pause before */
	a->n[3] = 4;
	return a;
}

static uint64_t check_pressure_begins(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_cause(s);
	return 0;
}

/*
 * amd-svm-003 and amd-svm-004: Strix Halo, 128 GB. Pressure on the host's memory swaps out SVM
 * pages of a server; svm_range_restore_work starts again and again ("hogged CPU 4, 7, 11, 19 ..
 * times", no fault): 7,000 interrupts/s for days, swaps wedge after 816 s. The failure is a speed
 * of a quarter.
 */
void davy_check_restore_loop(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p = check_hip_server(s, DAVY_ENGINE_LLAMA_SERVER,
						      "Qwen3.5-122B-A10B-Q4_K_M.gguf", 70, true);
	struct davy_sim_load *l = davy_check_chat(s, p, 10 * DAVY_S);
	uint64_t ns = davy_sim_around(s, 4 * DAVY_MIN);

	(void)arg;
	davy_check_wander(s, &p->device->gtt_other, 40 * DAVY_MIB, 90 * DAVY_MIB, 5 * DAVY_S);
	davy_check_ramp(s, &s->host_other, 44 * DAVY_GIB, davy_synth_when(s), ns);
	davy_sim_add_actor(s, check_pressure_begins, NULL, davy_synth_when(s));
	check_add_storm(s, l, TRIGGER_SVM, davy_sim_between(s, 6, 15) * DAVY_S,
			davy_synth_when(s) + ns / 2);
}

/*
 * KERNEL 5.1 (kfd_process.c of 7.2: restore after 100 ms): a graphics client that grows on the same
 * card evicts a KFD process as a whole; each cycle costs at least 100 ms. amd-ttm-002 and
 * amdgpu#227: 7 times slower without a crash. Moves of 150 to 700 MB out and in.
 */
void davy_check_queue_thrash(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p =
		check_hip_server(s, DAVY_ENGINE_LLAMA_SERVER, "Qwen3.6-27B-IQ3_XS.gguf", 12, false);
	struct davy_sim_process *game = davy_check_app(s, p->device, "blender", 900 * DAVY_MIB);
	struct davy_sim_load *l = davy_check_chat(s, p, 8 * DAVY_S);

	(void)arg;
	davy_check_frames(s, game, 9 * DAVY_MS, 40);
	davy_check_ramp(s, &game->client.vram, 2900 * DAVY_MIB, davy_synth_when(s), 3 * DAVY_MIN);
	check_add_storm(s, l, TRIGGER_TTM, davy_sim_between(s, 8, 20) * DAVY_S, davy_synth_when(s))
		->n[4] = (uint64_t)(game - s->process);
}

/* A no-retry fault: its lines, KFD's event, and the end of the process by ROCr. */
static void check_fatal_fault(struct davy_sim *s, struct davy_sim_process *p, uint32_t count)
{
	uint64_t addr = 0x72000000000 + davy_sim_between(s, 0, 0xffffff) * 4096;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_KFD_VM_FAULT, p->device, p);

	davy_sim_fault(s, p, DAVY_FAULT_VM, addr, count);
	ev.fact.pasid = p->pasid;
	ev.fact.addr = addr;
	davy_sim_tell(s, &ev);
	davy_sim_kfd(s, DAVY_KFD_VM_FAULT, p, 0, 0);
	ev = davy_sim_log_of(s, DAVY_LOG_PAGE_FAULT, p->device, p);
	ev.log.addr = addr;
	davy_sim_log_event(s, &ev);
	davy_sim_log(s, DAVY_LOG_FAULT_STATUS, p->device, NULL, 0);
}

static uint64_t check_doubles(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage < a->n[0]) {
		davy_sim_precursor(s, s->now_ns);
		check_hogged(s, (67u << a->stage) - (3u * ((1u << a->stage) - 1)));
		a->stage++;
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S / a->n[0]);
	}
	check_fatal_fault(s, p, (uint32_t)davy_sim_between(s, 1, 300));
	davy_sim_failed(s);
	davy_synth_end_later(s, p, davy_sim_between(s, 5, 80) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-svm-001: RX 9070 XT, ComfyUI: "svm_range_restore_work hogged CPU" 67, 131, 259, 515, 1027
 * times, then faults of SDMA0 at addresses that are not mapped yet; amd-svm-006: 40 s before.
 */
void davy_check_hog_doubles(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p = check_hip_server(s, DAVY_ENGINE_COMFYUI, "sdxl", 7, false);
	struct davy_check_peaks peaks = {
		.base = 7 * DAVY_GIB,
		.peak = davy_sim_between(s, 12, 15) * DAVY_GIB,
		.period_ns = 25 * DAVY_S,
		.cache = 2 * DAVY_GIB,
	};

	(void)arg;
	davy_check_peaks(s, p, &peaks);
	davy_sim_add_actor(s, check_doubles, p, davy_synth_when(s))->n[0] =
		davy_sim_between(s, 3, 5);
}

/* Retry faults are served; some come all day. */
static uint64_t check_retries(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!p->alive)
		return 0;
	davy_sim_fault(s, p, DAVY_FAULT_VM_RETRY, 0x7e0000000000 + davy_sim_between(s, 0, 4096),
		       (uint32_t)davy_sim_between(s, 1, a->n[0]));
	return s->now_ns + davy_sim_around(s, 9 * DAVY_S);
}

static uint64_t check_mes_dies(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_precursor(s, s->now_ns);
		check_fatal_fault(s, p, (uint32_t)davy_sim_between(s, 2, 40));
		davy_check_load_of(s, p)->stick = true;
		return s->now_ns + davy_sim_around(s, 60 * DAVY_S);
	}
	if (a->stage <= 4) {
		davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
		return s->now_ns + 2 * DAVY_S;
	}
	davy_sim_log(s, DAVY_LOG_QUEUE_EVICT_FAILED, p->device, NULL, 0);
	davy_synth_reset_device(s, p->device, davy_sim_between(s, 400, 2500) * DAVY_MS, 0);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-pf-005: Strix Halo, Ollama 0.11. A page fault at 00:44:21, "MES failed to respond to
 * msg=REMOVE_QUEUE" at 00:45:21 (tries are 2.0 s apart), GPU reset; ROCm#6529 and #5616: 2 s.
 * Before it the usual noise of retry faults (amd-pf-010 has one 10 us before the fatal one).
 */
void davy_check_fault_then_mes(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p =
		check_hip_server(s, DAVY_ENGINE_OLLAMA_RUNNER, "gpt-oss:120b", 62, true);

	(void)arg;
	davy_check_chat(s, p, 12 * DAVY_S);
	davy_sim_add_actor(s, check_retries, p, s->begin_ns + 5 * DAVY_S)->n[0] = 30;
	davy_sim_add_actor(s, check_mes_dies, p, davy_synth_when(s));
}

static uint64_t check_mes_silent(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_check_stuck(s, davy_check_load_of(s, p));
		return s->now_ns + davy_sim_around(s, 8 * DAVY_MIN);
	}
	davy_sim_failed(s);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
	davy_sim_log(s, DAVY_LOG_MES_FAILED, p->device, NULL, 0);
	davy_synth_reset_device(s, p->device, 3 * DAVY_S, -62);
	return 0;
}

/*
 * amd-hang-002: R9700, llama-bench by ROCm 7.14, Qwen3-0.6B. The firmware scheduler is dead for
 * eight minutes and nothing is logged until the process is stopped; only then "MES failed to
 * respond", MODE1 reset, PSP resume -62. A hang without a word; the failure is the user's kill.
 */
void davy_check_silent_mes(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_process *p =
		check_hip_server(s, DAVY_ENGINE_LLAMA_CPP, "Qwen3-0.6B-Q8_0.gguf", 1, false);

	(void)arg;
	davy_check_chat(s, p, 500 * DAVY_MS);
	davy_sim_add_actor(s, check_mes_silent, p, davy_synth_when(s));
}

static uint64_t check_entity_killed(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *probe = a->of;
	struct davy_sim_device *d = probe->device;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, probe);
		return s->now_ns + davy_sim_between(s, 800, 2500) * DAVY_MS;
	case 1:
		davy_sim_exit(s, probe, DAVY_STATUS_KILL);
		return s->now_ns + 40 * DAVY_MS;
	case 2:
		davy_sim_log(s, DAVY_LOG_KILLED_ENTITY, d, NULL, 0);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + 1911 * DAVY_MS;
	case 3:
		davy_sim_log(s, DAVY_LOG_QUEUE_BUFFER_FREED, d, NULL, 0);
		davy_sim_log(s, DAVY_LOG_KILLED_ENTITY, d, NULL, 0);
		return s->now_ns + davy_random_near(&s->random, 123 * DAVY_S, 30);
	}
	davy_sim_log(s, DAVY_LOG_HUNG_TASK, d, NULL, 0);
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-svm-010: Ollama kills its discovery's child; 367.9 s "Trying to push to a killed entity",
 * 369.8 s the same, 492.7 s "task kworker blocked for more than 122 seconds" (amdgpu_tlb_fence_-
 * work; 140 workers in D state); slower and slower until the reboot. Kernels 6.8 and 6.17.
 */
void davy_check_killed_entity(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("", 0, 0);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *probe, *desktop;

	(void)arg;
	desktop = davy_check_app(s, d, "gnome-shell", 400 * DAVY_MIB);
	davy_check_frames(s, desktop, 3 * DAVY_MS, 30);
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_DISCOVERY;
	probe = davy_check_engine(s, d, &e, 90 * DAVY_MIB);
	davy_sim_exit(s, probe, DAVY_STATUS_KILL); /* that of the boot did no harm */
	davy_sim_add_actor(s, check_entity_killed, probe, davy_synth_when(s));
	davy_sim_subject(s, d, NULL);
}
