/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's intents: written before an act, closed when its effect has ended. Those of an earlier
 * agent are undone. Verbs also use davy_intents_undo_all(); the rest is for agent/ only.
 */
#ifndef DAVY_AGENT_INTENTS_H
#define DAVY_AGENT_INTENTS_H

#include "core/event/plan.h"
#include "store/intents.h"

#define DAVY_IN_FORCE_MAX 64

struct davy_agent;

struct davy_in_force {
	struct davy_intents *log; /* NULL: it cannot be opened; the next action tries again */
	struct davy_intent open[DAVY_IN_FORCE_MAX]; /* action none: empty; id 0: not in the log */
	uint32_t value_undo; /* the last plan that took values back: it ended no freeze */
	bool reported;	     /* a failed write was logged */
};

struct davy_undone {
	unsigned int undone;
	unsigned int idle; /* nothing left to undo */
	unsigned int failed;
};

/*
 * Undoes and closes all open intents and logs each. One that fails stays open. -errno of the log.
 */
int davy_intents_undo_all(struct davy_intents *log, struct davy_undone *ret_undone);

/* Opens the log, renames a corrupt one, and undoes its open intents. */
void davy_agent_intents_open(struct davy_agent *a);
void davy_agent_intents_close(struct davy_agent *a);

/*
 * Call it before an act. False: the act is refused and reported as failed. A freeze and a
 * replacement by a supervisor end without the agent: both go on if the log cannot be written.
 */
bool davy_agent_intend(struct davy_agent *a, const struct davy_plan *plan);

/* The same for a value. NULL: the action is refused. */
struct davy_intent *davy_agent_intend_value(struct davy_agent *a, const struct davy_intent *intent);

/* Undoes and closes one effect in force; 0, 1 or -errno as davy_undo(). */
int davy_agent_intent_undo(struct davy_agent *a, struct davy_intent *effect);
void davy_agent_intent_end(struct davy_agent *a, struct davy_intent *effect, int result);

/* Closes the intents that the result of an act ends. */
void davy_agent_intents_acted(struct davy_agent *a, const struct davy_ev_act *act);

/* act_cap.c: caps and keeping a device awake. */
void davy_agent_cap(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_awake(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_cap_undo(struct davy_agent *a, const struct davy_plan *plan);
/* Takes back the values of one workload, or of all (0); counts successes and failures. */
struct davy_undone davy_agent_caps_drop(struct davy_agent *a, uint32_t workload);

#endif
