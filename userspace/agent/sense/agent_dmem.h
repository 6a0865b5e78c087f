/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device memory by cgroup, for the engines that use a device. Sampled every second where the kernel
 * has the dmem controller, reported on changes.
 */
#ifndef DAVY_AGENT_DMEM_H
#define DAVY_AGENT_DMEM_H

#include "sensors/gpu/dmem.h"

#define DAVY_DMEM_REPORTED 64 /* reported regions; further regions are not reported */

struct davy_agent;

struct davy_dmem_reported {
	char cgroup[DAVY_DMEM_PATH]; /* "": empty */
	uint32_t round;		     /* of the last sample that contained it */
	struct davy_ev_dmem last;
};

struct davy_dmem {
	bool present;
	uint64_t searched_ns; /* last search for the controller; 0: never */
	uint64_t looked_ns;
	uint32_t round;
	struct davy_dmem_reported
		*reported; /* an array of DAVY_DMEM_REPORTED; NULL until one is reported */
};

void davy_agent_dmem_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_dmem_close(struct davy_agent *a);

#endif
