/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy show' and 'explain' of engines that run: what the agent says of them. */
#ifndef DAVY_POLICY_WORKLOAD_H
#define DAVY_POLICY_WORKLOAD_H

#include <stdbool.h>

struct davy_policy_running {
	const char *socket_path;
	const char *name; /* a workload's number, a pid, a unit or an engine; NULL: all workloads */
	bool why;	  /* with reasons and evidence */
	bool json;
};

/* Exit status; what went wrong has been said. DAVY_EXIT_NOTHING: none of that name runs. */
int davy_policy_running(const struct davy_policy_running *asked);

/* All workloads, if an agent answers and one runs; false: nothing was printed. */
bool davy_policy_running_all(const struct davy_policy_running *asked);

#endif
