/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel's announcement means, from its properties alone: outside input. */
#ifndef DL_SENSORS_UEVENT_SAID_H
#define DL_SENSORS_UEVENT_SAID_H

#include "core/event/event.h"

#define DL_UEVENT_EVENTS 3

/* NULL: it has none. */
struct dl_uevent {
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

enum dl_uevent_meaning {
	DL_UEVENT_NOTHING,
	DL_UEVENT_SAID,	    /* as events, if there are any */
	DL_UEVENT_CHANGED,  /* a GPU or its driver came or went */
	DL_UEVENT_LEAVING,  /* the driver takes one down just now */
	DL_UEVENT_COREDUMP, /* of that name */
};

/* Fills at most DL_UEVENT_EVENTS of kind DL_EV_DEVICE and says how many. */
enum dl_uevent_meaning dl_uevent_read(const struct dl_uevent *u, uint64_t now_ns,
				      struct dl_event *ret_events, size_t *ret_count);

#endif
