/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that runs out or moves for ever, and what else fails. */
#include <errno.h>
#include <string.h>

#include "lab/check5_parts.h"

/* of: the server; n: bytes of each step */
static uint64_t memory_session(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;
	uint64_t left = davy_sim_host_available(s);

	davy_sim_cause(s);
	if (!a->n[0])
		a->n[0] = davy_sim_between(s, 12, 34) * DAVY_MIB;
	p->client.system += davy_random_near(&s->random, a->n[0], 400);
	if (p->client.gtt < 92 * DAVY_GIB)
		p->client.gtt += a->n[0] / 5;
	if (left < 12 * DAVY_GIB)
		davy_check4_sign(s);
	if (left < 3 * DAVY_GIB)
		s->pressure_permille = (uint32_t)davy_sim_between(s, 40, 420);
	if (left > 200 * DAVY_MIB)
		return s->now_ns + 2 * DAVY_S;
	davy_check4_fails(s, p->device, p);
	davy_check5_oom_kill(s, p, false);
	return 0;
}

/*
 * pwilkin/strix-halo#6, 128 GB, ROCm: -ub 16384 reserves compute buffers of 16 GB, the native
 * context of 262,144 and the prompt cache take the rest. GTT is 93.75 GB after the load, 98 GB
 * after a prompt, 22.8 GB of the host are available; an agent's session of 178,000 tokens later
 * llama-server is OOM-killed.
 */
void davy_check5_agent_178k(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_apu(s, 0, 128);
	struct davy_check_engine e =
		davy_check_by_rocm("Qwen3.5-122B-A10B-UD-Q4_K_XL.gguf", 72 * DAVY_GIB, 262144);
	struct davy_sim_load *l;

	(void)arg;
	d->memory.gtt_total = 118 * DAVY_GIB;
	s->host_other = 13 * DAVY_GIB;
	e.ubatch = 16384;
	l = davy_check_chat(s, davy_check_engine(s, d, &e, 87 * DAVY_GIB + 300 * DAVY_MIB),
			    4 * DAVY_S);
	l->p->client.system = 2 * DAVY_GIB + 780 * DAVY_MIB;
	l->pace.prompt_ns = davy_sim_between(s, 11, 14) * DAVY_S;
	l->habit.keep_permille = 970;
	l->habit.prompt_max = 6000;
	davy_check_wander(s, &s->host_other, 13 * DAVY_GIB, 14 * DAVY_GIB, 30 * DAVY_S);
	davy_check2_then(s, memory_session, l->p);
}

/* of: the runner that hangs; the next ones are the processes after it; n: the one that loads */
static uint64_t memory_runners(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = (struct davy_sim_process *)a->of + a->n[0];

	if (!a->n[0]) { /* "Stopping...": it goes on with an answer without an end */
		davy_sim_cause(s);
		s->load[0].habit.answer_min = s->load[0].habit.answer_max = 16000;
		a->n[0] = 1;
		return s->now_ns + davy_sim_between(s, 60, 240) * DAVY_S;
	}
	if (!p->alive) {
		davy_check_start_again(s, p);
		a->n[1] = p->info.model_bytes / 100 * 112;
		return s->now_ns + davy_sim_between(s, 800, 2500) * DAVY_MS;
	}
	if (p->client.vram >= a->n[1]) {
		if (++a->n[0] == 3) /* more than 90 % are taken, and nothing is given back */
			davy_check4_sign(s);
		return s->now_ns + davy_sim_between(s, 60, 300) * DAVY_S;
	}
	if (!davy_check_hip_allocate(s, p, 128 * DAVY_MIB))
		return s->now_ns + davy_sim_between(s, 100, 250) * DAVY_MS;
	davy_check4_fails(s, p->device, p);
	davy_synth_end_later(s, p, davy_sim_between(s, 10, 400) * DAVY_MS, DAVY_STATUS_EXIT1);
	return 0;
}

/*
 * ollama/ollama#7606, ROCm: a model stays in "Stopping..." and keeps its VRAM, "loading multiple
 * models (one after the other)" leaves each in VRAM, though 'ollama ps' is empty. The fourth one
 * finds too little.
 */
