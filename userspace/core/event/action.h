/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions on a workload: one row for each action, with its number, constant, printed name and
 * properties. core/action/actions.c has how the core decides on an action, agent/act/act_table.c
 * who executes it; both are indexed by the number. Numbers are append-only: traces and the database
 * contain them. 1 and 4 to 7 were kinds of plans.
 */
#ifndef DAVY_ACTION_H
#define DAVY_ACTION_H

#include <stdbool.h>
#include <stdint.h>

enum davy_action_property {
	DAVY_ACTS_FREEZES = 1 << 0,  /* the guard freezes it, at most for a lease */
	DAVY_ACTS_LIMITS = 1 << 1,   /* values in files of the kernel, each with an intent */
	DAVY_ACTS_REPLACES = 1 << 2, /* afterwards another process serves */
	DAVY_ACTS_SETS = 1 << 3,     /* with other settings */
	DAVY_ACTS_MOVES = 1 << 4,    /* on another backend */
	DAVY_ACTS_ENDS = 1 << 5,     /* afterwards no process serves */
	DAVY_ACTS_STAYS = 1 << 6,    /* its effect is in force until it is undone */
	DAVY_ACTS_AVERTS = 1 << 7,   /* when done, the failure is no longer expected */
	DAVY_ACTS_COLLIDES = 1 << 8, /* another manager of the workload would undo it */
	DAVY_ACTS_FREE = 1 << 9,     /* needs no budget */
	DAVY_ACTS_RETRIED = 1 << 10, /* after the end of its back-off */
};

/* clang-format off */
#define DAVY_ACTIONS(X) \
	X(2, RESTART, restart, /* same backend */ \
	  DAVY_ACTS_REPLACES | DAVY_ACTS_AVERTS | DAVY_ACTS_COLLIDES | DAVY_ACTS_RETRIED) \
	X(3, MIGRATE_CPU, migrate_cpu, /* CPU only */ \
	  DAVY_ACTS_REPLACES | DAVY_ACTS_MOVES | DAVY_ACTS_STAYS | DAVY_ACTS_AVERTS | \
	  DAVY_ACTS_COLLIDES | DAVY_ACTS_RETRIED) \
	X(8, PAUSE, pause, DAVY_ACTS_FREEZES) /* for at most lease_ns */ \
	X(9, THROTTLE, throttle, DAVY_ACTS_FREEZES) /* runs on_permille of the time */ \
	X(10, SHRINK, shrink, /* replaced by one with smaller settings */ \
	  DAVY_ACTS_REPLACES | DAVY_ACTS_SETS | DAVY_ACTS_STAYS | DAVY_ACTS_AVERTS | \
	  DAVY_ACTS_COLLIDES) \
	X(11, CAP, cap, /* its cgroup gets cap_bytes */ \
	  DAVY_ACTS_LIMITS | DAVY_ACTS_STAYS | DAVY_ACTS_COLLIDES) \
	X(12, UNLOAD, unload, DAVY_ACTS_AVERTS | DAVY_ACTS_COLLIDES) /* its idle models */ \
	X(13, SWITCH, switch, /* to_backend, another one of a GPU */ \
	  DAVY_ACTS_REPLACES | DAVY_ACTS_MOVES | DAVY_ACTS_STAYS | DAVY_ACTS_AVERTS | \
	  DAVY_ACTS_COLLIDES) \
	X(14, STOP, stop, \
	  DAVY_ACTS_ENDS | DAVY_ACTS_STAYS | DAVY_ACTS_AVERTS | DAVY_ACTS_COLLIDES | \
	  DAVY_ACTS_FREE) \
	X(15, QUARANTINE, quarantine, /* stopped, and not started again before until_ns */ \
	  DAVY_ACTS_ENDS | DAVY_ACTS_STAYS | DAVY_ACTS_AVERTS | DAVY_ACTS_COLLIDES | \
	  DAVY_ACTS_FREE) \
	X(16, UNDO, undo, 0) /* the effect of another action is undone */ \
	X(17, AWAKE, awake, DAVY_ACTS_LIMITS) /* the device is not suspended */
/* clang-format on */

#define DAVY_ACTION_NUMBER(number, constant, name, properties) DAVY_ACTION_##constant = (number),

enum davy_action {
	DAVY_ACTION_NONE = 0,
	DAVY_ACTIONS(DAVY_ACTION_NUMBER) DAVY_ACTION_COUNT,
};

/* Whether the number is that of an action; none is not one. */
bool davy_action_known(uint32_t number);

/* Whether the action has one of the properties; false for a number that is no action. */
bool davy_action_has(uint32_t action, uint32_t properties);

const char *davy_action_name(enum davy_action action); /* "" for a number that is no action */
int davy_action_from_name(const char *name);	       /* -1: unknown name */

static inline bool davy_action_replaces(uint32_t action)
{
	return davy_action_has(action, DAVY_ACTS_REPLACES);
}

static inline bool davy_action_freezes(uint32_t action)
{
	return davy_action_has(action, DAVY_ACTS_FREEZES);
}

#endif
