/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts whose kernel says much that harms nothing. */
#include <errno.h>

#include "lab/check3_parts.h"

static uint64_t noise_evicts(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage++ % 2) {
		davy_check_restore_queues(s, p, 8 * DAVY_MS, false);
		return s->now_ns + davy_sim_between(s, 3240, 3290) * DAVY_MS;
	}
	davy_check_evict_queues(s, p, 1); /* USERPTR */
	if (davy_random_chance(&s->random, 350))
		davy_check2_lines(s, DAVY_LOG_USER_PAGES_FAILED, NULL, NULL, 2);
	return s->now_ns + 8 * DAVY_MS;
}

/*
 * ROCm/legacy-rocm-build#343 ("these messages are normal"): an OpenCL program frees user memory all
 * the time; its queues are evicted every 3.3 s and restored after 8 ms, for days.
 */
void davy_check3_opencl_evictions(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 8176);
	struct davy_sim_process *p = davy_check_app(s, d, "gpuowl", 1900 * DAVY_MIB);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 8192);

	(void)arg;
	p->by_kfd = true;
	p->ring = NULL;
	p->kfd.queue_count = 2;
	davy_check3_serve(s, d, &e, 610, 3 * DAVY_MIN);
	davy_sim_add_actor(s, noise_evicts, p, s->begin_ns + DAVY_S);
}

/* n: count in the next line */
static uint64_t noise_hogs(struct davy_sim *s, struct davy_sim_actor *a)
{
	a->n[0] = a->n[0] ? a->n[0] * 2 - 3 : 4; /* 4, 5, 7, 11: as the kernel thins its lines */
	davy_sim_log(s, DAVY_LOG_WORKER_HOGGED, NULL, NULL, (uint32_t)a->n[0]);
	return a->n[0] < 70 ? s->now_ns + davy_sim_around(s, 50 * DAVY_MIN) : 0;
}

static uint64_t noise_one_hog(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_log(s, DAVY_LOG_RESTORE_WORKER_HOGGED, NULL, NULL, 4);
	return 0;
}

/*
 * open-gpu-kernel-modules#1230 and others: a display worker of the driver is reported as hogging a
 * CPU up to 67 times in a day; a load of a large model brings one line about KFD's restore worker.
 */
void davy_check3_hog_lines(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 24560);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.6-27B-Q4_K_M.gguf", 16400 * DAVY_MIB, 32768);

	(void)arg;
	davy_check_frames(s, desktop, 2 * DAVY_MS, 60);
	davy_check3_serve(s, d, &e, 740, 60 * DAVY_S);
	davy_sim_add_actor(s, noise_hogs, NULL, s->begin_ns + davy_sim_around(s, 5 * DAVY_MIN));
	davy_sim_add_actor(s, noise_one_hog, NULL, s->begin_ns + davy_sim_around(s, 15 * DAVY_MIN));
}

/* amd-ev-001's other lines: amdxdna refuses a request of a power tool, in bursts, all day. */
void davy_check3_npu_errors(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-20b-mxfp4.gguf", 11600 * DAVY_MIB, 32768);

	(void)arg;
	davy_check_line_each(s, DAVY_LOG_NPU, NULL, 40 * DAVY_S, 6);
	davy_check_wander(s, &s->host_other, 6 * DAVY_GIB, 18 * DAVY_GIB, 2 * DAVY_MIN);
	davy_check3_serve(s, d, &e, 300, 60 * DAVY_S);
}

/* n: VRAM of the unloaded server */
static uint64_t noise_runtime_pm(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_device *d = l->p->device;

	if (l->p->alive) { /* unloaded; the card goes to sleep */
		a->n[0] = l->p->client.vram;
		davy_sim_exit(s, l->p, DAVY_STATUS_TERM);
		d->vram_other = 12 * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 11 * DAVY_MIN);
	}
	davy_check2_lines(s, DAVY_LOG_RESET_CHATTER, d, NULL, 14);
	if (a->stage++ % 3) { /* a monitor wakes it */
		d->vram_other = 60 * DAVY_MIB;
		return s->now_ns + davy_sim_around(s, 9 * DAVY_MIN);
	}
	davy_check3_load(s, l->p, a->n[0], DAVY_MIB);
	return s->now_ns + davy_sim_around(s, 14 * DAVY_MIN);
}

