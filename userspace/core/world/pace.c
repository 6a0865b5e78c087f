/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/world/pace.h"

#include <string.h>

#define LEARN_NS    DAVY_NS_PER_S
#define SAMPLES_MIN 8 /* needed before a speed is usual */
#define SLOW_TOKENS 2 /* consecutive samples; the engine's own count is even */
#define SLOW_GRAPHS 8 /* graphs of a prompt are slower than those of a token, and come in groups */
#define GAP_MIN_NS  (100 * DAVY_NS_PER_MS)
#define GAP_MAX_NS  (30 * DAVY_NS_PER_S)
#define NO_SAMPLE   UINT32_MAX

static size_t pace_set_of(uint32_t pid)
{
	return (size_t)((pid * 2654435761u) >> 16) & (DAVY_PACE_SETS - 1);
}

static struct davy_pace *pace_get(struct davy_paces *paces, uint32_t pid, uint64_t now_ns)
{
	struct davy_pace *set = paces->pace[pace_set_of(pid)], *victim = &set[0];

	for (size_t i = 0; i < DAVY_PACE_WAYS; i++)
		if (set[i].pid == pid)
			return &set[i];
	for (size_t i = 0; i < DAVY_PACE_WAYS && victim->pid; i++)
		if (!set[i].pid || set[i].used_ns < victim->used_ns)
			victim = &set[i];
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	victim->used_ns = now_ns;
	return victim;
}

void davy_pace_forget(struct davy_paces *paces, uint32_t pid)
{
	struct davy_pace *set = paces->pace[pace_set_of(pid)];

	for (size_t i = 0; i < DAVY_PACE_WAYS; i++)
		if (set[i].pid == pid)
			memset(&set[i], 0, sizeof(set[i]));
}

static uint32_t pace_median(const struct davy_pace *p)
{
	uint32_t sorted[DAVY_PACE_SAMPLES];
	uint32_t count = p->count < DAVY_PACE_SAMPLES ? p->count : DAVY_PACE_SAMPLES;

	if (count < SAMPLES_MIN)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (; at && sorted[at - 1] > p->sample[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = p->sample[i];
	}
	return sorted[(count - 1) / 2];
}

uint32_t davy_pace_usual(const struct davy_paces *paces, uint32_t pid)
{
	const struct davy_pace *set = paces->pace[pace_set_of(pid)];

	for (size_t i = 0; i < DAVY_PACE_WAYS; i++)
		if (set[i].pid == pid)
			return pace_median(&set[i]);
	return 0;
}

/* Tokens per 1000 s. Valid only between two reports of a busy engine that computed no prompt. */
static uint32_t pace_tokens(struct davy_pace *p, const struct davy_ev_progress *in, uint64_t now_ns)
{
	uint64_t gap_ns = now_ns - p->reported_ns, made, speed = NO_SAMPLE;

	if (p->reported_ns && gap_ns < GAP_MIN_NS)
		return NO_SAMPLE; /* too early: continue from the last report */
	if (!p->reported_ns)
		p->count = p->slow_count = 0; /* graph samples have another unit */
	made = in->generated_count - p->generated_count;
	if (p->reported_ns && gap_ns <= GAP_MAX_NS && p->busy_slots && in->busy_slots &&
	    in->prompt_count == p->prompt_count && in->generated_count >= p->generated_count &&
	    made <= UINT32_MAX)
		speed = made * 1000000 / (gap_ns / DAVY_NS_PER_MS);
	p->reported_ns = now_ns ? now_ns : 1;
	p->prompt_count = in->prompt_count;
	p->generated_count = in->generated_count;
	p->busy_slots = in->busy_slots;
	return speed < NO_SAMPLE ? (uint32_t)speed : NO_SAMPLE;
}

static uint32_t pace_graph(struct davy_pace *p, const struct davy_ev_graph *in)
{
	uint64_t speed;

	if (p->reported_ns || in->graph_count == p->graph_count || !in->last_ns)
		return NO_SAMPLE;
	p->graph_count = in->graph_count;
	speed = 1000 * DAVY_NS_PER_S / in->last_ns;
	return speed < NO_SAMPLE ? (uint32_t)speed : NO_SAMPLE - 1;
}

static void pace_learn(struct davy_pace *p, uint32_t speed, uint64_t now_ns)
{
	if (!speed || (p->count && now_ns - p->learned_ns < LEARN_NS))
		return;
	p->sample[p->count % DAVY_PACE_SAMPLES] = speed;
	p->count = p->count + 1 < 2 * DAVY_PACE_SAMPLES ? p->count + 1 : DAVY_PACE_SAMPLES;
	p->learned_ns = now_ns;
}

uint32_t davy_pace_take(struct davy_paces *paces, const struct davy_event *ev, bool learn,
			uint32_t slow_permille)
{
	struct davy_pace *p = pace_get(paces, ev->pid, ev->at_ns);
	uint32_t speed, median, permille, enough;

	p->used_ns = ev->at_ns;
	if (ev->kind == DAVY_EV_PROGRESS)
		speed = pace_tokens(p, &ev->progress, ev->at_ns);
	else
		speed = pace_graph(p, &ev->graph);
	if (speed == NO_SAMPLE)
		return NO_SAMPLE;
	if (learn) {
		p->slow_count = 0;
		pace_learn(p, speed, ev->at_ns);
		return NO_SAMPLE;
	}
	median = pace_median(p);
	if (!median)
		return NO_SAMPLE;
	permille = speed < median ? (uint32_t)((uint64_t)speed * 1000 / median) : 1000;
	p->slow_count = permille < slow_permille ? p->slow_count + 1 : 0;
	enough = p->reported_ns ? SLOW_TOKENS : SLOW_GRAPHS;
	return p->slow_count >= enough ? permille : NO_SAMPLE;
}
