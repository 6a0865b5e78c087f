/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VRAM as a guarded resource: quotas of workloads (vram_max of rules and of davylamp exec) and
 * reserves of devices (vram_reserve) for the BPF programs that refuse allocations. Only agent/
 * includes this.
 */
#ifndef DAVY_AGENT_VRAM_H
#define DAVY_AGENT_VRAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct davy_agent;

#define DAVY_VRAM_CAPS 64 /* as many as workloads with an action can have */

/* Of an action of the agent or an operator. It ends with the agent. */
struct davy_vram_cap {
	uint32_t workload; /* 0: empty */
	uint64_t max;	   /* bytes on each device */
};

struct davy_agent_vram {
	struct davy_vram_cap cap[DAVY_VRAM_CAPS];
	int protect_error;   /* the last one that was logged */
	uint64_t next_ns;    /* when the limits are collected again; 0: on the next tick */
	uint32_t rules_read; /* reading of the rules that "ruled" is about */
	bool ruled;	     /* some rule has a quota or a reserve */
};

void davy_agent_vram_tick(struct davy_agent *a, uint64_t now_ns);

/*
 * Whether the programs run: for an account, a quota or a reserve. They are not loaded for an
 * action, since the agent would wait for that when memory runs out.
 */
bool davy_agent_vram_possible(const struct davy_agent *a);

/*
 * Limits the workload's cgroup by BPF LSM, at once. -ENOTSUP: the programs do not run here, or the
 * workload has no separate cgroup. -ENOSPC: too many limits.
 */
int davy_agent_vram_cap(struct davy_agent *a, uint32_t workload, uint64_t max);

/* True: there was a limit. Workload 0: of all. */
bool davy_agent_vram_uncap(struct davy_agent *a, uint32_t workload);

/* The account, by device and by cgroup; NULL: it is off. */
json_t *davy_agent_vram_status(const struct davy_agent *a);

#endif
