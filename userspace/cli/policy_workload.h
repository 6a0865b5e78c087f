/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy show' and 'explain' of engines that run: what the agent says of them. */
#ifndef DL_VERBS_POLICY_WORKLOAD_H
#define DL_VERBS_POLICY_WORKLOAD_H

#include <stdbool.h>

struct dl_policy_running {
	const char *socket_path;
	const char *name; /* a workload's number, a pid, a unit or an engine; NULL: all workloads */
	bool why;	  /* with reasons and evidence */
	bool json;
};

/* Exit status; what went wrong has been said. DL_EXIT_NOTHING: none of that name runs. */
int dl_policy_running(const struct dl_policy_running *asked);

/* All workloads, if an agent answers and one runs; false: nothing was printed. */
bool dl_policy_running_all(const struct dl_policy_running *asked);

#endif
