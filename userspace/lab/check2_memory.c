/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second held-out set: memory of the GPU and of its host. */
#include <errno.h>

#include "lab/check2_parts.h"

#define MOVE_NS (100 * DAVY_MS)

/* n: failed pins before the end, and until now */
static uint64_t check2_job_grows(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *job = a->of, *shell = job - 1;
	struct davy_sim_device *d = job->device;
	uint64_t left = d->memory.vram_total - davy_sim_vram_used(s, d);

	if (!a->stage++)
		davy_sim_cause(s);
	if (left > 96 * DAVY_MIB) {
		job->client.vram += davy_sim_between(s, 24, 90) * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 100, 900) * DAVY_MS;
	}
	davy_sim_precursor(s, s->now_ns);
	davy_sim_alloc_failed(s, shell, DAVY_ALLOC_RESOURCE, -ENOSPC, 33 * DAVY_MIB, 3);
	davy_check2_lines(s, DAVY_LOG_PIN_FAILED, d, NULL, 2);
	if (a->n[1]++ < a->n[0])
		return s->now_ns + davy_sim_between(s, 300, 2500) * DAVY_MS;
	davy_sim_alloc_failed(s, shell, DAVY_ALLOC_VALIDATE, -ENOMEM, 33 * DAVY_MIB, 1);
	davy_sim_alloc_failed(s, shell, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
	davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, d, NULL, 0);
	davy_sim_failed(s);
	davy_synth_end_later(s, shell, 20 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * amd-ttm-003: a PyTorch job on an RX 9070 XT. Failed pins of framebuffers, hundreds a day, did no
 * harm for weeks; with a larger job the compositor's own submission gets -ENOMEM, and Mesa aborts
 * the compositor: the session is gone.
 */
void davy_check2_compositor(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("", 0, 4096);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *shell, *job;

	(void)arg;
	davy_check2_vram(d, 16304, 250);
	shell = davy_synth_desktop(s, d);
	davy_check_frames(s, shell, 3 * DAVY_MS, 60);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_GENERIC;
	job = davy_check_engine(s, d, &e, davy_sim_between(s, 11200, 13100) * DAVY_MIB);
	davy_check_line_each(s, DAVY_LOG_PIN_FAILED, d, 6 * DAVY_MIN, 2);
	davy_check2_then(s, check2_job_grows, job)->n[0] = davy_sim_between(s, 2, 40);
	davy_sim_subject(s, d, shell);
}

/*
 * n: bytes loaded, bytes wanted, steps of the load. The load is over; minutes later the first
 * message wants the compute buffers of its ubatch.
 */
static uint64_t check2_first_words(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (a->stage == 0) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
	}
	if (a->stage++ < a->n[2]) {
		p->client.vram = a->n[0] / a->n[2] * a->stage;
		return s->now_ns + 100 * DAVY_MS;
	}
	if (a->stage == a->n[2] + 1) {
		davy_sim_precursor(s, s->now_ns);
		return s->now_ns + davy_sim_around(s, 4 * DAVY_MIN);
	}
	if (!davy_check_hip_allocate(s, p, a->n[1]))
		return 0; /* it fits: the scenario was built wrong, and has no failure */
	davy_sim_failed(s);
	davy_synth_end_later(s, p, davy_sim_between(s, 30, 200) * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * FIELD.md section 4, 8 (llama.cpp #18354, #27595): the weights and the cache fit, with 100 to 500
 * MiB left; the buffers of the first ubatch do not. hipMalloc fails at the first message.
 */
void davy_check2_first_message(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("Qwen3-14B", 8 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *small, *p;
	struct davy_sim_actor *a;
	uint64_t left = davy_sim_between(s, 100, 500) * DAVY_MIB;

	(void)arg;
	small = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	davy_check_chat(s, small, 15 * DAVY_S);
	davy_synth_end_later(s, small, davy_synth_when(s) - s->now_ns - 5 * DAVY_S,
			     DAVY_STATUS_TERM);
	p = davy_check2_absent(s, d, "llama-server");
	p->info = small->info;
	p->by_kfd = true;
	p->kfd.queue_count = 4;
	p->progress.context_size = p->info.context_size = 65536;
	a = davy_check2_then(s, check2_first_words, p);
	a->n[0] = d->memory.vram_total - d->vram_other - left;
	a->n[1] = left + davy_sim_between(s, 60, 900) * DAVY_MIB;
	a->n[2] = davy_sim_between(s, 40, 300);
}

static uint64_t check2_host_ends(struct davy_sim *s, struct davy_sim_process *victim)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_OOM_VICTIM, NULL, victim);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), victim->info.comm);
	ev.fact.bytes = 9696ULL * 1024;
	davy_sim_log(s, DAVY_LOG_OOM_INVOKED, NULL, NULL, 0);
	davy_sim_log(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 0);
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_OOM_KILL, NULL, victim, 0);
	davy_sim_failed(s);
	davy_sim_exit(s, victim, DAVY_STATUS_KILL);
	return 0;
}

