/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that the agent knows, and what the kernel announces. Only agent/ includes this. */
#ifndef DAVY_TRACKER_H
#define DAVY_TRACKER_H

#include <jansson.h>

#include "sensors/proc/look.h"
#include "agent/sense/look_queue.h"

struct davy_agent;
struct davy_link;
struct davy_tracked;

/* tracker.c: none of these waits for a process or for a reader, but where it says so. */
void davy_tracker_exec(struct davy_agent *a, uint32_t pid);
/* An event names it: for a few ms at most an answer is waited for, if it is not known. */
void davy_tracker_know(struct davy_agent *a, uint32_t pid);
/*
 * A process of an adopted unit, as it is now. NULL: not known yet, or gone; ask again on the next
 * tick. Waits for some ms.
 */
const struct davy_tracked *davy_tracker_meet(struct davy_agent *a, uint32_t pid);
/* For the readers: what is wanted of it, and what they answer. */
void davy_tracker_wants(struct davy_agent *a, const struct davy_look_job *job,
			struct davy_look_request *q);
void davy_tracker_take(struct davy_agent *a, const struct davy_look_job *job,
		       const struct davy_look_reply *reply, const int *files);
bool davy_tracker_knows(struct davy_agent *a, uint32_t pid, uint64_t start_ticks);
void davy_tracker_gone(struct davy_agent *a, uint32_t pid);
void davy_tracker_tick(struct davy_agent *a, uint64_t now_ns);

/* tracked.c: the table, whose processes find room in it, and what became of their probes. */
struct davy_tracked *davy_tracked_of(struct davy_agent *a, uint32_t pid); /* NULL: not known */
void davy_tracked_used(struct davy_agent *a, uint32_t pid); /* its memory on a device was told */
struct davy_tracked *davy_tracked_new(struct davy_agent *a, uint32_t pid);
void davy_tracked_forget(struct davy_agent *a, struct davy_tracked *t);
void davy_tracked_tick(struct davy_agent *a, uint64_t now_ns);

/* probing.c: NULL, and the answer goes to the link later; or why not. */
const char *davy_agent_probe(struct davy_link *link, const json_t *message);

/* agent_uevents.c */
void davy_agent_uevents_open(struct davy_agent *a);

/* coredump.c: keeps /sys/class/devcoredump/NAME and feeds an event; "at_ns" of the announcement. */
void davy_agent_coredump(struct davy_agent *a, const char *name, const char *device,
			 uint64_t at_ns);

#endif
