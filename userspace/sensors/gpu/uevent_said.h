/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interprets a uevent from its properties. The input is untrusted. */
#ifndef DAVY_UEVENT_SAID_H
#define DAVY_UEVENT_SAID_H

#include "core/event/event.h"

#define DAVY_UEVENT_EVENTS 3

/* NULL: missing. */
struct davy_uevent {
	const char *action;
	const char *subsystem;
	const char *name;   /* name of the device: "card0", "card0-DP-1", "devcd3" */
	const char *device; /* the parent PCI device, and its driver */
	const char *driver;
	const char *wedged; /* WEDGED=, ERROR=, RESET=, PID= */
	const char *error;
	const char *reset;
	const char *pid;
};

enum davy_uevent_meaning {
	DAVY_UEVENT_NOTHING,
	DAVY_UEVENT_SAID,     /* see the events; there may be none */
	DAVY_UEVENT_CHANGED,  /* a GPU or its driver was added or removed */
	DAVY_UEVENT_LEAVING,  /* the driver is removing a GPU */
	DAVY_UEVENT_COREDUMP, /* a coredump of that name */
};

/* Fills at most DAVY_UEVENT_EVENTS of kind DAVY_EV_DEVICE and their number. */
enum davy_uevent_meaning davy_uevent_read(const struct davy_uevent *u, uint64_t now_ns,
					  struct davy_event *ret_events, size_t *ret_count);

#endif