/* Runtime PM moves all VRAM to the host's memory, some GB each second. n[0]: a kernel thread */
static uint64_t check2_suspends(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *victim = p + 1;
	struct davy_sim_load *l = davy_check_load_of(s, p);
	uint64_t left;

	if (!l->stopped && l->phase != DAVY_SIM_IDLE)
		return s->now_ns + MOVE_NS;
	if (!l->stopped) {
		l->stopped = true;
		return s->now_ns + davy_sim_between(s, 5000, 6500) * DAVY_MS;
	}
	davy_sim_precursor(s, s->now_ns);
	davy_sim_move_out(s, (uint32_t)a->n[0], p, a->n[1]);
	left = davy_sim_host_available(s);
	s->pressure_permille = left < 3 * DAVY_GIB ? (uint32_t)davy_sim_between(s, 200, 700) : 0;
	if (left < 2 * DAVY_GIB && !a->stage++)
		davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, NULL, 0);
	if (left < 600 * DAVY_MIB)
		return check2_host_ends(s, victim);
	return s->now_ns + MOVE_NS;
}

/*
 * amd-rpm-001: a headless Radeon AI PRO R9700 with a loaded model and 32 GiB of host memory. The
 * server idles, runtime PM suspends the card, its VRAM does not fit into the host.
 */
void davy_check2_idle_suspend(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Qwen3.6-27B", 24 * DAVY_GIB, 65536);
	struct davy_sim_device *d;
	struct davy_sim_process *p, *bystander;
	struct davy_sim_actor *a;

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	s->host_other = davy_sim_between(s, 60, 110) * DAVY_GIB / 10;
	d = davy_synth_dgpu(s, 2 * DAVY_S);
	davy_check2_vram(d, 32 * 1024 - 96, 60);
	d->memory.gtt_total = 31 * DAVY_GIB;
	d->memory.flags = DAVY_MEMORY_MAY_SUSPEND;
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 278, 305) * DAVY_GIB / 10);
	bystander = davy_sim_add_process(s, NULL, "systemd");
	davy_sim_start(s, bystander);
	davy_check_chat(s, p, 2 * DAVY_S); /* the card suspends after 5 s */
	a = davy_check2_then(s, check2_suspends, p);
	a->n[0] = 71;
	a->n[1] = davy_sim_between(s, 60, 240) * DAVY_MIB;
	davy_sim_subject(s, d, p);
}

static uint64_t check2_igpu_fills(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *victim = p - 1;
	uint64_t left;

	if (!a->stage++) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
	}
	p->client.gtt += a->n[0];
	left = davy_sim_host_available(s);
	if (left < 4 * DAVY_GIB)
		davy_sim_precursor(s, s->now_ns);
	s->pressure_permille = left < 2 * DAVY_GIB ? (uint32_t)davy_sim_between(s, 150, 800) : 0;
	if (left < 500 * DAVY_MIB)
		return check2_host_ends(s, victim);
	return s->now_ns + MOVE_NS;
}

/*
 * amd-oom-002: llama-server in podman finds the iGPU beside the card and puts a part of the model
 * there. GTT belongs to no process: the OOM killer takes systemd of the user.
 */
void davy_check2_podman_victims(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("gpt-oss-20b", 11 * DAVY_GIB, 32768);
	struct davy_sim_device *igpu = davy_synth_apu(s, 2 * DAVY_S), *card;
	struct davy_sim_process *first, *p;

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	igpu->memory.gtt_total = 30 * DAVY_GIB;
	card = davy_synth_dgpu(s, 2 * DAVY_S);
	first = davy_check_engine(s, card, &e, 11 * DAVY_GIB);
	davy_check_chat(s, first, 10 * DAVY_S);
	davy_check_wander(s, &s->host_other, 5 * DAVY_GIB, 9 * DAVY_GIB, 50 * DAVY_S);
	davy_sim_start(s, davy_sim_add_process(s, NULL, "systemd"));
	p = davy_check2_absent(s, igpu, "llama-server");
	p->info.engine = DAVY_ENGINE_LLAMA_SERVER;
	p->info.role = DAVY_ROLE_SERVER;
	p->info.backend = DAVY_BACKEND_VULKAN;
	p->info.runtime = DAVY_RUNTIME_PODMAN;
	p->ring = &igpu->ring[1];
	davy_check2_then(s, check2_igpu_fills, p)->n[0] = davy_sim_between(s, 60, 400) * DAVY_MIB;
	davy_sim_subject(s, igpu, p);
}

/*
 * Another program takes the card; what it pushed out stays in GTT after TTM has no reason to move.
 */
