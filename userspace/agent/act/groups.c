/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups of killed supervisors: the kernel sends SIGTERM to their engines, but no process remains
 * to remove the group. The agent knows the group from the link and removes it when it is empty.
 */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "act/cgroup.h"
#include "lib/log.h"

#define LOOK_NS DAVY_NS_PER_S

_Static_assert(sizeof(((struct davy_orphan_group *)0)->path) >= DAVY_CGROUP_LEN, "holds a link's");

void davy_groups_orphaned(struct davy_agent *a, const struct davy_link *link)
{
	struct davy_orphan_group *free = NULL;

	if (!link->cgroup[0] || !link->peer_pid)
		return;
	for (size_t i = 0; i < DAVY_ORPHAN_GROUPS; i++) {
		struct davy_orphan_group *g = &a->orphans.group[i];

		if (!g->supervisor || davy_same_name(g->path, link->cgroup))
			free = g;
	}
	if (!free) { /* the next 'davylamp exec' in the same parent removes it */
		davy_debug("cgroup '%s' is not tracked: too many are waiting for removal",
			   link->cgroup);
		return;
	}
	free->supervisor = link->peer_pid;
	davy_copy_name(free->path, sizeof(free->path), link->cgroup);
}

/* Whether the group needs no further work. */
static bool group_is_done(const struct davy_orphan_group *g)
{
	char dir[PATH_MAX];

	if (!kill((pid_t)g->supervisor, 0) || errno != ESRCH)
		return false; /* it has only disconnected, and removes its group when it exits */
	return davy_cgroup_dir(g->path, dir, sizeof(dir)) || !davy_cgroup_prune(dir);
}

void davy_groups_tick(struct davy_agent *a, uint64_t now_ns)
{
	if (now_ns - a->orphans.looked_ns < LOOK_NS)
		return;
	a->orphans.looked_ns = now_ns;
	for (size_t i = 0; i < DAVY_ORPHAN_GROUPS; i++) {
		struct davy_orphan_group *g = &a->orphans.group[i];

		if (g->supervisor && group_is_done(g))
			g->supervisor = 0;
	}
}
