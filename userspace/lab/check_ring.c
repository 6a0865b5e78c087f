/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Held-out failures of jobs that exceed their timeout, and of the resets that follow. */
#include "lab/check_parts.h"

/* A pace by which a full ubatch takes "limit_ns" at a depth of "kilo" * 1024 tokens. */
static struct davy_sim_pace check_pace_to(struct davy_sim *s, uint64_t first_ns, uint64_t limit_ns,
					  uint64_t kilo, uint64_t token_ns)
{
	struct davy_sim_pace pace = {
		.prompt_ns = davy_random_near(&s->random, first_ns, 200),
		.token_ns = davy_random_near(&s->random, token_ns, 200),
		.noise_permille = (uint32_t)davy_sim_between(s, 15, 60),
	};

	pace.prompt_slope_ns = (limit_ns - pace.prompt_ns) / kilo;
	pace.token_slope_ns = pace.token_ns / 40;
	return pace;
}

static uint64_t check_deepens(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_cause(s);
	l->fatal = true;
	l->habit.keep_permille = 1000;
	l->habit.prompt_min = 1500;
	l->habit.prompt_max = 5000;
	return 0;
}

/*
 * amd-vk-007: Vega 8 of a 5700G, 96 GB of RAM (88 GB of GTT), kernel 7.1.5 (2 s for each ring),
 * Qwen3.6-27B. Each run ends at 49 to 50 thousand tokens, 60 thousand with a smaller model, with
 * GTT used to less than 70 %. A conversation grows by some thousand tokens with each turn.
 */
void davy_check_vega_depth(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3.6-27B-Q4_K_M.gguf", 16 * DAVY_GIB, 65536);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_process *p;
	struct davy_sim_pace pace;
	struct davy_sim_load *l;

	(void)arg;
	s->host_total = 96 * DAVY_GIB;
	d->memory.gtt_total = 88 * DAVY_GIB;
	davy_check_app(s, d, "kwin_wayland", 200 * DAVY_MIB);
	p = davy_check_engine(s, d, &e, 21 * DAVY_GIB);
	pace = check_pace_to(s, 230 * DAVY_MS, 2050 * DAVY_MS, davy_sim_between(s, 45, 57),
			     110 * DAVY_MS);
	l = davy_sim_add_load(s, p, &pace, &davy_synth_chats);
	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_add_actor(s, check_deepens, l, davy_synth_when(s));
	davy_sim_subject(s, d, p);
}

static const struct davy_sim_habit check_first_of_model = {
	.prompt_min = 9000,
	.prompt_max = 14000,
	.answer_min = 80,
	.answer_max = 300,
	.keep_permille = 1000,
	.think_ns = 2 * DAVY_S,
};

static uint64_t check_switches(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *old = a->of, *p = &s->process[a->n[0]];
	uint64_t rate = davy_sim_between(s, 2000, 4000) * DAVY_MIB;
	struct davy_sim_load *l;
	struct davy_sim_pace pace;

	if (!a->stage++) {
		davy_sim_exit(s, old, DAVY_STATUS_KILL); /* as Ollama unloads */
		return s->now_ns + davy_sim_between(s, 1500, 4000) * DAVY_MS;
	}
	if (a->stage == 2) {
		davy_sim_cause(s);
		davy_check_start_again(s, p);
		davy_sim_subject(s, p->device, p);
		davy_check_ramp(s, &p->client.gtt, 19 * DAVY_GIB, s->now_ns,
				19 * DAVY_GIB / (rate / DAVY_S));
		return s->now_ns + 19 * DAVY_GIB / (rate / DAVY_S) + DAVY_S;
	}
	pace = check_pace_to(s, davy_sim_between(s, 700, 1000) * DAVY_MS, 2050 * DAVY_MS,
			     davy_sim_between(s, 5, 8), 140 * DAVY_MS);
	l = davy_sim_add_load(s, p, &pace, &check_first_of_model);
	l->fatal = true;
	l->timed_out = davy_synth_lost_by_timeout;
	return 0;
}

