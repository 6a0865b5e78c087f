/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people's rules say of a workload, as far as the core must heed it: mode, pins, the floor of
 * its ubatch. Told when its engine is known, when it runs on something else, and with new rules.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "policy/told.h"
#include "host/host_subject.h"

void dl_agent_subject(struct dl_agent *a, const struct dl_ev_process *p,
		      struct dl_policy_subject *s)
{
	const struct dl_watched_gpu *w = dl_agent_gpu(a, p->device);

	memset(s, 0, sizeof(*s));
	s->engine = (enum dl_engine)p->engine;
	s->backend = (enum dl_backend)p->backend;
	s->forced = s->backend != DL_BACKEND_UNKNOWN;
	s->context = p->context_size;
	dl_copy_name(s->model, sizeof(s->model), p->model);
	if (w)
		dl_host_subject(&w->gpu, &w->lockups, s);
	else
		dl_host_kernel(s);
	if (!s->device[0])
		dl_copy_name(s->device, sizeof(s->device), p->device);
}

static uint8_t pinned(const struct dl_effective *e)
{
	unsigned int bits = 0;

	for (uint32_t i = 0; i < DL_TUNER_KNOBS; i++)
		if (e->value[dl_policy_knob_key(i)].origin.pinned)
			bits |= 1u << i;
	return (uint8_t)bits;
}

/* As the rules say of an engine that runs so. */
static struct dl_ev_rules rules_of(struct dl_agent *a, const struct dl_ev_process *p)
{
	const struct dl_policy_set set = dl_policy_set_of(a->rules);
	struct dl_ev_rules said = { .workload = p->workload };
	struct dl_effective *e = calloc(1, sizeof(*e));
	struct dl_policy_subject subject;

	if (!e)
		return said;
	dl_agent_subject(a, p, &subject);
	dl_policy_effective(&set, &subject, e);
	if (e->value[DL_POLICY_MODE].origin.rule)
		said.mode = (uint8_t)(e->value[DL_POLICY_MODE].number + 1);
	said.fixed = pinned(e);
	said.ubatch_floor = dl_effective_count(e, DL_POLICY_UBATCH_FLOOR);
	free(e);
	return said;
}

static bool heeds(const struct dl_workload *w, const struct dl_ev_rules *said)
{
	return w->mode == said->mode && w->fixed == said->fixed &&
	       w->ubatch_floor == said->ubatch_floor;
}

void dl_agent_rules_tell(struct dl_agent *a, const struct dl_tracked *t,
			 struct dl_kept_tuning *kept)
{
	const struct dl_workload *w = dl_world_workload(&a->core.world, t->told.workload);
	struct dl_event ev = dl_agent_event(DL_EV_RULES, 0);

	if (!a->rules || !w ||
	    (kept->rules_pid == t->pid && kept->rules_read == a->rules_read &&
	     kept->rules_backend == t->told.backend))
		return;
	kept->rules_pid = t->pid;
	kept->rules_read = a->rules_read;
	kept->rules_backend = t->told.backend;
	ev.rules = rules_of(a, &t->told);
	if (!heeds(w, &ev.rules))
		dl_agent_feed(a, &ev);
}
