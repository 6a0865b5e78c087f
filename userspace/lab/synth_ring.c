/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring_timeout: a job outlasts its queue's timeout. By a prompt whose jobs grow with the depth
 * (ollama #17870: 120,094 tokens at ubatch 512 under 2 s; #26447: 67k), by a job that never ends,
 * or by a compositor's job that does not get its turn. The sign is there when a job of the fatal
 * series has run for an eighth of its timeout.
 */
#include <string.h>

#include "lab/scenarios.h"

#define ASK_AGAIN_NS (200 * DL_MS)

static void set_context(struct dl_sim *s, struct dl_sim_process *p, uint32_t tokens)
{
	struct dl_event ev = dl_sim_event(s, DL_EV_PROCESS, p->pid);

	p->info.context_size = p->progress.context_size = tokens;
	ev.process = p->info;
	dl_sim_tell(s, &ev);
}

/* A job that takes as long as the timeout at "depth". */
static struct dl_sim_pace pace_to(struct dl_sim *s, uint64_t timeout_ns, uint32_t depth,
				  uint32_t shape)
{
	uint64_t rounds = depth / 1024;
	struct dl_sim_pace pace = {
		.prompt_ns = timeout_ns / dl_sim_between(s, 30, 60),
		.token_ns = dl_sim_between(s, 15, 40) * DL_MS,
		.noise_permille = shape == DL_SHAPE_NOISY ? 150 : 40,
	};
	uint64_t more_ns = timeout_ns / 20 * 21 - pace.prompt_ns;

	if (shape == DL_SHAPE_CURVE)
		pace.prompt_curve_ns = more_ns / (rounds * rounds);
	else
		pace.prompt_slope_ns = more_ns / rounds;
	return pace;
}

/* The prompt that kills comes, if need be after the answer that is under way. */
static uint64_t ask_deep(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;

	if (l->phase != DL_SIM_IDLE)
		return s->now_ns + ASK_AGAIN_NS;
	dl_sim_cause(s);
	l->fatal = true;
	l->want_prompt = (uint32_t)a->n[0];
	dl_sim_ask(s, l);
	return 0;
}

static const struct dl_sim_habit short_chats = {
	.prompt_min = 40,
	.prompt_max = 900,
	.answer_min = 40,
	.answer_max = 300,
	.think_ns = 9 * DL_S,
};

static void grow_to(struct dl_sim *s, struct dl_sim_device *d, uint64_t timeout_ns, uint32_t depth,
		    uint32_t shape)
{
	struct dl_sim_process *p =
		dl_synth_engine(s, d, DL_BACKEND_VULKAN, (uint32_t)dl_sim_between(s, 350, 650));
	struct dl_sim_pace pace = pace_to(s, timeout_ns, depth, shape);
	struct dl_sim_load *l;

	set_context(s, p, depth / 4 * 5 / 256 * 256 + 256);
	l = dl_sim_add_load(s, p, &pace, &short_chats);
	l->timed_out = dl_synth_lost_by_timeout;
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, ask_deep, l, dl_synth_when(s))->n[0] = (uint64_t)depth / 5 * 6;
}

/* DL_PREFILL(timeout, shape) */
void dl_synth_prefill(struct dl_sim *s, uint64_t arg)
{
	uint64_t timeout_ns = (arg >> 8) * DL_S;
	uint32_t most = timeout_ns > 20 * DL_S ? 24 : timeout_ns > 4 * DL_S ? 64 : 120;
	uint32_t depth = (uint32_t)dl_sim_between(s, most / 2, most) * 1024;

	grow_to(s, dl_synth_gpu(s, timeout_ns), timeout_ns, depth, arg & 0xff);
}

/* int-xe-002: a prompt of some thousand tokens; xe's timeout is 5 s. */
void dl_synth_xe_prefill(struct dl_sim *s, uint64_t arg)
{
	grow_to(s, dl_synth_intel(s, true), 5 * DL_S, (uint32_t)dl_sim_between(s, 12, 30) * 1024,
		(uint32_t)arg);
}

static uint64_t stick(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_load *l = a->of;

	dl_sim_cause(s);
	l->fatal = true;
	l->stick = true;
	dl_sim_ask(s, l);
	return 0;
}

/* A token's job never ends (amd-vk-014); argument: the timeout in s. */
void dl_synth_decode_hang(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_gpu(s, arg * DL_S);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_VULKAN, 500);
	struct dl_sim_load *l = dl_synth_chat(s, p);

	l->timed_out = dl_synth_lost_by_timeout;
	dl_sim_subject(s, d, p);
	dl_sim_add_actor(s, stick, l, dl_synth_when(s));
}

/* amd-gr-003: the compositor's job times out, its ring's reset fails after 2.2 s, the GPU is reset.
 */
static uint64_t starve(struct dl_sim *s, struct dl_sim_actor *a)
{
	struct dl_sim_process *p = a->of;

	switch (a->stage++) {
	case 0:
		dl_sim_cause(s);
		p->ring->began_ns = s->now_ns;
		p->ring->pid = p->pid;
		p->ring->seqno++;
		dl_sim_sign(s, s->now_ns + p->ring->timeout_ns / 8);
		return s->now_ns + p->ring->timeout_ns;
	case 1:
		dl_sim_job_timeout(s, p, p->ring->timeout_ns);
		dl_sim_failed(s);
		return s->now_ns + 2200 * DL_MS;
	default:
		dl_sim_ring_reset(s, p, -110); /* ETIMEDOUT */
		p->ring->began_ns = 0;
		dl_synth_reset_device(s, p->device, dl_sim_around(s, DL_S), 0);
		return 0;
	}
}

void dl_synth_desktop_victim(struct dl_sim *s, uint64_t arg)
{
	struct dl_sim_device *d = dl_synth_dgpu(s, arg * DL_S);
	struct dl_sim_process *desktop = dl_synth_desktop(s, d);
	struct dl_sim_process *p = dl_synth_engine(s, d, DL_BACKEND_ROCM, 700);

	dl_synth_chat(s, p);
	dl_sim_subject(s, d, desktop);
	dl_sim_add_actor(s, starve, desktop, dl_synth_when(s));
}
