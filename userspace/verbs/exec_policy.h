/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the backend policy makes of a command before it is started. */
#ifndef DL_VERBS_EXEC_POLICY_H
#define DL_VERBS_EXEC_POLICY_H

#include "../act/launch.h"

struct dl_exec_policy_dirs {
	const char *data;   /* shipped rules */
	const char *config; /* people's */
	const char *state;  /* the agent's own */
	const char *socket; /* of an agent that knows people's rules from before a mistake */
};

/*
 * Reads the three layers and, for the GPU of this host that the engine would use, sets what they
 * say: variables that are not set yet, and options that the command does not have or has larger,
 * in "base", which then stands for the command. "forced": the backend stays, whatever they say.
 * What the agent's own rules make smaller is in "wish", from where it is taken back some day.
 * Returns the backend to start on; unknown: as the command says. Each value is told with its line;
 * a layer that is not in order is told, and then none is used.
 */
enum dl_backend dl_exec_policy(const struct dl_exec_policy_dirs *dirs, enum dl_backend asked,
			       bool forced, struct dl_launch *l, struct dl_args *base,
			       struct dl_engine_wish *wish);

#endif
