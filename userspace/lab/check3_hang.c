/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work that never ends, hosts that stop, and a card that does not wake. */
#include <errno.h>

#include "lab/check3_parts.h"

/* n: lines left */
static uint64_t hang_upload(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		a->n[0] = davy_sim_between(s, 5, 25);
		davy_sim_cause(s);
		davy_check3_load(s, p, 62 * DAVY_GIB, 2 * DAVY_MIB);
		davy_sim_subject(s, p->device, p);
		return s->now_ns + 34 * DAVY_S;
	case 1:
		davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, 4);
		break;
	default:
		break;
	}
	davy_sim_log(s, DAVY_LOG_SVM_OVER_LIMIT, p->device, p, 0);
	davy_sim_precursor(s, s->now_ns);
	p->graph.entered_ns = p->graph.entered_ns ? p->graph.entered_ns : s->now_ns;
	if (a->n[0]--)
		return s->now_ns + davy_sim_between(s, 200, 4000) * DAVY_MS;
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-svm-002, ROCm/legacy-rocm-build#6582, gfx1151: the upload of a model from mmap stalls. "SVM
 * mapping failed, exceeds resident system memory limit" repeats, then the process spins for ever.
 */
void davy_check3_mmap_upload(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3-235B-A22B-Q3_K_S.gguf", 88000 * DAVY_MIB, 16384);
	struct davy_check_engine small =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &small, 35, 30 * DAVY_S);
	davy_check2_then(s, hang_upload, davy_check3_later(s, d, &e));
}

static uint64_t hang_wedge(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_ANSWER)
		return s->now_ns + 100 * DAVY_MS;
	l->stopped = true; /* a slot stays busy, the GPU rests */
	l->p->graph.entered_ns = 0;
	davy_check3_fails(s, l->p->device, l->p);
	return 0;
}

/*
 * nv-015, ggml-org/llama.cpp#27388, 2 RTX 3090: the server's lines cease in an answer, the GPUs
 * rest, /slots does not answer. No line of the driver in three incidents: no precursor.
 */
void davy_check3_engine_wedge(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.6-35B-A3B-Q8_0.gguf",
						    37800 * DAVY_MIB, 65536);

	(void)arg;
	davy_synth_nvidia(s, 1);
	davy_check2_then(s, hang_wedge, davy_check3_serve(s, d, &e, 830, 8 * DAVY_S));
}

static uint64_t hang_locked(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	switch (a->stage++) {
	case 0:
		l->habit.think_ns = 200 * DAVY_MS;
		l->habit.prompt_max = 12000;
		return s->now_ns + davy_sim_between(s, 300, 600) * DAVY_S;
	case 1:
		if (!l->began_ns) {
			a->stage--;
			return s->now_ns + 5 * DAVY_MS;
		}
		davy_check3_stick(s, l);
		return s->now_ns + 7 * DAVY_S;
	default:
		davy_check3_fails(s, p->device, p);
		davy_sim_log(s, DAVY_LOG_NV_LOCKED, p->device, NULL, 0);
		davy_check_xid(s, p->device, p, 8);
		davy_synth_end_later(s, p, davy_sim_between(s, 5, 300) * DAVY_MS,
				     DAVY_STATUS_ABORT);
		return 0;
	}
}

/*
 * ggml-org/llama.cpp#27330 and #27102, RTX 5090, 610.57.04 open: 5 to 10 min into traffic of
 * several slots a channel hangs. The watchdog's line and Xid 8 come in the same second, and no
 * other line within 5 min: no precursor.
 */
void davy_check3_watchdog_kill(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_check_engine e = davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3.8-27B-Q4_K_M.gguf",
						    16800 * DAVY_MIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	d->memory.vram_total = 32 * DAVY_GIB;
	e.ubatch = 256;
	l = davy_check3_serve(s, d, &e, 900, 10 * DAVY_S);
	l->p->info.parallel = 3;
	davy_check2_then(s, hang_locked, l);
}

