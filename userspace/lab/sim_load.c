/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/sim_load.h"

#include <assert.h>

#define ROUND	 1024 /* tokens: the unit of the slopes */
#define STUCK_NS (100 * DAVY_MS)

static uint64_t deeper_ns(uint64_t slope_ns, uint32_t depth)
{
	return slope_ns / ROUND * depth + slope_ns % ROUND * depth / ROUND;
}

uint64_t davy_sim_prompt_job_ns(const struct davy_sim_pace *pace, uint32_t depth)
{
	uint64_t curve_ns = deeper_ns(deeper_ns(pace->prompt_curve_ns, depth), depth);

	return pace->prompt_ns + deeper_ns(pace->prompt_slope_ns, depth) + curve_ns;
}

static uint64_t job_ns(struct davy_sim *s, const struct davy_sim_load *l)
{
	const struct davy_sim_pace *pace = &l->pace;
	uint64_t ns = pace->token_ns + deeper_ns(pace->token_slope_ns, l->depth);

	if (l->phase == DAVY_SIM_PROMPT)
		ns = davy_sim_prompt_job_ns(pace, l->depth) * l->tokens / l->p->info.ubatch;
	ns = davy_random_near(&s->random, ns, pace->noise_permille);
	return ns / 1000 * l->slow_permille + 1;
}

static void begin_request(struct davy_sim *s, struct davy_sim_load *l)
{
	const struct davy_sim_habit *h = &l->habit;
	uint32_t context = l->p->progress.context_size;
	uint32_t prompt = (uint32_t)davy_sim_between(s, h->prompt_min, h->prompt_max);
	uint32_t answer = (uint32_t)davy_sim_between(s, h->answer_min, h->answer_max);

	if (l->want_prompt || !davy_random_chance(&s->random, h->keep_permille))
		l->depth = 0;
	if (l->want_prompt)
		prompt = l->want_prompt;
	l->want_prompt = 0;
	if (prompt > context - 1)
		prompt = context - 1;
	if (l->depth + prompt + answer > context)
		l->depth = 0;
	if (prompt + answer > context)
		answer = context - prompt;
	l->prompt_left = prompt;
	l->answer_left = answer;
	l->phase = DAVY_SIM_PROMPT;
	l->p->progress.busy_slots = 1;
}

static void end_request(struct davy_sim_load *l)
{
	l->phase = DAVY_SIM_IDLE;
	l->p->progress.busy_slots = 0;
}

static uint64_t sim_load_timeout_of(const struct davy_sim_load *l)
{
	return l->p->ring ? l->p->ring->timeout_ns : 0;
}

/* A job that exceeds its timeout ends there. */
static uint64_t begin_job(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	uint64_t ns, timeout_ns = sim_load_timeout_of(l);

	l->tokens = 1;
	if (l->phase == DAVY_SIM_PROMPT)
		l->tokens = l->prompt_left < p->info.ubatch ? l->prompt_left : p->info.ubatch;
	ns = job_ns(s, l);
	l->began_ns = p->graph.entered_ns = s->now_ns;
	if (p->ring) {
		p->ring->began_ns = s->now_ns;
		p->ring->seqno++;
		p->ring->pid = p->pid;
	}
	if (l->fatal && timeout_ns && ns >= timeout_ns / 8)
		davy_sim_precursor(s, s->now_ns + timeout_ns / 8);
	return s->now_ns + (timeout_ns && ns > timeout_ns ? timeout_ns : ns);
}

static void count_time(struct davy_ev_job_times *t, uint64_t ns)
{
	size_t slot = 0;

	while (slot < DAVY_TIME_SLOTS - 1 && ns >= DAVY_TIME_SLOT_NS << (slot + 1))
		slot++;
	t->slot[slot]++;
	t->count++;
	t->sum_ns += ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
}

static void sim_load_end_job(struct davy_sim *s, struct davy_sim_load *l)
{
	struct davy_sim_process *p = l->p;
	uint64_t ns = s->now_ns - l->began_ns;

	l->began_ns = p->graph.entered_ns = 0;
	p->graph.graph_count++;
	p->graph.last_ns = ns;
	if (ns > p->graph.max_ns)
		p->graph.max_ns = ns;
	p->client.busy_ns += ns;
	if (p->ring) {
		p->ring->began_ns = 0;
		count_time(&p->times, ns);
	}
	l->depth += l->tokens;
	p->progress.depth = l->depth;
	if (l->phase == DAVY_SIM_PROMPT) {
		l->prompt_left -= l->tokens;
		p->progress.prompt_count += l->tokens;
		if (!l->prompt_left)
			l->phase = DAVY_SIM_ANSWER;
	} else {
		p->progress.generated_count += l->tokens;
		l->answer_left -= l->answer_left ? 1 : 0;
	}
	if (l->phase == DAVY_SIM_ANSWER && !l->answer_left)
		end_request(l);
}

/* The job runs until its timeout, if any; its engine stays busy. */
static uint64_t stay_stuck(struct davy_sim *s, struct davy_sim_load *l)
{
	uint64_t timeout_ns = sim_load_timeout_of(l);

	l->p->client.busy_ns += STUCK_NS;
	if (l->fatal && timeout_ns)
		davy_sim_precursor(s, l->began_ns + timeout_ns / 8 > s->now_ns
					      ? l->began_ns + timeout_ns / 8
					      : s->now_ns);
	if (timeout_ns && l->began_ns + timeout_ns <= s->now_ns + STUCK_NS)
		return l->began_ns + timeout_ns;
	return s->now_ns + STUCK_NS;
}

static uint64_t work(struct davy_sim *s, struct davy_sim_actor *a)
{
	struct davy_sim_load *l = a->of;
	uint64_t timeout_ns = sim_load_timeout_of(l);

	if (!l->p->alive || l->stopped)
		return 0;
	if (l->began_ns && timeout_ns && s->now_ns >= l->began_ns + timeout_ns) {
		assert(l->timed_out);
		l->began_ns = 0;
		l->stopped = true; /* unless the scenario continues it */
		l->timed_out(s, l);
		return a->next_ns;
	}
	if (l->began_ns && l->stick)
		return stay_stuck(s, l);
	if (l->began_ns)
		sim_load_end_job(s, l);
	if (l->phase == DAVY_SIM_IDLE && a->stage) {
		a->stage = 0; /* it is called for a request */
		begin_request(s, l);
	}
	if (l->phase == DAVY_SIM_IDLE) {
		a->stage = 1;
		return s->now_ns + davy_sim_around(s, l->habit.think_ns);
	}
	return begin_job(s, l);
}

struct davy_sim_load *davy_sim_add_load(struct davy_sim *s, struct davy_sim_process *p,
					const struct davy_sim_pace *pace,
					const struct davy_sim_habit *habit)
{
	struct davy_sim_load *l = &s->load[s->load_count++];

	assert(s->load_count <= DAVY_SIM_LOADS);
	assert(p->info.ubatch && p->progress.context_size > 1);
	l->p = p;
	l->pace = *pace;
	l->habit = *habit;
	l->slow_permille = 1000;
	l->actor = davy_sim_add_actor(s, work, l, s->now_ns + davy_sim_around(s, habit->think_ns));
	l->actor->stage = 1;
	return l;
}

void davy_sim_ask(struct davy_sim *s, struct davy_sim_load *l)
{
	if (l->phase != DAVY_SIM_IDLE || l->stopped)
		return;
	l->actor->stage = 1;
	l->actor->next_ns = s->now_ns;
}