static uint64_t check2_taken(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *game = l->p + 1;
	uint64_t step = davy_sim_between(s, 20, 160) * DAVY_MIB;

	if (a->stage == 0) {
		davy_sim_cause(s);
		davy_check_start_again(s, game);
		a->stage = 1;
	}
	if (game->client.vram + game->client.gtt < a->n[0]) {
		davy_check_allocate(s, game, step);
		if (l->p->client.evicted)
			davy_sim_precursor(s, s->now_ns);
		if (l->p->client.evicted > l->p->info.model_bytes / 4)
			l->slow_permille = 8000;
		return s->now_ns + MOVE_NS;
	}
	if (a->stage == 1) {
		a->stage = 2;
		return s->now_ns + davy_sim_between(s, 4, 30) * DAVY_S;
	}
	if (l->phase != DAVY_SIM_ANSWER) { /* nobody asked yet */
		davy_sim_ask(s, l);
		return s->now_ns + DAVY_S;
	}
	davy_sim_failed(s);
	return 0;
}

/*
 * amd-ev-005, FIELD.md section 4, 7 (llama.cpp #5380): a second program fills VRAM, the server
 * falls from 10 to 1 token a second for ever; its memory is never validated again.
 */
void davy_check2_evicted_for_good(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_vulkan("Mistral-Nemo-12B", 8 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_dgpu(s, 10 * DAVY_S);
	struct davy_sim_process *p, *game;
	struct davy_sim_load *l;

	(void)arg;
	davy_check2_vram(d, 16368, 200);
	p = davy_check_engine(s, d, &e, 10 * DAVY_GIB);
	game = davy_check2_absent(s, d, "blender");
	game->ring = &d->ring[0];
	l = davy_check_chat(s, p, 6 * DAVY_S);
	davy_check2_then(s, check2_taken, l)->n[0] = davy_sim_between(s, 105, 140) * DAVY_GIB / 10;
	davy_sim_subject(s, d, p);
}

/* n: bytes moved in a step, failed allocations in 1000 steps, their growth */
static uint64_t check2_pages_layers(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint32_t failed = (uint32_t)(a->n[1] / 1000) + 1;

	davy_sim_cause(s);
	if (a->stage) {
		davy_check_restore_queues(s, p, 110 * DAVY_MS, false);
		davy_sim_move_in(s, p->pid, p, p->client.evicted);
		a->stage = 0;
		return s->now_ns + davy_sim_between(s, 30, 200) * DAVY_MS;
	}
	if (davy_sim_vram_used(s, p->device) + 96 * DAVY_MIB < p->device->memory.vram_total) {
		p->client.vram += 48 * DAVY_MIB;
		return s->now_ns + davy_sim_between(s, 100, 300) * DAVY_MS;
	}
	davy_sim_precursor(s, s->now_ns);
	a->n[0] += a->n[0] * a->n[2] / 40000;
	a->n[1] += a->n[2];
	davy_sim_alloc_failed(s, p, DAVY_ALLOC_RESOURCE, -ENOSPC, 32 * DAVY_MIB, failed);
	davy_check_evict_queues(s, p, 2);
	davy_sim_move_out(s, p->pid, p, davy_random_near(&s->random, a->n[0], 300));
	if (failed > 4 && davy_random_chance(&s->random, 60)) {
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_VALIDATE, -ENOMEM, 32 * DAVY_MIB, 1);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_IOCTL, -ENOMEM, 0, 1);
		davy_sim_log(s, DAVY_LOG_CS_NO_MEMORY, p->device, NULL, 0);
	}
	if (failed >= 20) {
		davy_sim_failed(s); /* a seventh of the speed */
		return 0;
	}
	a->stage = 1;
	return s->now_ns + davy_sim_between(s, 101, 130) * DAVY_MS;
}

/*
 * amd-ttm-002: ComfyUI --lowvram pages layers in and out. With a larger workflow 0.01 % of its
 * submissions get -ENOMEM, the kernel's workers are busy moving, and it is seven times slower.
 */
void davy_check2_lowvram(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e = davy_check_by_rocm("flux-dev", 12 * DAVY_GIB, 4096);
	struct davy_sim_device *d = davy_synth_dgpu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_actor *a;
	struct davy_check2_tide paging = {
		.low = 600 * DAVY_MIB,
		.high = 3800 * DAVY_MIB,
		.rate = 3 * DAVY_MIB,
		.high_ns = 4 * DAVY_S,
		.low_ns = 12 * DAVY_S,
	};

	(void)arg;
	davy_check2_vram(d, 16304, 300);
	e.comm = "python3";
	e.engine = DAVY_ENGINE_COMFYUI;
	p = davy_check_engine(s, d, &e, davy_sim_between(s, 136, 148) * DAVY_GIB / 10);
	davy_check_frames(s, davy_synth_desktop(s, d), 4 * DAVY_MS, 60);
	davy_check2_tide(s, &p->client.gtt, &paging);
	a = davy_check2_then(s, check2_pages_layers, p);
	a->n[0] = davy_sim_between(s, 24, 60) * DAVY_MIB;
	a->n[2] = davy_sim_between(s, 6, 24);
	davy_sim_subject(s, d, p);
}