/*
 * pop-os/pop#1543 and amd-rpm-002: a headless card is suspended and resumed by runtime PM all day,
 * 14 lines each time; its VRAM drops to nothing and fills again.
 */
void davy_check3_runtime_pm(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 16368);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-14B-Q4_K_M.gguf", 9000 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	l = davy_check3_serve(s, d, &e, 640, 30 * DAVY_S);
	davy_sim_add_actor(s, noise_runtime_pm, l, s->begin_ns + davy_sim_around(s, 9 * DAVY_MIN));
}

static uint64_t noise_fences(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *game = a->of;

	if (!game->alive) {
		davy_check_start_again(s, game);
		game->client.gtt = davy_sim_between(s, 900, 1900) * DAVY_MIB;
		a->n[0] = s->now_ns + davy_sim_around(s, 60 * DAVY_MIN);
	}
	if (s->now_ns >= a->n[0]) {
		davy_sim_exit(s, game, 0);
		return s->now_ns + davy_sim_around(s, 70 * DAVY_MIN);
	}
	davy_sim_log(s, DAVY_LOG_I915_FENCE_EXPIRED, game->device, game, 0);
	return s->now_ns + davy_sim_around(s, 30 * DAVY_S);
}

/*
 * xCollateral/VulkanMod#63, i915: a game makes "Fence expiration time out" again and again for an
 * hour. It lags; nothing hangs, and the model beside it works.
 */
void davy_check3_fence_lag(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-4b-it-Q4_K_M.gguf", 2600 * DAVY_MIB, 8192);

	(void)arg;
	davy_check3_serve(s, d, &e, 110, 2 * DAVY_MIN);
	davy_check_wander(s, &s->host_other, 7 * DAVY_GIB, 14 * DAVY_GIB, 60 * DAVY_S);
	davy_sim_add_actor(s, noise_fences, davy_check2_absent(s, d, "java"),
			   s->begin_ns + davy_sim_around(s, 4 * DAVY_MIN));
}

/*
 * open-gpu-kernel-modules (mem_desc.c of 595.45.04), #1078: each failed allocation of a full card
 * leaves "Out of memory [NV_ERR_NO_MEMORY]"; notebooks by PyTorch free their cache and go on.
 */
void davy_check3_nv_check_lines(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 0);
	struct davy_sim_process *p = davy_check_app(s, d, "jupyter-kernel", 0);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	davy_check2_tide(s, &p->client.vram,
			 &(struct davy_check2_tide){ .low = DAVY_GIB,
						     .high = 17 * DAVY_GIB,
						     .rate = 6 * DAVY_MIB,
						     .high_ns = 50 * DAVY_S,
						     .low_ns = 4 * DAVY_MIN });
	davy_check3_serve(s, d, &e, 240, 40 * DAVY_S);
	davy_check_line_each(s, DAVY_LOG_NV_NO_MEMORY, d, 12 * DAVY_MIN, 4);
}

static uint64_t noise_remap(struct davy_sim *s, struct davy_sim_actor *a)
{
	davy_check_xid(s, a->of, NULL, 63);
	return 0;
}

/*
 * NVIDIA's catalogue of Xid errors: a row of HBM is recorded for remapping (Xid 63), once. Work
 * goes on until the next planned reset; vLLM serves all day.
 */
void davy_check3_row_remap(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_nvidia(s, 1);
	struct davy_check_engine e =
		davy_check2_by(DAVY_BACKEND_CUDA, "Llama-3.3-70B-FP8", 70000 * DAVY_MIB, 65536);

	(void)arg;
	d->memory.vram_total = 80 * DAVY_GIB;
	e.comm = "VLLM::EngineCor";
	e.engine = DAVY_ENGINE_VLLM;
	davy_check3_serve(s, d, &e, 920, 10 * DAVY_S);
	davy_sim_add_actor(s, noise_remap, d, s->begin_ns + davy_sim_around(s, 14 * DAVY_MIN));
}

static uint64_t noise_freed(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	for (uint32_t i = 0; i < 3; i++) {
		if (a->n[i] == p[i].pid || p[i].alive)
			continue;
		a->n[i] = p[i].pid;
		davy_check2_lines(s, DAVY_LOG_QUEUE_BUFFER_FREED, p->device, NULL, 4);
	}
	return s->now_ns + 100 * DAVY_MS;
}

