/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device memory by cgroup, of the engines that use a device: looked at every second where the
 * kernel has the controller, told where it changed.
 */
#ifndef DAVY_AGENT_DMEM_H
#define DAVY_AGENT_DMEM_H

#include "sensors/gpu/dmem.h"

#define DAVY_DMEM_TOLD 64 /* regions of cgroups that were told; what finds no room is not told */

struct davy_agent;

struct davy_dmem_told {
	char cgroup[DAVY_DMEM_PATH]; /* "": empty */
	uint32_t round;		     /* of the last look that had it */
	struct davy_ev_dmem last;
};

struct davy_dmem {
	bool present;
	uint64_t searched_ns; /* when the controller was last looked for; 0: never */
	uint64_t looked_ns;
	uint32_t round;
	struct davy_dmem_told *told; /* DAVY_DMEM_TOLD of them; NULL until there is one to tell */
};

void davy_agent_dmem_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_dmem_close(struct davy_agent *a);

#endif
