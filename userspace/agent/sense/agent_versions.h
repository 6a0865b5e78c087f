/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of a GPU's driver and firmware. They are read when the device appears, and again
 * when the kernel reports that devices changed. A child reads what may block.
 */
#ifndef DAVY_AGENT_VERSIONS_H
#define DAVY_AGENT_VERSIONS_H

#include <sys/types.h>

#include "core/event/types.h"
#include "lib/child.h"

struct davy_agent;

/* All zero: not read yet. */
struct davy_device_versions {
	char driver[DAVY_VERSION_TEXT_LEN]; /* "": unknown */
	char firmware[DAVY_VERSION_TEXT_LEN];
	bool settled;		 /* nothing more can be read */
	bool asking;		 /* the reply of the child is pending */
	int fd;			 /* then: descriptor of the reply */
	struct davy_child child; /* to be reaped */
	uint64_t asked_ns;
	uint64_t looked_ns; /* last time it was found asleep */
};

void davy_agent_versions_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_versions_changed(struct davy_agent *a);
void davy_agent_versions_close(struct davy_agent *a);

/* Call it when the device is removed. */
void davy_agent_versions_drop(struct davy_device_versions *versions);

#endif