/*
 * amd-vk-009 and win-007: model switches. A small mixture of experts serves well; then a dense 27B
 * (Qwen3.8-27B UD-Q4_K_XL, n_ubatch 512) is loaded on the same small GPU and its first long prompt
 * (RAG) ends in a timeout; 128 to 384 run without a reset. Ollama kills the old runner (ENGINES 0).
 */
void davy_check_model_switch(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-8B-Q4_K_M.gguf", 5 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_process *old, *p;

	(void)arg;
	s->host_total = 64 * DAVY_GIB;
	d->memory.gtt_total = 48 * DAVY_GIB;
	e.engine = DAVY_ENGINE_OLLAMA_RUNNER;
	e.role = DAVY_ROLE_RUNNER;
	old = davy_check_engine(s, d, &e, 6 * DAVY_GIB);
	davy_check_chat(s, old, 15 * DAVY_S);
	e.model = "Qwen3.8-27B-UD-Q4_K_XL.gguf";
	e.model_bytes = 17 * DAVY_GIB;
	e.context = 32768;
	e.ring = 2;
	p = davy_check_engine(s, d, &e, 0);
	davy_sim_exit(s, p, DAVY_STATUS_KILL);
	davy_sim_add_actor(s, check_switches, old, davy_synth_when(s))->n[0] =
		(uint64_t)(p - s->process);
}

/* An image is one submission of the encoder; afterwards tokens are as fast as before. */
static uint64_t check_images(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	bool last = s->now_ns >= davy_synth_when(s);
	uint32_t most = last ? 16000 : 4500, least = last ? 11500 : 1500;

	if (a->stage) {
		if (l->phase == DAVY_SIM_PROMPT)
			return s->now_ns + 20 * DAVY_MS;
		l->slow_permille = 1000;
		a->stage = 0;
		return s->now_ns + davy_sim_around(s, 60 * DAVY_S);
	}
	if (l->phase != DAVY_SIM_IDLE)
		return s->now_ns + DAVY_S;
	if (last) {
		davy_sim_cause(s);
		l->fatal = true;
	}
	l->slow_permille = (uint32_t)davy_sim_between(s, least, most);
	l->want_prompt = l->p->info.ubatch;
	davy_sim_ask(s, l);
	a->stage = 1;
	return s->now_ns + 20 * DAVY_MS;
}

/*
 * amd-vk-001: the encoder's graph goes into one vkQueueSubmit (up to 100 nodes). Small images pass;
 * at 1024x1024 (4,608 tokens of image) the job exceeds the 2 s of lockup_timeout.
 */
void davy_check_image_encoder(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gemma-4-26B-A4B-it-UD-Q5_K_XL.gguf", 13 * DAVY_GIB, 16384);
	struct davy_sim_device *d = davy_synth_apu(s, 2 * DAVY_S);
	struct davy_sim_pace pace = {
		.prompt_ns = davy_sim_between(s, 190, 215) * DAVY_MS,
		.token_ns = davy_sim_between(s, 25, 50) * DAVY_MS,
		.noise_permille = 40,
	};
	struct davy_sim_habit habit = davy_synth_chats;
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	s->host_total = 64 * DAVY_GIB;
	d->memory.gtt_total = 48 * DAVY_GIB;
	p = davy_check_engine(s, d, &e, 15 * DAVY_GIB);
	habit.prompt_max = 500;
	habit.think_ns = 40 * DAVY_S;
	l = davy_sim_add_load(s, p, &pace, &habit);
	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_add_actor(s, check_images, l, s->begin_ns + 30 * DAVY_S);
	davy_sim_subject(s, d, p);
}

