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

struct davy_agent_vram {
	uint64_t next_ns;    /* when the limits are collected again; 0: on the next tick */
	uint32_t rules_read; /* reading of the rules that "ruled" is about */
	bool ruled;	     /* some rule has a quota or a reserve */
};

void davy_agent_vram_tick(struct davy_agent *a, uint64_t now_ns);

/* The account, by device and by cgroup; NULL: it is off. */
json_t *davy_agent_vram_status(const struct davy_agent *a);

#endif
