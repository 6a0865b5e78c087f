/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's intents: written before an act, closed when its effect is gone, and those of an agent
 * before it undone. dl_intents_undo_all is the verbs', too; the rest is only agent/'s.
 */
#ifndef DL_AGENT_INTENTS_H
#define DL_AGENT_INTENTS_H

#include <jansson.h>

#include "core/event/plan.h"
#include "store/intents.h"

#define DL_STANDING_MAX 64

struct dl_agent;

struct dl_standing {
	struct dl_intents *log; /* NULL: it cannot be opened; tried again at the next act */
	struct dl_intent open[DL_STANDING_MAX]; /* rung 0: empty; id 0: not in the log */
	uint32_t value_undo; /* the last plan that took values back: it ended no hold */
	bool told;	     /* that it cannot be written */
};

struct dl_undone {
	unsigned int undone;
	unsigned int idle; /* nothing to undo any more */
	unsigned int failed;
};

/* Undoes and closes all open intents, says each; what fails stays open. -errno of the log's. */
int dl_intents_undo_all(struct dl_intents *log, struct dl_undone *ret_undone);

/* Opens the log; one that is corrupt is put aside. What is open in it is undone. */
void dl_agent_intents_open(struct dl_agent *a);
void dl_agent_intents_close(struct dl_agent *a);

/*
 * Before an act. False: it is refused, and has been reported to have failed. A hold ends by itself
 * and a supervisor ends a replacement alone: they go on when the log cannot be written.
 */
bool dl_agent_intend(struct dl_agent *a, const struct dl_plan *plan);

/* The same for a value; the act may begin when it is not NULL. */
struct dl_intent *dl_agent_intend_value(struct dl_agent *a, const struct dl_intent *intent);

/* Undoes and closes one that stands; 0, 1 or -errno as dl_undo. */
int dl_agent_intent_undo(struct dl_agent *a, struct dl_intent *standing);
void dl_agent_intent_end(struct dl_agent *a, struct dl_intent *standing, int result);

/* What became of an act. */
void dl_agent_intents_told(struct dl_agent *a, const struct dl_ev_act *act);

/* Lets go of all that is held, and takes all caps back; the answer to an operator. */
json_t *dl_agent_release_all(struct dl_agent *a);

/* act_cap.c: caps and awake; undo is false when the plan is about something else. */
void dl_agent_cap(struct dl_agent *a, const struct dl_plan *plan);
void dl_agent_awake(struct dl_agent *a, const struct dl_plan *plan);
bool dl_agent_cap_undo(struct dl_agent *a, const struct dl_plan *plan);
/* Of one workload, or of all (0): how many were taken back, and how many could not be. */
struct dl_undone dl_agent_caps_drop(struct dl_agent *a, uint32_t workload);

#endif
