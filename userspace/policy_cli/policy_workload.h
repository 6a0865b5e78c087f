/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy show' and 'explain' of running engines, as answered by the agent. */
#ifndef DAVY_POLICY_WORKLOAD_H
#define DAVY_POLICY_WORKLOAD_H

#include <stdbool.h>

struct davy_policy_running {
	const char *socket_path;
	const char *name; /* a workload's number, a pid, a unit or an engine; NULL: all workloads */
	bool why;	  /* with reasons and evidence */
	bool json;
};

/* Exit status; errors are logged. DAVY_EXIT_NOTHING: no such engine runs. */
int davy_policy_running(const struct davy_policy_running *asked);

/* Prints all workloads. False: no agent or no workload, nothing is printed. */
bool davy_policy_running_all(const struct davy_policy_running *asked);

#endif