void davy_check5_stuck_stopping(struct davy_sim *s, uint64_t arg)
{
	static const struct {
		const char *model;
		uint64_t mib;
	} next[] = {
		{ "nomic-embed-text-v1.5.f16.gguf", 300 },
		{ "llama3.2-3b-instruct-q8_0.gguf", 3400 },
		{ "gemma3-4b-it-q4_K_M.gguf", 3300 },
	};
	struct davy_sim_device *d = davy_check3_card(s, 0, 16304);
	struct davy_check_engine e =
		davy_check_by_rocm("deepseek-r1-14b-q4_K_M.gguf", 9000 * DAVY_MIB, 32768);
	struct davy_sim_load *l;

	(void)arg;
	e.comm = "ollama";
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	l = davy_check3_serve(s, d, &e, 640, 20 * DAVY_S);
	for (size_t i = 0; i < 3; i++) {
		e.model = next[i].model;
		e.model_bytes = next[i].mib * DAVY_MIB;
		davy_check3_later(s, d, &e);
	}
	davy_check2_then(s, memory_runners, l->p);
}

/* of: the first rank, the second one is the next process; n: when it began */
static uint64_t memory_of_ranks(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = (struct davy_sim_process *)a->of + (a->stage & 1);
	uint64_t ns = davy_sim_between(s, 150, 900) * DAVY_MS;

	if (!a->stage++) { /* 374.528 */
		davy_check4_sign(s);
		davy_check2_lines(s, DAVY_LOG_GPU_MAP_FAILED, p->device, NULL, 4);
		a->n[0] = s->now_ns + davy_sim_between(s, 25, 70) * DAVY_S;
		return s->now_ns + 960 * DAVY_MS;
	}
	/* 375.487: "update_invalid_user_pages: Failed to get user pages: -14" */
	davy_check2_lines(s, DAVY_LOG_USER_PAGES_FAILED, NULL, NULL, 3);
	davy_check_evict_queues(s, p, 1);
	davy_check_restore_queues(s, p, ns, davy_random_chance(&s->random, 700));
	if (davy_random_chance(&s->random, 300))
		davy_check2_lines(s, DAVY_LOG_GPU_MAP_FAILED, p->device, NULL, 2);
	if (s->now_ns > a->n[0])
		davy_check4_fails(s, p->device, p);
	return s->now_ns + ns;
}

/*
 * ROCm/ROCm#791, two MPI ranks on two Radeon Pro Duo, 10.7 GB on each GPU: "Failed to map to gpu",
 * then user pages that are invalid (-14) again and again; the program becomes slower and slower.
 */
void davy_check5_userptr_slow(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 10 * DAVY_S, 16368), *second;
	struct davy_check_engine e = davy_check_by_rocm("", 0, 4096);
	struct davy_sim_process *p[2];

	(void)arg;
	second = davy_check3_second(s, 10 * DAVY_S, 16368);
	e.comm = "solver_mpi";
	e.engine = DAVY_ENGINE_GENERIC;
	e.role = DAVY_ROLE_TOOL;
	p[0] = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	p[1] = davy_check_engine(s, second, &e, 9 * DAVY_GIB);
	for (size_t i = 0; i < 2; i++)
		davy_check_wander(s, &p[i]->client.vram, 9 * DAVY_GIB, 10900 * DAVY_MIB,
				  6 * DAVY_S);
	davy_check2_then(s, memory_of_ranks, p[0]);
}

/* of: the load */
static uint64_t memory_of_picture(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	struct davy_event ev;

	switch (a->stage) {
	case 0:
		if (l->phase != DAVY_SIM_IDLE)
			return s->now_ns + 20 * DAVY_MS;
		l->stopped = true;
		p->progress.busy_slots = 1;
		davy_check4_hold(s, p->ring, p);
		p->graph.entered_ns = s->now_ns;
		a->stage = 1;
		return s->now_ns + p->ring->timeout_ns;
	case 1:
		ev = davy_sim_event(s, DAVY_EV_JOB_TIMEOUT, p->pid);
		memcpy(ev.job_timeout.device, p->device->name, sizeof(p->device->name));
		memcpy(ev.job_timeout.ring, p->ring->name, sizeof(p->ring->name));
		ev.job_timeout.fence_context = p->ring->context;
		ev.job_timeout.fence_seqno = p->ring->seqno;
		ev.job_timeout.age_ns = p->ring->timeout_ns;
		ev.job_timeout.pasid = p->pasid;
		davy_sim_tell(s, &ev);
		davy_check5_fact(s, DAVY_FACT_SOFT_RECOVERY, p->device, p, p->ring->name, 0);
		davy_check3_ring_line(s, DAVY_LOG_SOFT_RECOVERED, p->device, p->ring);
		p->ring->began_ns = p->graph.entered_ns = 0;
		p->graph.graph_count++;
		davy_check_go_on(s, l);
		l->want_prompt = 900;
		davy_sim_ask(s, l);
		a->stage = 2;
		return s->now_ns + davy_sim_between(s, 900, 4000) * DAVY_MS;
	default:
		davy_check4_fails(s, p->device, p);
		return 0;
	}
}