static uint64_t check_i915_ends(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	struct davy_sim_process *p = l->p;
	struct davy_event ev;

	if (!a->stage++) {
		davy_check_stuck(s, l);
		return s->now_ns + 10 * DAVY_S; /* CONFIG_DRM_I915_FENCE_TIMEOUT */
	}
	if (a->stage <= 8) {
		ev = davy_sim_log_of(s, DAVY_LOG_I915_FENCE_EXPIRED, p->device, NULL);
		davy_copy_name(ev.log.ring, sizeof(ev.log.ring), "0000:00:02.0:554");
		davy_sim_log_event(s, &ev);
		if (a->stage < 8)
			return s->now_ns + davy_sim_between(s, 1, 90) * DAVY_MS;
		return s->now_ns + davy_sim_between(s, 5000, 9000) * DAVY_MS;
	}
	ev = davy_sim_fact(s, DAVY_FACT_GT_ERROR, p->device, NULL);
	ev.fact.detail = 1; /* rcs0 */
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_I915_HANG, p->device, p, 0);
	davy_sim_failed(s);
	ev = davy_sim_fact(s, DAVY_FACT_ENGINE_RESET, p->device, NULL);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), "rcs0");
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_I915_CONTEXT_RESET, p->device, p, 0);
	p->graph.failed_count++;
	davy_sim_throw(s, p, DAVY_LOST);
	davy_synth_end_later(s, p, 30 * DAVY_MS, DAVY_STATUS_ABORT);
	return 0;
}

/*
 * int-i915-001: Meteor Lake, granite-4.0-h-tiny UD-Q8_K_XL, the second message of a chat. Seven
 * lines "Fence expiration time out" in 0.5 s, the first 8.07 s before "GPU HANG". i915 of 6.12 and
 * 7.2: fences expire after 10 s, the heartbeat's periods are 2.5 s.
 */
void davy_check_i915_fence(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("granite-4.0-h-tiny-UD-Q8_K_XL.gguf", 8 * DAVY_GIB, 8192);
	struct davy_sim_device *d = davy_synth_intel(s, false);
	struct davy_sim_process *p;

	(void)arg;
	davy_check_app(s, d, "gnome-shell", 180 * DAVY_MIB);
	p = davy_check_engine(s, d, &e, 9 * DAVY_GIB);
	davy_sim_add_actor(s, check_i915_ends, davy_check_chat(s, p, 25 * DAVY_S),
			   davy_synth_when(s));
	davy_sim_subject(s, d, p);
}

static void check_first_reset(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_FENCE_FAILED, p->device, p);

	davy_sim_log(s, DAVY_LOG_IP_DUMP_BEGUN, p->device, NULL, 0);
	davy_sim_log(s, DAVY_LOG_IP_DUMP_DONE, p->device, NULL, 0);
	davy_sim_log(s, DAVY_LOG_COREDUMP, p->device, NULL, 0);
	davy_sim_job_timeout(s, p, p->ring->timeout_ns);
	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), p->ring->name);
	ev.fact.error = -62; /* ETIME */
	davy_sim_tell(s, &ev);
	p->ring->began_ns = p->graph.entered_ns = 0;
	davy_sim_ring_reset(s, p, 0);
	davy_sim_log(s, DAVY_LOG_RECOVERED, p->device, p, 0);
	l->timed_out = davy_synth_lost_by_timeout;
	davy_check_go_on(s, l);
}

static uint64_t check_second_timeout(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (!a->stage++) {
		davy_check_stuck(s, l);
		return s->now_ns + davy_sim_around(s, 84 * DAVY_S) + 10 * DAVY_S;
	}
	if (a->stage == 2) {
		struct davy_event ev =
			davy_sim_log_of(s, DAVY_LOG_FENCE_FALLBACK, l->p->device, NULL);

		davy_copy_name(ev.log.ring, sizeof(ev.log.ring), l->p->ring->name);
		davy_sim_log_event(s, &ev);
		return s->now_ns + davy_sim_around(s, 420 * DAVY_S);
	}
	l->stick = true;
	davy_sim_ask(s, l);
	return 0;
}

/*
 * amd-vk-002: Strix Halo, a router's llama-server. The first timeout at 19:27:35 ends in a ring
 * reset that succeeds, and the process goes on; "Fence fallback timer expired on ring gfx_0.0.0"
 * 84 s later; the reset at 19:35:55, 8 min 20 s after the first, aborts it. The label's failure is
 * that one: the service was not lost before.
 */
