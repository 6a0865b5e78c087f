/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of a GPU's driver and firmware: read once when the device comes, and again when the
 * kernel tells that devices changed. What may wait is read by a child.
 */
#ifndef DL_AGENT_VERSIONS_H
#define DL_AGENT_VERSIONS_H

#include <sys/types.h>

#include "core/event/types.h"

struct dl_agent;

/* All zero: nothing is known yet. */
struct dl_device_versions {
	char driver[DL_VERSION_TEXT_LEN]; /* "": not known */
	char firmware[DL_VERSION_TEXT_LEN];
	bool settled;	       /* nothing more is to be found out */
	bool asking;	       /* the child has not answered */
	int fd;		       /* then its answer comes there */
	struct dl_child child; /* to be reaped */
	uint64_t asked_ns;
	uint64_t looked_ns; /* when it was last seen asleep */
};

void dl_agent_versions_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_versions_changed(struct dl_agent *a);
void dl_agent_versions_close(struct dl_agent *a);

/* The device is gone. */
void dl_agent_versions_drop(struct dl_device_versions *versions);

#endif
