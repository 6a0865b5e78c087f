/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VRAM of workloads that the driver evicts last: vram_protect of rules, by dmem.low. A cgroup is
 * protected only within the protection of those above it (kernel/cgroup/dmem.c, 6.14): each gets
 * the sum of its workloads, in addition to the value that it had. Only agent/ includes this.
 */
#ifndef DAVY_AGENT_VRAM_PROTECT_H
#define DAVY_AGENT_VRAM_PROTECT_H

#include <jansson.h>
#include <stdbool.h>

#include "core/event/intent.h"

struct davy_agent;

#define DAVY_VRAM_PROTECTS 32 /* cgroups and regions */

struct davy_vram_protect {
	struct davy_protected_region {
		char cgroup[DAVY_INTENT_PATH]; /* as in /proc/PID/cgroup */
		char region[DAVY_INTENT_KEY];  /* "drm/0000:03:00.0/vram" */
		uint64_t bytes;
		bool above; /* of workloads, not of one */
	} list[DAVY_VRAM_PROTECTS];
	size_t count;
	bool full; /* some have no place */
};

/* Adds a workload, for the regions of the device, or "": of all. 0 bytes: nothing. */
void davy_vram_protect_add(struct davy_vram_protect *p, const char *cgroup, const char *device,
			   uint64_t bytes);

/* Sets what the list has, and takes back what it has no more. Adds the cgroups above. */
void davy_agent_vram_protect(struct davy_agent *a, struct davy_vram_protect *p);

/* What is in force: cgroup, region, bytes. */
json_t *davy_agent_vram_protected(const struct davy_agent *a);

#endif
