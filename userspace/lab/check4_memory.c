/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is exhausted, on the card or in the host, and hosts that stop. */
#include <errno.h>

#include "lab/check4_parts.h"

static uint64_t memory_quiesce(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	switch (a->stage++) {
	case 0: /* 175765.813506: queues 3 to 0 */
		davy_check4_sign(s);
		davy_check2_lines(s, DAVY_LOG_QUEUE_EVICT_FAILED, d, NULL, 4);
		davy_sim_log(s, DAVY_LOG_QUIESCE_FAILED, NULL, NULL, 0);
		davy_sim_log(s, DAVY_LOG_IP_DUMP_BEGUN, d, NULL, 0);
		l->stick = true;
		return s->now_ns + 533000;
	case 1:
		davy_check2_lines(s, DAVY_LOG_WAVE_ERROR, NULL, NULL, 3);
		return s->now_ns + davy_sim_between(s, 10, 180) * DAVY_S;
	default: /* "kernel panic after some time" */
		davy_sim_subject(s, d, l->p);
		davy_check2_host_dies(s);
		return 0;
	}
}

/*
 * amd-hc-001, Strix Halo, several llama-servers by ROCm: no queue can be evicted, "Failed to
 * quiesce KFD", 0.5 ms later errors of waves; after some time the kernel panics.
 */
void davy_check4_quiesce_panic(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("Mistral-Small-3.2-24B-Q4_K_M.gguf", 14 * DAVY_GIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	davy_check3_serve(s, d, &e, 180, 50 * DAVY_S);
	davy_check3_serve(s, d, &e, 180, 70 * DAVY_S);
	l = davy_check3_serve(s, d, &e, 180, 15 * DAVY_S);
	davy_check2_then(s, memory_quiesce, l);
}

/* of: the X server */
static uint64_t memory_of_xorg(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;

	if (a->stage) {
		davy_check2_lines(s, DAVY_LOG_CS_NO_MEMORY, d, NULL, 20);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 20);
		if (++a->stage < 65)
			return s->now_ns + 20 * DAVY_MS;
		davy_sim_subject(s, d, p);
		davy_check2_host_dies(s);
		return 0;
	}
	davy_sim_cause(s);
	if (davy_sim_vram_used(s, d) + 24 * DAVY_MIB > d->memory.vram_total)
		davy_check4_sign(s);
	if (davy_check_allocate(s, p, 24 * DAVY_MIB))
		a->stage = 1;
	return s->now_ns + davy_sim_around(s, 100 * DAVY_MS);
}

/*
 * X11Libre/xserver#2096 and xf86-video-amdgpu#54: the X server takes VRAM until none is left; by
 * ttm_bo_validate() others are evicted until GTT is full too, then "Not enough memory for command
 * submission!" each ms for 1.3 s, and the host is frozen.
 */
void davy_check4_xorg_full(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_sim_process *p = davy_check_app(s, d, "Xorg", 900 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Llama-3.2-3B-Instruct-Q6_K.gguf", 2600 * DAVY_MIB, 16384);

	(void)arg;
	s->host_total = 24 * DAVY_GIB;
	d->memory.gtt_total = 12 * DAVY_GIB;
	davy_check_frames(s, p, 3 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 480, 30 * DAVY_S);
	davy_check2_then(s, memory_of_xorg, p);
}

/* of: the child that looks for devices */
static uint64_t memory_killed_entity(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		p->client.vram = 300 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 2, 9) * DAVY_S;
	case 1:
		davy_sim_exit(s, p, DAVY_STATUS_KILL);
		return s->now_ns + davy_sim_between(s, 1, 90) * DAVY_MS;
	case 2:
		davy_check4_sign(s);
		davy_sim_log(s, DAVY_LOG_KILLED_ENTITY, NULL, NULL, 0);
		return s->now_ns + 1911 * DAVY_MS;
	case 3:
		davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, NULL, NULL, 1);
		davy_sim_log(s, DAVY_LOG_KILLED_ENTITY, NULL, NULL, 0);
		return s->now_ns + davy_sim_between(s, 242, 244) * DAVY_S;
	default:
		davy_sim_log(s, DAVY_LOG_HUNG_TASK, NULL, NULL, 0);
		davy_check2_lines(s, DAVY_LOG_TRACE, NULL, NULL, 20);
		davy_check4_fails(s, p->device, NULL);
		return 0;
	}
}

/*
 * amd-svm-009 (INCIDENTS.md B2, row 19): Ollama kills its child, "Trying to push to a killed
 * entity", 245 s later kworkers are blocked in amdgpu_tlb_fence_work(), until a reboot.
 */
void davy_check4_tlb_fences(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 20464);
	struct davy_check_engine e =
		davy_check_by_rocm("deepseek-r1-14b-Q4_K_M.gguf", 9 * DAVY_GIB, 16384);
	struct davy_sim_process *child;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	davy_check3_serve(s, d, &e, 520, 20 * DAVY_S);
	child = davy_check2_absent(s, d, "ollama");
	child->by_kfd = true;
	child->info.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	child->info.role = DAVY_ROLE_DISCOVERY;
	child->info.flags = 0;
	davy_check2_then(s, memory_killed_entity, child);
}