/* of: the server's load; the process before it transcodes. n: end of the wait */
static uint64_t hang_guc(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_XE_TLB_TIMEOUT, l->p->device, NULL);

	if (!a->stage++) {
		a->n[0] = s->now_ns + davy_sim_between(s, 8, 30) * DAVY_S;
		davy_check3_stop(s, l->p - 1);
		davy_check3_stick(s, l);
		davy_sim_precursor(s, s->now_ns);
	}
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_XE_TLB_TIMEOUT, l->p->device, NULL, 0);
	if (s->now_ns >= a->n[0])
		davy_sim_failed(s);
	return s->now_ns + davy_sim_between(s, 2050, 2300) * DAVY_MS;
}

/*
 * strongtz/i915-sriov-dkms#332, xe of 6.17: hours after the boot "TLB invalidation fence timeout"
 * every 2.1 s. The GuC answers nothing more: work by Level Zero, without a job timeout, waits.
 */
void davy_check3_guc_tlb(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *app = davy_check_app(s, d, "ffmpeg", 500 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	davy_check_frames(s, app, 4 * DAVY_MS, 60);
	davy_check_wander(s, &app->client.vram, 300 * DAVY_MIB, 800 * DAVY_MIB, 20 * DAVY_S);
	l = davy_check3_serve(s, d, &e, 480, 15 * DAVY_S);
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, hang_guc, l);
}

static const uint32_t hang_counts[] = { 4, 5, 7, 11, 19, 35, 67, 131 };

/* n: time between two lines */
static uint64_t hang_escalates(struct davy_sim *s, struct davy_sim_actor *a)
{
	size_t count = sizeof(hang_counts) / sizeof(hang_counts[0]);
	uint32_t n = a->stage / 2;

	if (!a->stage)
		a->n[0] = davy_sim_between(s, 40 * 60, 5 * 3600) * DAVY_S / (2 * count + 1);
	if (n >= count) {
		davy_check2_host_dies(s);
		return 0;
	}
	davy_sim_precursor(s, s->now_ns);
	if (a->stage++ % 2 || n + 1 < count) /* the deferred list's work reaches 67 */
		davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, hang_counts[n]);
	return s->now_ns + davy_sim_around(s, a->n[0]);
}

/*
 * ROCm/legacy-rocm-build#5952 (a comment of September 2026), two R9700, vLLM by ROCm over both:
 * lines about hogging svm_range_deferred_list_work and svm_range_restore_work double from 4 to 131,
 * then the host hangs silently, 40 min to 21 h after the first line (here about 5 h at most).
 */
void davy_check3_vllm_escalates(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 32624);
	struct davy_sim_device *second = davy_check3_second(s, 10 * DAVY_S, 32624);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.8-27B-FP8", 28600 * DAVY_MIB, 131072);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "VLLM::Worker_TP";
	e.engine = DAVY_ENGINE_VLLM;
	l = davy_check3_serve(s, d, &e, 900, 2 * DAVY_S);
	davy_check3_serve(s, second, &e, 900, 2 * DAVY_S);
	davy_sim_subject(s, d, l->p);
	davy_check2_then(s, hang_escalates, l);
}

/* n: end of the stall, rounds of the storm left */
static uint64_t hang_shards(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	switch (a->stage) {
	case 0:
		a->stage = 1;
		davy_sim_cause(s);
		davy_check3_load(s, p, 29 * DAVY_GIB, DAVY_MIB / 2);
		davy_sim_subject(s, d, p);
		return s->now_ns + 62 * DAVY_S;
	case 1:
		a->stage = 2;
		a->n[0] = s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
		a->n[1] = davy_sim_between(s, 2, 3);
		p->graph.entered_ns = s->now_ns;
		return s->now_ns + DAVY_S;
	case 2: /* 100 % busy */
		davy_sim_precursor(s, s->now_ns);
		p->client.busy_ns += DAVY_S;
		if (s->now_ns >= a->n[0])
			a->stage = 3;
		return s->now_ns + DAVY_S;
	default:
		break;
	}
	if (!a->n[1]--) {
		davy_sim_log(s, DAVY_LOG_LOCKUP, NULL, NULL, 0);
		davy_check2_host_dies(s);
		return 0;
	}
	if (a->stage == 3) {
		a->stage = 4;
		davy_check2_ring_timeout(s, d, &d->ring[4], NULL);
		davy_check3_ring_line(s, DAVY_LOG_RING_RESET_FAILED, d, &d->ring[4]);
	} else {
		davy_check2_mes_reset(s, d, p);
	}
	return s->now_ns + davy_sim_between(s, 6, 14) * DAVY_S;
}