void davy_check_reset_again(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("gpt-oss-120b-mxfp4.gguf", 60 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_apu(s, 0);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	s->host_total = 128 * DAVY_GIB;
	d->memory.gtt_total = 110 * DAVY_GIB;
	e.ring = 0; /* gfx_0.0.0: no separate compute queue */
	p = davy_check_engine(s, d, &e, 64 * DAVY_GIB);
	l = davy_check_chat(s, p, 15 * DAVY_S);
	l->timed_out = check_first_reset;
	davy_sim_add_actor(s, check_second_timeout, l, davy_synth_when(s));
	davy_sim_subject(s, d, p);
}

static void check_xe_engine_reset(struct davy_sim *s, const struct davy_sim_process *p,
				  const char *engine, uint32_t guc_id)
{
	struct davy_event ev = davy_sim_fact(s, DAVY_FACT_XE_QUEUE_RESET, p->device, p);

	davy_copy_name(ev.fact.name, sizeof(ev.fact.name), engine);
	ev.fact.detail = guc_id;
	davy_sim_tell(s, &ev);
	ev = davy_sim_log_of(s, DAVY_LOG_XE_ENGINE_RESET, p->device, NULL);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), engine);
	davy_sim_log_event(s, &ev);
}

static uint64_t check_xe_bcs(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	if (!a->stage++) {
		davy_check_stuck(s, davy_check_load_of(s, p));
		return s->now_ns + davy_sim_around(s, 63 * DAVY_S) + 5 * DAVY_S;
	}
	davy_sim_log(s, DAVY_LOG_XE_FAULT_UNSERVED, p->device, NULL, 0);
	check_xe_engine_reset(s, p, "bcs", 6);
	davy_sim_failed(s);
	return 0;
}

/* The ring goes on, the engine waits for ever. */
static void check_xe_ccs(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	struct davy_event ev = davy_sim_event(s, DAVY_EV_JOB_TIMEOUT, p->pid);

	check_xe_engine_reset(s, p, "ccs", 2);
	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), p->device->name);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), p->ring->name);
	ev.job_timeout.fence_context = p->ring->context;
	ev.job_timeout.fence_seqno = p->ring->seqno;
	ev.job_timeout.age_ns = p->ring->timeout_ns;
	davy_sim_tell(s, &ev);
	davy_sim_log(s, DAVY_LOG_XE_JOB_TIMEOUT, p->device, p, 0);
	davy_sim_log(s, DAVY_LOG_COREDUMP, p->device, NULL, 0);
	p->ring->began_ns = 0;
}

/*
 * int-xe-001: Arc Pro B70, SYCL, kernel 7.0, sustained decode. A reset of ccs (job_timeout_ms 5000)
 * at 05:18:10, of bcs with "Fault response: Unsuccessful -ENOENT" at 05:19:13. The server hangs for
 * ever, its port answers. int-xe-003 and int-xe-005 say the same.
 */
void davy_check_xe_two_resets(struct davy_sim *s, uint64_t arg)
{
	struct davy_check_engine e =
		davy_check_by_vulkan("Qwen3-Coder-30B-A3B-Q5_K_M.gguf", 21 * DAVY_GIB, 32768);
	struct davy_sim_device *d = davy_synth_intel(s, true);
	struct davy_sim_process *p;
	struct davy_sim_load *l;

	(void)arg;
	d->memory.vram_total = d->memory.visible_total = 32 * DAVY_GIB;
	e.backend = DAVY_BACKEND_SYCL;
	e.ring = 0;
	p = davy_check_engine(s, d, &e, 24 * DAVY_GIB);
	l = davy_check_chat(s, p, 2 * DAVY_S);
	l->habit.answer_min = 300;
	l->habit.answer_max = 2000;
	l->timed_out = check_xe_ccs;
	davy_sim_add_actor(s, check_xe_bcs, p, davy_synth_when(s));
	davy_sim_subject(s, d, p);
}
