/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only entry into the core, and the output of the results. Only agent/ includes this. */
#ifndef DAVY_FEED_H
#define DAVY_FEED_H

#include "core/event/event.h"
#include "core/event/plan.h"

struct davy_agent;

/* feed.c: the only entry into the core. */
void davy_agent_feed(struct davy_agent *a, const struct davy_event *ev);
struct davy_event davy_agent_event(enum davy_event_kind kind, uint32_t pid);
/* Feeds the result of an act as an event. */
void davy_agent_acted(struct davy_agent *a, uint32_t plan, uint32_t workload,
		      enum davy_act_stage stage, uint32_t pid, int result);

/* output.c */
void davy_output_open(struct davy_agent *a);
void davy_output_close(struct davy_agent *a);
void davy_output_plan(struct davy_agent *a, const struct davy_plan *plan);
void davy_output_event(struct davy_agent *a, const struct davy_event *ev);
void davy_output_tick(struct davy_agent *a);

#endif
