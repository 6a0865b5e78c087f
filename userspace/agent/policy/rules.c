/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the administrator's rules that the core must respect for a workload: mode, pins,
 * minimum ubatch. Reported when its engine is known, when it changes its backend or device, and
 * when rules change.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "policy/applied.h"
#include "host/host_subject.h"
#include "agent/policy/agent_policy.h"

void davy_agent_subject(struct davy_agent *a, const struct davy_ev_process *p,
			struct davy_policy_subject *s)
{
	const struct davy_watched_gpu *w = davy_agent_gpu(a, p->device);

	memset(s, 0, sizeof(*s));
	s->engine = (enum davy_engine)p->engine;
	s->backend = (enum davy_backend)p->backend;
	s->forced = s->backend != DAVY_BACKEND_UNKNOWN;
	s->context = p->context_size;
	davy_copy_name(s->model, sizeof(s->model), p->model);
	if (w)
		davy_host_subject(&w->gpu, &w->lockups, s);
	else
		davy_host_kernel(s);
	if (!s->device[0])
		davy_copy_name(s->device, sizeof(s->device), p->device);
}

static uint8_t pinned(const struct davy_effective *e)
{
	unsigned int bits = 0;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (e->value[davy_policy_setting_key(i)].origin.pinned)
			bits |= 1u << i;
	return (uint8_t)bits;
}

/* The rules for an engine that runs like this. */
static struct davy_ev_rules rules_of(struct davy_agent *a, const struct davy_ev_process *p)
{
	const struct davy_policy_set set = davy_policy_set_of(a->rules);
	struct davy_ev_rules said = { .workload = p->workload };
	struct davy_effective *e = calloc(1, sizeof(*e));
	struct davy_policy_subject subject;

	if (!e)
		return said;
	davy_agent_subject(a, p, &subject);
	davy_policy_effective(&set, &subject, e);
	if (e->value[DAVY_POLICY_MODE].origin.rule)
		said.mode = (uint8_t)(e->value[DAVY_POLICY_MODE].number + 1);
	said.fixed = pinned(e);
	said.ubatch_floor = davy_effective_count(e, DAVY_POLICY_UBATCH_FLOOR);
	free(e);
	return said;
}

static bool heeds(const struct davy_workload *w, const struct davy_ev_rules *said)
{
	return w->mode == said->mode && w->fixed == said->fixed &&
	       w->ubatch_floor == said->ubatch_floor;
}

void davy_agent_rules_tell(struct davy_agent *a, const struct davy_tracked *t,
			   struct davy_kept_tuning *kept)
{
	const struct davy_workload *w = davy_world_workload(&a->core.world, t->reported.workload);
	struct davy_event ev = davy_agent_event(DAVY_EV_RULES, 0);

	if (!a->rules || !w ||
	    (kept->rules_pid == t->pid && kept->rules_read == a->rules_read &&
	     kept->rules_backend == t->reported.backend))
		return;
	kept->rules_pid = t->pid;
	kept->rules_read = a->rules_read;
	kept->rules_backend = t->reported.backend;
	ev.rules = rules_of(a, &t->reported);
	if (!heeds(w, &ev.rules))
		davy_agent_feed(a, &ev);
}
