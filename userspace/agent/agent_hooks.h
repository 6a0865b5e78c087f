/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls upwards. The rooms of the agent have an order: feed, ipc, sense, policy, act, control. Each
 * calls the rooms below it by name. What a room has to say to a room above it goes through this
 * table, which agent.c fills. Without a table (a test's agent) nothing is called.
 */
#ifndef DAVY_AGENT_HOOKS_H
#define DAVY_AGENT_HOOKS_H

#include "core/event/event.h"
#include "core/event/plan.h"

struct davy_agent;
struct davy_link;

/* All are set. */
struct davy_agent_hooks {
	/* feed: an event names a process that the core should know before it judges the event. */
	void (*process_named)(struct davy_agent *a, uint32_t pid);
	/* feed: a plan of the core, before it is printed. */
	void (*plan_made)(struct davy_agent *a, const struct davy_plan *plan);
	/* feed: an event was judged, and its plans are out. */
	void (*event_judged)(struct davy_agent *a, const struct davy_event *ev);
	/* ipc: a message waits at the link; -ECONNRESET: the client has gone. */
	int (*link_message)(struct davy_link *link);
	/* ipc: the link is about to be closed. */
	void (*link_gone)(struct davy_link *link);
	/* sense: the workload of the adopted unit with this cgroup; 0: there is none. */
	uint32_t (*workload_of_cgroup)(const struct davy_agent *a, const char *cgroup);
	/* policy: the rules of backends were read again. */
	void (*rules_changed)(struct davy_agent *a);
};

/* agent.c */
extern const struct davy_agent_hooks davy_agent_hooks;

#endif