/*
 * ggml-org/llama.cpp pull request #26813, RX 580 (36 CU, so no cap of a submission's work): the
 * CLIP encoding of a page is one job of more than the ring's timeout, "ring comp_1.2.1 timeout, but
 * soft recovered". No error is reported; the text of the page is a run of "?".
 */
void davy_check5_soft_clip(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_check3_card(s, 2 * DAVY_S, 8176);
	struct davy_check_engine e =
		davy_check_by_vulkan("GLM-OCR-Q8_0.gguf", 1100 * DAVY_MIB, 16384);
	struct davy_sim_load *l;

	(void)arg;
	e.ring = 3;
	l = davy_check3_serve(s, d, &e, 410, 15 * DAVY_S);
	davy_check_wander(s, &l->p->client.vram, 3000 * DAVY_MIB, 4400 * DAVY_MIB, 40 * DAVY_S);
	davy_check2_then(s, memory_of_picture, l);
}

/* of: systemd-sleep; the server is the process before */
static uint64_t memory_for_sleep(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of, *server = p - 1;
	uint64_t bytes = davy_sim_between(s, 3, 5) * DAVY_GIB;

	switch (a->stage++) {
	case 0: /* 6851.472 */
	case 2: /* 6852.488 */
	case 4: /* 7753.329 */
		davy_check4_sign(s);
		davy_check_start_again(s, p);
		davy_sim_move_out(s, p->pid, server, bytes);
		davy_sim_log(s, DAVY_LOG_PAGE_ALLOC_FAILED, NULL, p, 0);
		davy_check2_lines(s, DAVY_LOG_MEMORY_REPORT, NULL, NULL, 30);
		davy_sim_alloc_failed(s, p, DAVY_ALLOC_POPULATE, -ENOMEM, 2 * DAVY_MIB, 3);
		return s->now_ns + davy_sim_between(s, 300, 450) * DAVY_MS;
	case 1:
	case 3: /* "not prepared for power transition: code -12" */
		davy_sim_exit(s, p, DAVY_STATUS_EXIT1);
		davy_sim_move_in(s, server->pid, server, server->client.evicted);
		return s->now_ns + (a->stage == 2 ? 600 * DAVY_MS : 900 * DAVY_S);
	case 5: /* it is tried with s2idle, which the board does not support */
		davy_check2_lines(s, DAVY_LOG_SMU_BUSY, server->device, NULL, 2);
		davy_check2_lines(s, DAVY_LOG_SMU_FAILED, server->device, NULL, 3);
		return s->now_ns + davy_sim_between(s, 2, 9) * DAVY_S;
	default:
		davy_check2_lines(s, DAVY_LOG_RESUME_FAILED, server->device, NULL, 2);
		davy_check4_fails(s, server->device, server);
		return 0;
	}
}

/*
 * ROCm/amdgpu#174, RX 7900 XT: VRAM does not fit into the host's memory, "device_prepare() ..
 * returns -12" at each suspend, a second and 15 min later again. NixOS/nixpkgs#223690: after such a
 * failure the kernel tries s2idle, which fails in the SMU; the screen stays black.
 */
void davy_check5_not_prepared(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d;
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q4_K_M.gguf", 16200 * DAVY_MIB, 16384);

	(void)arg;
	s->host_total = 32 * DAVY_GIB;
	d = davy_check3_card(s, 0, 20464);
	d->memory.flags |= DAVY_MEMORY_MAY_SUSPEND;
	s->host_other = 22 * DAVY_GIB;
	davy_check_wander(s, &s->host_other, 21 * DAVY_GIB, 23 * DAVY_GIB, 40 * DAVY_S);
	davy_check3_serve(s, d, &e, 860, 90 * DAVY_S);
	davy_check2_then(s, memory_for_sleep, davy_check2_absent(s, d, "systemd-sleep"));
}