static void memory_oom_kill(struct davy_sim *s, struct davy_sim_process *p)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, p);

	davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, p, 0);
	davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 30);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
	ev.fact.bytes = 600 * DAVY_MIB;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, p, 0);
	davy_check4_fails(s, p->device, p);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
}

/* of: llama-cli; n: bytes of GTT in 100 ms */
static uint64_t memory_of_projector(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage) {
	case 0: /* the model: into the carve-out */
		a->stage = 1;
		davy_check_start_again(s, p);
		a->n[0] = davy_sim_between(s, 180, 420) * DAVY_MIB;
		return s->now_ns + DAVY_S;
	case 1:
		p->client.vram += 200 * DAVY_MIB;
		a->stage += p->client.vram > 2500 * DAVY_MIB;
		break;
	default: /* its projector */
		davy_sim_cause(s);
		if (davy_sim_host_available(s) < a->n[0] + 100 * DAVY_MIB) {
			memory_oom_kill(s, p);
			return 0;
		}
		p->client.gtt += a->n[0];
		if (p->client.gtt > DAVY_GIB)
			davy_check4_sign(s);
		break;
	}
	return s->now_ns + 100 * DAVY_MS;
}

/*
 * ggml-org/llama.cpp#27146, Radeon 890M, 16 GiB for the CPU, 16 GiB carved out, GTT of 32 GiB: with
 * a projector GTT balloons towards 33 GB, within seconds the OOM killer ends llama-cli.
 */
void davy_check4_mmproj(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 16);
	struct davy_sim_process *desktop, *p;

	(void)arg;
	d->memory.vram_total = d->memory.visible_total = 16 * DAVY_GIB;
	d->memory.gtt_total = 32 * DAVY_GIB;
	s->host_other = 5 * DAVY_GIB;
	desktop = davy_synth_desktop(s, d);
	davy_check_frames(s, desktop, 4 * DAVY_MS, 60);
	davy_check_wander(s, &s->host_other, 4 * DAVY_GIB, 6 * DAVY_GIB, 20 * DAVY_S);
	p = davy_check2_absent(s, d, "llama-cli");
	p->info.engine = DAVY_ENGINE_LLAMA_CPP;
	p->info.role = DAVY_ROLE_TOOL;
	p->info.backend = DAVY_BACKEND_VULKAN;
	p->info.model_bytes = 2500 * DAVY_MIB;
	davy_copy_name(p->info.model, sizeof(p->info.model), "Qwen3VL-4B-Instruct-Q4_K_M.gguf");
	davy_check2_then(s, memory_of_projector, p);
}

/* of: the runner */
static uint64_t memory_loads_too_much(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		return s->now_ns + 2 * DAVY_S;
	}
	if (davy_sim_host_available(s) < 200 * DAVY_MIB) {
		memory_oom_kill(s, p);
		return 0;
	}
	p->client.gtt += 100 * DAVY_MIB;
	if (davy_sim_host_available(s) < 4 * DAVY_GIB)
		davy_check4_sign(s);
	return s->now_ns + davy_sim_around(s, 100 * DAVY_MS);
}

/*
 * amd-oom-003, gfx115x: ROCm reports more free memory than an integrated GPU has (29.5 GiB are
 * anonymous), Ollama loads a model that does not fit; below 4 GiB (INCIDENTS.md B4), then OOM.
 */
void davy_check4_overreport(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_rocm("qwen3-coder-30b-Q8_0.gguf", 32 * DAVY_GIB, 65536);
	struct davy_check_engine small =
		davy_check_by_rocm("llama3.2-3b-Q4_K_M.gguf", 2 * DAVY_GIB, 8192);

	(void)arg;
	s->host_other = 29 * DAVY_GIB;
	d->memory.gtt_total = 61 * DAVY_GIB;
	davy_check_wander(s, &s->host_other, 28 * DAVY_GIB, 30 * DAVY_GIB, 15 * DAVY_S);
	e.comm = small.comm = "llama-server";
	e.engine = small.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = small.role = DAVY_ROLE_RUNNER;
	davy_check3_serve(s, d, &small, 45, 20 * DAVY_S);
	davy_check2_then(s, memory_loads_too_much, davy_check3_later(s, d, &e));
}

