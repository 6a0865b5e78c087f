/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH_NS (60 * DAVY_NS_PER_S) /* the hierarchy may be mounted later */
#define LOOK_NS	  DAVY_NS_PER_S

/* NULL: no free entry. */
static struct davy_dmem_reported *dmem_reported_of(struct davy_dmem *d, const char *cgroup,
						   const struct davy_ev_dmem *now)
{
	struct davy_dmem_reported *empty = NULL;

	for (size_t i = 0; i < DAVY_DMEM_REPORTED; i++) {
		struct davy_dmem_reported *t = &d->reported[i];

		if (!strcmp(t->cgroup, cgroup) && !strcmp(t->last.device, now->device) &&
		    !strcmp(t->last.region, now->region))
			return t;
		if (!t->cgroup[0] && !empty)
			empty = t;
	}
	return empty;
}

/* A region that the cgroup neither uses nor limits is reported only after a change. */
static bool dmem_says_nothing(const struct davy_ev_dmem *d)
{
	return !d->current && !d->low && d->max == UINT64_MAX;
}

static void dmem_tell(struct davy_agent *a, uint32_t pid, const char *cgroup,
		      const struct davy_ev_dmem *now)
{
	struct davy_dmem_reported *t = dmem_reported_of(&a->dmem, cgroup, now);
	struct davy_event ev = davy_agent_event(DAVY_EV_DMEM, pid);
	bool known = t && t->cgroup[0];

	if (!t || (!known && dmem_says_nothing(now)))
		return;
	t->round = a->dmem.round;
	if (known && !memcmp(&t->last, now, sizeof(*now)))
		return;
	davy_copy_name(t->cgroup, sizeof(t->cgroup), cgroup);
	t->last = *now;
	ev.dmem = *now;
	davy_agent_feed(a, &ev);
}

static bool seen_this_round(const struct davy_dmem *d, const char *cgroup)
{
	for (size_t i = 0; i < DAVY_DMEM_REPORTED; i++)
		if (d->reported[i].round == d->round && !strcmp(d->reported[i].cgroup, cgroup))
			return true;
	return false;
}

static void dmem_look_at(struct davy_agent *a, uint32_t pid)
{
	struct davy_ev_dmem list[DAVY_DMEM_REGIONS];
	char cgroup[DAVY_DMEM_PATH];
	size_t count;

	if (davy_dmem_cgroup_of(pid, cgroup) || seen_this_round(&a->dmem, cgroup))
		return;
	count = davy_dmem_read(cgroup, list, DAVY_DMEM_REGIONS);
	for (size_t i = 0; i < count; i++)
		dmem_tell(a, pid, cgroup, &list[i]);
}

/* Forgets regions whose engines have all ended. */
static void dmem_forget(struct davy_dmem *d)
{
	for (size_t i = 0; i < DAVY_DMEM_REPORTED; i++)
		if (d->reported[i].cgroup[0] && d->reported[i].round != d->round)
			memset(&d->reported[i], 0, sizeof(d->reported[i]));
}

static bool dmem_is_due(struct davy_dmem *d, uint64_t now_ns)
{
	if (!d->searched_ns || (!d->present && now_ns - d->searched_ns >= SEARCH_NS)) {
		d->searched_ns = now_ns;
		d->present = davy_dmem_present();
	}
	if (!d->present || now_ns - d->looked_ns < LOOK_NS)
		return false;
	d->looked_ns = now_ns;
	if (!d->reported)
		d->reported = calloc(DAVY_DMEM_REPORTED, sizeof(*d->reported));
	return d->reported != NULL;
}

void davy_agent_dmem_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_dmem *d = &a->dmem;

	if (!dmem_is_due(d, now_ns))
		return;
	d->round++;
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		const struct davy_tracked *t = &a->tracked[i];

		if (t->pid && t->reported.engine != DAVY_ENGINE_NONE && t->reported.device[0])
			dmem_look_at(a, t->pid);
	}
	dmem_forget(d);
}

void davy_agent_dmem_close(struct davy_agent *a)
{
	free(a->dmem.reported);
}
