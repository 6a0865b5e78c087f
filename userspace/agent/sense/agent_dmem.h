/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device memory by cgroup, of the engines that use a device: looked at every second where the
 * kernel has the controller, told where it changed.
 */
#ifndef DL_AGENT_DMEM_H
#define DL_AGENT_DMEM_H

#include "sensors/gpu/dmem.h"

#define DL_DMEM_TOLD 64 /* regions of cgroups that were told; what finds no room is not told */

struct dl_agent;

struct dl_dmem_told {
	char cgroup[DL_DMEM_PATH]; /* "": empty */
	uint32_t round;		   /* of the last look that had it */
	struct dl_ev_dmem last;
};

struct dl_dmem {
	bool present;
	uint64_t searched_ns; /* when the controller was last looked for; 0: never */
	uint64_t looked_ns;
	uint32_t round;
	struct dl_dmem_told *told; /* DL_DMEM_TOLD of them; NULL until there is one to tell */
};

void dl_agent_dmem_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_dmem_close(struct dl_agent *a);

#endif