/* of: the load; n: tokens of prompts at the last allocation, bytes for each ubatch */
static uint64_t memory_of_pool(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;

	if (!a->stage) {
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 50 * DAVY_MS;
		davy_sim_cause(s);
		l->depth = 0;
		l->want_prompt = 24000;
		davy_sim_ask(s, l);
		a->n[0] = p->progress.prompt_count;
		a->n[1] = davy_sim_between(s, 50, 90) * DAVY_MIB;
		a->stage = 1;
	}
	if (p->progress.prompt_count < a->n[0] + 512)
		return s->now_ns + 20 * DAVY_MS;
	a->n[0] += 512;
	if (!davy_check_hip_allocate(s, p, a->n[1])) {
		davy_check4_sign(s);
		return s->now_ns + 20 * DAVY_MS;
	}
	davy_check4_fails(s, p->device, p);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * ggml-org/llama.cpp#4946, RX 6750 XT of 12 GB, ROCm: with each ubatch of a prompt of 24,000 tokens
 * the pool takes more VRAM; ggml_cuda_pool_malloc() fails before the end.
 */
void davy_check4_prompt_pool(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 12272);
	struct davy_check_engine e =
		davy_check_by_rocm("mixtral-instruct-8x7b-q4k-small.gguf", 25 * DAVY_GIB, 24576);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "main";
	e.engine = DAVY_ENGINE_LLAMA_CPP;
	e.role = DAVY_ROLE_TOOL;
	l = davy_check3_serve(s, d, &e, 820, 20 * DAVY_S);
	l->habit.prompt_max = 500;
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 2 * DAVY_S;
	l->pace.prompt_slope_ns = 40 * DAVY_MS;
	davy_check2_then(s, memory_of_pool, l);
}

/* of: the server */
static uint64_t memory_of_split(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_sim_device *d = p->device;
	uint64_t left;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		return s->now_ns + 3 * DAVY_S;
	}
	left = d->memory.vram_total - davy_sim_vram_used(s, d);
	if (left < d->memory.vram_total / 10)
		davy_check4_sign(s);
	if (left > 512 * DAVY_MIB) {
		p->client.vram += 90 * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 100 * DAVY_MS);
	}
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, DAVY_GIB, 2);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOMEM, DAVY_GIB, 1);
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, DAVY_GIB, 1);
	davy_check4_fails(s, d, p);
	davy_sim_exit(s, p, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * int-xe-006, two Arc Pro B70, SYCL: a model larger than one card is loaded, the first one fills to
 * its end, UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY at the memset of a buffer.
 */
void davy_check4_two_b70(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check4_xe(s, 32656);
	struct davy_sim_device *second = davy_check4_second_xe(s, 32656);
	struct davy_check_engine e = davy_check2_by(
		DAVY_BACKEND_SYCL, "Llama-3.3-70B-Instruct-Q4_K_M.gguf", 40 * DAVY_GIB, 32768);
	struct davy_check_engine small =
		davy_check2_by(DAVY_BACKEND_SYCL, "Qwen3-8B-Q8_0.gguf", 8 * DAVY_GIB, 16384);

	(void)arg;
	davy_check3_serve(s, second, &small, 330, 20 * DAVY_S);
	davy_check2_then(s, memory_of_split, davy_check3_later(s, d, &e));
}

/* of: the load; n: bytes that have left */
static uint64_t memory_leaves(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	uint64_t step = davy_sim_between(s, 60, 260) * DAVY_MIB;

	switch (a->stage) {
	case 0:
		davy_sim_cause(s);
		davy_sim_exit(s, p, DAVY_STATUS_TERM);
		a->stage = 1;
		return s->now_ns + 5 * DAVY_S;
	case 1: /* now with MTP: 19.95 of 20.46 GB, and 0.62 GB of GTT */
		a->stage = 2;
		l->habit.prompt_min = 7000;
		l->habit.prompt_max = 12000;
		davy_check3_load(s, p, 18780 * DAVY_MIB, DAVY_MIB);
		return s->now_ns + 15 * DAVY_S;
	case 2:
		if (l->stopped || p->client.vram < 18780 * DAVY_MIB)
			break;
		p->client.gtt = 590 * DAVY_MIB;
		davy_check4_sign(s);
		a->stage = 3;
		break;
	case 3: /* the first request */
		if (l->phase == DAVY_SIM_IDLE)
			break;
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, 32 * DAVY_MIB,
				      (uint32_t)(step / (32 * DAVY_MIB)) + 1);
		davy_check_evict_queues(s, p, 2);
		davy_sim_move_out(s, p->pid, p, step);
		davy_check_restore_queues(s, p, 100 * DAVY_MS, false);
		a->n[0] += step;
		l->slow_permille = 1480; /* 449 to 303 tokens a second */
		a->stage += a->n[0] > 13900 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 100, 180) * DAVY_MS;
	default:
		if (l->phase != DAVY_SIM_ANSWER)
			break;
		l->slow_permille = 2440; /* 44 to 18 */
		davy_check4_fails(s, p->device, p);
		return 0;
	}
	return s->now_ns + 50 * DAVY_MS;
}

/*
 * amd-ev-003, RX 7900 XT, llama-server with MTP: less than 0.5 GB of VRAM is free after the load;
 * in the first request GTT grows by 14.6 GB, from then on 18 instead of 44 tokens a second.
 */
void davy_check4_mtp_gtt(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 19500);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-27B-IQ4_XS.gguf", 13800 * DAVY_MIB, 196608);
	struct davy_sim_load *l;

	(void)arg;
	l = davy_check3_serve(s, d, &e, 740, 30 * DAVY_S);
	l->habit.keep_permille = 0;
	l->pace.prompt_ns = 1140 * DAVY_MS;
	l->pace.token_ns = 23 * DAVY_MS;
	davy_check2_then(s, memory_leaves, l);
}
