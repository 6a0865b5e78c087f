/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel's announcement means, from its properties alone: outside input. */
#ifndef DAVY_UEVENT_SAID_H
#define DAVY_UEVENT_SAID_H

#include "core/event/event.h"

#define DAVY_UEVENT_EVENTS 3

/* NULL: it has none. */
struct davy_uevent {
	const char *action;
	const char *subsystem;
	const char *name;   /* of the device it is about: "card0", "card0-DP-1", "devcd3" */
	const char *device; /* of the PCI device above it, and its driver */
	const char *driver;
	const char *wedged; /* WEDGED=, ERROR=, RESET=, PID= */
	const char *error;
	const char *reset;
	const char *pid;
};

enum davy_uevent_meaning {
	DAVY_UEVENT_NOTHING,
	DAVY_UEVENT_SAID,     /* as events, if there are any */
	DAVY_UEVENT_CHANGED,  /* a GPU or its driver came or went */
	DAVY_UEVENT_LEAVING,  /* the driver takes one down just now */
	DAVY_UEVENT_COREDUMP, /* of that name */
};

/* Fills at most DAVY_UEVENT_EVENTS of kind DAVY_EV_DEVICE and says how many. */
enum davy_uevent_meaning davy_uevent_read(const struct davy_uevent *u, uint64_t now_ns,
					  struct davy_event *ret_events, size_t *ret_count);

#endif