/* A cluster's node: jobs fill 96 % and are killed at their time limit, with their usual lines. */
void davy_check3_slurm_limit(struct davy_sim *s, uint64_t arg)
{
	static const struct davy_check2_rounds rounds = {
		.count = 3,
		.status = DAVY_STATUS_KILL,
		.rate = 8 * DAVY_MIB,
		.serve_ns = 25 * DAVY_MIN,
		.gap_ns = 20 * DAVY_S,
	};
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 65520);
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-32B", 58000 * DAVY_MIB, 32768);
	struct davy_sim_process *first;

	(void)arg;
	e.comm = "python";
	e.engine = DAVY_ENGINE_GENERIC;
	first = davy_check3_serve(s, d, &e, 955, 5 * DAVY_S)->p;
	davy_check3_serve(s, d, &e, 0, 5 * DAVY_S);
	davy_check3_serve(s, d, &e, 0, 5 * DAVY_S);
	davy_check2_rounds(s, first, &rounds);
	davy_sim_add_actor(s, noise_freed, first, s->begin_ns + DAVY_MIN);
}

static uint64_t noise_memcg(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	struct davy_event ev;

	if (!p->alive) {
		davy_check_start_again(s, p);
		davy_check_ramp(s, &p->client.system, 8 * DAVY_GIB, s->now_ns, 2 * DAVY_MIN);
		return s->now_ns + 150 * DAVY_S;
	}
	ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, p);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->info.comm);
	ev.fact.bytes = p->client.system;
	ev.fact.detail = 1;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, NULL, 0);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, p, 0);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
	return ++a->stage < 12 ? s->now_ns + davy_sim_around(s, 45 * DAVY_MIN) : 0;
}

/*
 * A build server: tests exceed the limit of their cgroup and are killed there; the host has room.
 */
void davy_check3_memcg_kills(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 64);
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 4800 * DAVY_MIB, 16384);

	(void)arg;
	davy_check3_serve(s, d, &e, 130, 60 * DAVY_S);
	davy_check_wander(s, &s->host_other, 8 * DAVY_GIB, 20 * DAVY_GIB, 3 * DAVY_MIN);
	davy_sim_add_actor(s, noise_memcg, davy_check2_absent(s, d, "pytest"),
			   s->begin_ns + davy_sim_around(s, 10 * DAVY_MIN));
}

static uint64_t noise_lost(struct davy_sim *s, struct davy_sim_actor *a)
{
	(void)a;
	davy_sim_tell_lost(s, "bpf");
	return s->now_ns + 10 * DAVY_S;
}

/* n: bytes that the plug-in took */
static uint64_t noise_takes(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p, *app = p + 1;

	if (a->n[0] < 3 * DAVY_GIB && !a->stage) {
		a->n[0] += 128 * DAVY_MIB;
		davy_check_allocate(s, app, 128 * DAVY_MIB);
		return s->now_ns + davy_sim_between(s, 50, 400) * DAVY_MS;
	}
	if (!a->stage++)
		return s->now_ns + davy_sim_around(s, 40 * DAVY_S);
	a->n[0] = app->client.gtt = 0;
	app->client.vram = 200 * DAVY_MIB;
	if (p->client.evicted) {
		davy_sim_move_in(s, p->pid, p, 500 * DAVY_MIB);
		return s->now_ns + 200 * DAVY_MS;
	}
	a->stage = 0;
	return s->now_ns + davy_sim_around(s, 15 * DAVY_MIN);
}

/* A sensor that loses a fifth of its events, on a host where a photo program evicts a model. */
void davy_check3_lossy_swaps(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 0, 12272);
	struct davy_check_engine e =
		davy_check_by_vulkan("Mistral-Nemo-12B-Q5_K_M.gguf", 8300 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	s->lossy_permille = 200;
	l = davy_check3_serve(s, d, &e, 790, 4 * DAVY_MIN);
	davy_check_app(s, d, "darktable", 200 * DAVY_MIB);
	davy_sim_add_actor(s, noise_takes, l, s->begin_ns + davy_sim_around(s, 3 * DAVY_MIN));
	davy_sim_add_actor(s, noise_lost, NULL, s->begin_ns + 10 * DAVY_S);
}