/*
 * amd-hang-007, R9700, 6.17: two shards are loaded; before the API is ready the GPU is 100 % busy,
 * its memory 0 %, nothing is logged. After minutes SDMA, KFD and MES fail in turns, a CPU locks up.
 */
void davy_check3_shards_stall(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 32624);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-35B-A3B-FP8", 29500 * DAVY_MIB, 32768);

	(void)arg;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	davy_check_frames(s, desktop, 2 * DAVY_MS, 30);
	davy_check_wander(s, &desktop->client.vram, 100 * DAVY_MIB, 400 * DAVY_MIB, 20 * DAVY_S);
	davy_check2_then(s, hang_shards, davy_check3_later(s, d, &e));
}

/* of: the runner; the next process is the child that looks for devices */
static uint64_t hang_alloc(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *child = p + 1;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		davy_check_start_again(s, child);
		return s->now_ns + davy_sim_between(s, 300, 2500) * DAVY_MS;
	case 1:
		davy_sim_exit(s, child, DAVY_STATUS_SEGV);
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_between(s, 2, 20) * DAVY_S;
	case 2:
		davy_check3_load(s, p, 8 * DAVY_GIB, 2 * DAVY_MIB);
		davy_sim_subject(s, p->device, p);
		return s->now_ns + davy_sim_between(s, 800, 3500) * DAVY_MS;
	default:
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * amd-hc-003, RX 6700 XT, Ollama by ROCm: discovery fails, then a load with flash attention; the
 * last line is its "alloc" request, the host hangs.
 */
void davy_check3_alloc_crash(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_check_engine e =
		davy_check_by_rocm("gemma3-12b-Q4_K_M.gguf", 8100 * DAVY_MIB, 8192);
	struct davy_sim_process *p, *child;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	p = davy_check3_serve(s, d, &e, 670, 30 * DAVY_S)->p;
	child = davy_check2_absent(s, d, "ollama");
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.flags = 0;
	davy_check2_then(s, hang_alloc, p);
}

/* n: the last one; stage 1: it resumes */
static uint64_t hang_sleeps(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_device *d = a->of;
	bool night = s->now_ns >= davy_synth_when(s);
	uint64_t ns = davy_sim_between(s, 2, 9) * DAVY_MIN;

	if (a->stage && a->n[0]) {
		davy_check3_fails(s, d, NULL);
		davy_sim_log(s, DAVY_LOG_RESUME_FAILED, d, NULL, 0);
		davy_sim_log(s, DAVY_LOG_DRIVER_WARNING, d, NULL, 0);
		return 0;
	}
	if (a->stage) {
		a->stage = 0;
		davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 6);
		return s->now_ns + davy_sim_around(s, 6 * DAVY_MIN);
	}
	if (night)
		ns = davy_sim_between(s, 5, 7) * DAVY_H;
	if (!davy_check3_suspend(s, ns))
		return s->now_ns + 7 * DAVY_MS;
	if (night)
		davy_sim_cause(s);
	a->n[0] = night;
	a->stage = 1;
	return s->now_ns + ns + davy_sim_between(s, 1, 3) * DAVY_S;
}

/*
 * CachyOS/linux-cachyos#916, RX 9070 XT, 7.1: after days with many good suspends "resume of IP
 * block <smu> failed -62" and a warning of TTM. No precursor.
 */
void davy_check3_never_wakes(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	davy_check_frames(s, desktop, 2 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 380, 60 * DAVY_S);
	davy_sim_add_actor(s, hang_sleeps, d, s->begin_ns + 3 * DAVY_MIN);
}
