/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/act_replay.h"

#include <stdlib.h>
#include <string.h>

#define CHECKS	   16
#define TIMEOUT_NS (2 * DAVY_NS_PER_S) /* of a one-token check (davylamp.8) */

struct check {
	uint32_t workload; /* 0: empty */
	uint64_t asked_ns;
};

struct davy_acts {
	struct davy_core core;
	struct check checks[CHECKS];
};

struct davy_acts *davy_acts_new(const struct davy_config *config)
{
	struct davy_acts *acts = calloc(1, sizeof(*acts));

	if (!acts)
		return NULL;
	davy_core_init(&acts->core);
	acts->core.config = *config;
	acts->core.config.value[DAVY_CFG_MODE] = DAVY_MODE_ADVISE;
	return acts;
}

void davy_acts_free(struct davy_acts *acts)
{
	free(acts);
}

static void acts_note_check(struct davy_acts *acts, const struct davy_plan *plan)
{
	for (size_t i = 0; i < CHECKS; i++) {
		if (acts->checks[i].workload)
			continue;
		acts->checks[i] = (struct check){ plan->workload, plan->at_ns };
		return;
	}
}

static void acts_step(struct davy_acts *acts, struct davy_judge *judge, const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];
	size_t said = davy_core_step(&acts->core, ev, plans, DAVY_PLANS_MAX);

	for (size_t i = 0; i < said; i++) {
		if (plans[i].kind == DAVY_PLAN_ACTION)
			davy_judge_act(judge, &acts->core, &plans[i]);
		else if (plans[i].kind == DAVY_PLAN_CHECK)
			acts_note_check(acts, &plans[i]);
	}
}

static void acts_answer_check(struct davy_acts *acts, struct davy_judge *judge,
			      const struct check *c)
{
	const struct davy_workload *w = davy_world_workload(&acts->core.world, c->workload);
	const struct davy_process *p = w ? davy_world_process(&acts->core.world, w->pid) : NULL;
	struct davy_event ev = { .at_ns = c->asked_ns + TIMEOUT_NS, .kind = DAVY_EV_PROBE };

	if (!p || !p->graph.graph_count)
		return;
	ev.pid = p->pid;
	ev.probe.workload = c->workload;
	ev.probe.health_status = 200;
	if (!p->graph.entered_ns || p->graph.entered_ns > c->asked_ns) {
		ev.probe.completion_status = 200;
		ev.probe.token_count = 1;
	}
	acts_step(acts, judge, &ev);
}

/* Answers the checks that are due before "now_ns". */
static void acts_answer(struct davy_acts *acts, struct davy_judge *judge, uint64_t now_ns)
{
	for (size_t i = 0; i < CHECKS; i++) {
		struct check c = acts->checks[i];

		if (!c.workload || c.asked_ns + TIMEOUT_NS > now_ns)
			continue;
		acts->checks[i].workload = 0;
		acts_answer_check(acts, judge, &c);
	}
}

/* As a llama-server that the agent has started: it can do all but unload its only model. */
static void acts_adopt(struct davy_acts *acts, struct davy_judge *judge,
		       const struct davy_event *of)
{
	struct davy_event ev = *of;

	ev.process.workload = of->pid;
	acts_step(acts, judge, &ev);
	memset(&ev, 0, sizeof(ev));
	ev.at_ns = of->at_ns;
	ev.pid = of->pid;
	ev.kind = DAVY_EV_WORKLOAD;
	ev.workload.workload = of->pid;
	ev.workload.adopted = ev.workload.movable = 1;
	ev.workload.can = DAVY_CAN_FREEZE | DAVY_CAN_SHRINK | DAVY_CAN_CAP | DAVY_CAN_SWITCH;
	ev.workload.engine = of->process.engine;
	ev.workload.backend = of->process.backend;
	ev.workload.port = of->process.port;
	davy_copy_name(ev.workload.device, sizeof(ev.workload.device), of->process.device);
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), of->process.model);
	acts_step(acts, judge, &ev);
}

/* What follows the end of an engine is its supervisor's work and prevents nothing. */
static void acts_release(struct davy_acts *acts, struct davy_judge *judge,
			 const struct davy_event *of)
{
	const struct davy_workload *w = davy_world_workload(&acts->core.world, of->pid);
	struct davy_event ev = { .at_ns = of->at_ns, .kind = DAVY_EV_WORKLOAD };

	if (!w || w->pid != of->pid)
		return;
	ev.workload.workload = of->pid;
	ev.workload.op = DAVY_WORKLOAD_GONE;
	acts_step(acts, judge, &ev);
}

void davy_acts_replay(struct davy_acts *acts, struct davy_judge *judge,
		      const struct davy_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct davy_event *ev = &events[i];

		acts_answer(acts, judge, ev->at_ns);
		if (ev->kind == DAVY_EV_PROCESS && ev->process.engine != DAVY_ENGINE_NONE &&
		    !ev->process.workload && ev->pid) {
			acts_adopt(acts, judge, ev);
			continue;
		}
		if (ev->kind == DAVY_EV_PROCESS_EXIT)
			acts_release(acts, judge, ev);
		acts_step(acts, judge, ev);
	}
}
