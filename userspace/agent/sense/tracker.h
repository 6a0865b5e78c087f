/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known processes, and the kernel's announcements of devices. Only agent/ includes this. */
#ifndef DAVY_TRACKER_H
#define DAVY_TRACKER_H

#include <jansson.h>

#include "sensors/proc/look.h"
#include "agent/sense/look_queue.h"

struct davy_agent;
struct davy_link;
struct davy_tracked;

/* tracker.c: none of these waits for a process or a reader, unless stated. */
void davy_tracker_exec(struct davy_agent *a, uint32_t pid);
/* For a process named in an event: waits at most some ms for a reply if it is unknown. */
void davy_tracker_know(struct davy_agent *a, uint32_t pid);
/*
 * The current state of a process of an adopted unit. NULL: not known yet, or exited; try again on
 * the next tick. Waits some ms.
 */
const struct davy_tracked *davy_tracker_meet(struct davy_agent *a, uint32_t pid);
/* For the readers: fills in a request, takes a reply. */
void davy_tracker_wants(struct davy_agent *a, const struct davy_look_job *job,
			struct davy_look_request *q);
void davy_tracker_take(struct davy_agent *a, const struct davy_look_job *job,
		       const struct davy_look_reply *reply, const int *files);
bool davy_tracker_knows(struct davy_agent *a, uint32_t pid, uint64_t start_ticks);
void davy_tracker_gone(struct davy_agent *a, uint32_t pid);
void davy_tracker_tick(struct davy_agent *a, uint64_t now_ns);

/* tracked.c: the table, its evictions, and the state of the probes. */
struct davy_tracked *davy_tracked_of(struct davy_agent *a, uint32_t pid); /* NULL: unknown */
void davy_tracked_used(struct davy_agent *a, uint32_t pid); /* it has memory on a device */
struct davy_tracked *davy_tracked_new(struct davy_agent *a, uint32_t pid);
void davy_tracked_forget(struct davy_agent *a, struct davy_tracked *t);
void davy_tracked_tick(struct davy_agent *a, uint64_t now_ns);

/* probing.c: NULL: the reply goes to the link later. Otherwise the reason of the refusal. */
const char *davy_agent_probe(struct davy_link *link, const json_t *message);

/* agent_uevents.c */
void davy_agent_uevents_open(struct davy_agent *a);

/*
 * coredump.c: saves /sys/class/devcoredump/NAME and feeds an event; "at_ns": time of the
 * announcement.
 */
void davy_agent_coredump(struct davy_agent *a, const char *name, const char *device,
			 uint64_t at_ns);

#endif
