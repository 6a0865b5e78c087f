/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to higher subfolders. The order of the agent's subfolders is: feed, ipc, sense, policy,
 * act, control. A subfolder calls those before it by name, and those after it only through this
 * table, which agent.c fills. Without a table (the agent of a unit test) nothing is called.
 */
#ifndef DAVY_AGENT_HOOKS_H
#define DAVY_AGENT_HOOKS_H

#include "core/event/event.h"
#include "core/event/plan.h"

struct davy_agent;
struct davy_link;

/* All pointers are set. */
struct davy_agent_hooks {
	/* feed: the event names a process that the core must know before it judges the event. */
	void (*process_named)(struct davy_agent *a, uint32_t pid);
	/* feed: a plan of the core, before it is printed. */
	void (*plan_made)(struct davy_agent *a, const struct davy_plan *plan);
	/* feed: the event was judged and its plans were printed. */
	void (*event_judged)(struct davy_agent *a, const struct davy_event *ev);
	/* ipc: a message is pending on the link; -ECONNRESET: the client has disconnected. */
	int (*link_message)(struct davy_link *link);
	/* ipc: the link will be closed. */
	void (*link_gone)(struct davy_link *link);
	/* sense: the workload of the adopted unit with this cgroup; 0: none. */
	uint32_t (*workload_of_cgroup)(const struct davy_agent *a, const char *cgroup);
	/* policy: the first digits of the id of the workload's image; "": no container. */
	const char *(*image_of_workload)(struct davy_agent *a, uint32_t workload);
	/* sense: the port on this host of a port of the workload, perhaps a container; 0: none. */
	uint16_t (*port_of_workload)(struct davy_agent *a, uint32_t workload, uint16_t port);
	/* policy: the rules for backends were read again. */
	void (*rules_changed)(struct davy_agent *a);
};

/* agent.c */
extern const struct davy_agent_hooks davy_agent_hooks;

#endif
