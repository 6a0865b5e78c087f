/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's intents: written before an act, closed when its effect is gone, and those of an agent
 * before it undone. davy_intents_undo_all is the verbs', too; the rest is only agent/'s.
 */
#ifndef DAVY_AGENT_INTENTS_H
#define DAVY_AGENT_INTENTS_H

#include "core/event/plan.h"
#include "store/intents.h"

#define DAVY_STANDING_MAX 64

struct davy_agent;

struct davy_standing {
	struct davy_intents *log; /* NULL: it cannot be opened; tried again at the next act */
	struct davy_intent open[DAVY_STANDING_MAX]; /* action none: empty; id 0: not in the log */
	uint32_t value_undo; /* the last plan that took values back: it ended no hold */
	bool told;	     /* that it cannot be written */
};

struct davy_undone {
	unsigned int undone;
	unsigned int idle; /* nothing to undo any more */
	unsigned int failed;
};

/* Undoes and closes all open intents, says each; what fails stays open. -errno of the log's. */
int davy_intents_undo_all(struct davy_intents *log, struct davy_undone *ret_undone);

/* Opens the log; one that is corrupt is put aside. What is open in it is undone. */
void davy_agent_intents_open(struct davy_agent *a);
void davy_agent_intents_close(struct davy_agent *a);

/*
 * Before an act. False: it is refused, and has been reported to have failed. A hold ends by itself
 * and a supervisor ends a replacement alone: they go on when the log cannot be written.
 */
bool davy_agent_intend(struct davy_agent *a, const struct davy_plan *plan);

/* The same for a value; the act may begin when it is not NULL. */
struct davy_intent *davy_agent_intend_value(struct davy_agent *a, const struct davy_intent *intent);

/* Undoes and closes one that stands; 0, 1 or -errno as davy_undo. */
int davy_agent_intent_undo(struct davy_agent *a, struct davy_intent *standing);
void davy_agent_intent_end(struct davy_agent *a, struct davy_intent *standing, int result);

/* What became of an act. */
void davy_agent_intents_told(struct davy_agent *a, const struct davy_ev_act *act);

/* act_cap.c: caps and awake. */
void davy_agent_cap(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_awake(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_cap_undo(struct davy_agent *a, const struct davy_plan *plan);
/* Of one workload, or of all (0): how many were taken back, and how many could not be. */
struct davy_undone davy_agent_caps_drop(struct davy_agent *a, uint32_t workload);

#endif
