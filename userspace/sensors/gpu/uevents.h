/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel uevents about GPUs (libudev, directly from the kernel, without udevd): added and removed
 * devices and drivers, wedged devices, i915's errors and resets, coredumps.
 */
#ifndef DAVY_UEVENTS_H
#define DAVY_UEVENTS_H

#include "core/event/event.h"

struct davy_uevents;

struct davy_uevents_hooks {
	void (*device)(void *arg,
		       const struct davy_event *ev); /* DAVY_EV_DEVICE: wedged, error, reset */
	/* A GPU or its driver was added or removed; "leaving": the driver is removing a GPU. */
	void (*changed)(void *arg, bool leaving);
	/* "name" is a directory of /sys/class/devcoredump. */
	void (*coredump)(void *arg, const char *name, const char *device, uint64_t at_ns);
	void *arg;
};

/* 0; -errno without a netlink socket. */
int davy_uevents_new(const struct davy_uevents_hooks *hooks, struct davy_uevents **ret_uevents);
void davy_uevents_free(struct davy_uevents *u);
int davy_uevents_fd(const struct davy_uevents *u);
void davy_uevents_read(struct davy_uevents *u, uint64_t now_ns);

#endif
