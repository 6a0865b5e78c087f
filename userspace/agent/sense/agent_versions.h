/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of a GPU's driver and firmware: read once when the device comes, and again when the
 * kernel tells that devices changed. What may wait is read by a child.
 */
#ifndef DAVY_AGENT_VERSIONS_H
#define DAVY_AGENT_VERSIONS_H

#include <sys/types.h>

#include "core/event/types.h"
#include "lib/child.h"

struct davy_agent;

/* All zero: nothing is known yet. */
struct davy_device_versions {
	char driver[DAVY_VERSION_TEXT_LEN]; /* "": not known */
	char firmware[DAVY_VERSION_TEXT_LEN];
	bool settled;		 /* nothing more is to be found out */
	bool asking;		 /* the child has not answered */
	int fd;			 /* then its answer comes there */
	struct davy_child child; /* to be reaped */
	uint64_t asked_ns;
	uint64_t looked_ns; /* when it was last seen asleep */
};

void davy_agent_versions_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_versions_changed(struct davy_agent *a);
void davy_agent_versions_close(struct davy_agent *a);

/* The device is gone. */
void davy_agent_versions_drop(struct davy_device_versions *versions);

#endif
