/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_timeout: a job exceeds its queue's timeout: a prompt whose jobs grow with the depth (ollama
 * #17870: 120,094 tokens at ubatch 512 under 2 s; #26447: 67k), a job that never ends, or a
 * compositor's job that does not run. The precursor: a job of the fatal series has run for an
 * eighth of its timeout.
 */
#include <string.h>

#include "lab/scenarios.h"

#define ASK_AGAIN_NS (200 * DAVY_MS)

static void set_context(struct davy_sim *s, struct davy_sim_process *p, uint32_t tokens)
{
	struct davy_event ev = davy_sim_event(s, DAVY_EV_PROCESS, p->pid);

	p->info.context_size = p->progress.context_size = tokens;
	ev.process = p->info;
	davy_sim_tell(s, &ev);
}

/* A job that takes as long as the timeout at "depth". */
static struct davy_sim_pace pace_to(struct davy_sim *s, uint64_t timeout_ns, uint32_t depth,
				    uint32_t shape)
{
	uint64_t rounds = depth / 1024;
	struct davy_sim_pace pace = {
		.prompt_ns = timeout_ns / davy_sim_between(s, 30, 60),
		.token_ns = davy_sim_between(s, 15, 40) * DAVY_MS,
		.noise_permille = shape == DAVY_SHAPE_NOISY ? 150 : 40,
	};
	uint64_t more_ns = timeout_ns / 20 * 21 - pace.prompt_ns;

	if (shape == DAVY_SHAPE_CURVE)
		pace.prompt_curve_ns = more_ns / (rounds * rounds);
	else
		pace.prompt_slope_ns = more_ns / rounds;
	return pace;
}

/* Sends the fatal prompt, after the current answer if there is one. */
static uint64_t ask_deep(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	if (l->phase != DAVY_SIM_IDLE)
		return s->now_ns + ASK_AGAIN_NS;
	davy_sim_cause(s);
	l->fatal = true;
	l->want_prompt = (uint32_t)a->n[0];
	davy_sim_ask(s, l);
	return 0;
}

static const struct davy_sim_habit short_chats = {
	.prompt_min = 40,
	.prompt_max = 900,
	.answer_min = 40,
	.answer_max = 300,
	.think_ns = 9 * DAVY_S,
};

static void grow_to(struct davy_sim *s, struct davy_sim_device *d, uint64_t timeout_ns,
		    uint32_t depth, uint32_t shape)
{
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN,
						       (uint32_t)davy_sim_between(s, 350, 650));
	struct davy_sim_pace pace = pace_to(s, timeout_ns, depth, shape);
	struct davy_sim_load *l;

	set_context(s, p, depth / 4 * 5 / 256 * 256 + 256);
	l = davy_sim_add_load(s, p, &pace, &short_chats);
	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, ask_deep, l, davy_synth_when(s))->n[0] = (uint64_t)depth / 5 * 6;
}

/* DAVY_PREFILL(timeout, shape) */
void davy_synth_prefill(struct davy_sim *s, uint64_t arg)
{
	uint64_t timeout_ns = (arg >> 8) * DAVY_S;
	uint32_t most = timeout_ns > 20 * DAVY_S ? 24 : timeout_ns > 4 * DAVY_S ? 64 : 120;
	uint32_t depth = (uint32_t)davy_sim_between(s, most / 2, most) * 1024;

	grow_to(s, davy_synth_gpu(s, timeout_ns), timeout_ns, depth, arg & 0xff);
}

/* int-xe-002: a prompt of some thousand tokens; xe's timeout is 5 s. */
void davy_synth_xe_prefill(struct davy_sim *s, uint64_t arg)
{
	grow_to(s, davy_synth_intel(s, true), 5 * DAVY_S,
		(uint32_t)davy_sim_between(s, 12, 30) * 1024, (uint32_t)arg);
}

static uint64_t stick(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;

	davy_sim_cause(s);
	l->fatal = true;
	l->stick = true;
	davy_sim_ask(s, l);
	return 0;
}

/* A token's job never ends (amd-vk-014); argument: the timeout in s. */
void davy_synth_decode_hang(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_gpu(s, arg * DAVY_S);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_VULKAN, 500);
	struct davy_sim_load *l = davy_synth_chat(s, p);

	l->timed_out = davy_synth_lost_by_timeout;
	davy_sim_subject(s, d, p);
	davy_sim_add_actor(s, stick, l, davy_synth_when(s));
}

/* amd-gr-003: the compositor's job times out, the ring reset fails after 2.2 s, a GPU reset. */
static uint64_t starve(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		davy_sim_cause(s);
		p->ring->began_ns = s->now_ns;
		p->ring->pid = p->pid;
		p->ring->seqno++;
		davy_sim_precursor(s, s->now_ns + p->ring->timeout_ns / 8);
		return s->now_ns + p->ring->timeout_ns;
	case 1:
		davy_sim_job_timeout(s, p, p->ring->timeout_ns);
		davy_sim_failed(s);
		return s->now_ns + 2200 * DAVY_MS;
	default:
		davy_sim_ring_reset(s, p, -110); /* ETIMEDOUT */
		p->ring->began_ns = 0;
		davy_synth_reset_device(s, p->device, davy_sim_around(s, DAVY_S), 0);
		return 0;
	}
}

void davy_synth_desktop_victim(struct davy_sim *s, uint64_t arg)
{
	struct davy_sim_device *d = davy_synth_dgpu(s, arg * DAVY_S);
	struct davy_sim_process *desktop = davy_synth_desktop(s, d);
	struct davy_sim_process *p = davy_synth_engine(s, d, DAVY_BACKEND_ROCM, 700);

	davy_synth_chat(s, p);
	davy_sim_subject(s, d, desktop);
	davy_sim_add_actor(s, starve, desktop, davy_synth_when(s));
}
