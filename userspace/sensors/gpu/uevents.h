/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel announces of GPUs (libudev, straight from the kernel: no udevd is needed):
 * devices and drivers that come and go, wedged devices, i915's errors and resets, coredumps.
 */
#ifndef DL_SENSORS_UEVENTS_H
#define DL_SENSORS_UEVENTS_H

#include "core/event/event.h"

struct dl_uevents;

struct dl_uevents_hooks {
	void (*device)(void *arg,
		       const struct dl_event *ev); /* DL_EV_DEVICE: wedged, error, reset */
	/* A GPU or its driver came or went; "leaving": the driver takes one down just now. */
	void (*changed)(void *arg, bool leaving);
	/* "name" is a folder of /sys/class/devcoredump */
	void (*coredump)(void *arg, const char *name, const char *device, uint64_t at_ns);
	void *arg;
};

/* -errno without a netlink socket. */
int dl_uevents_new(const struct dl_uevents_hooks *hooks, struct dl_uevents **ret_uevents);
void dl_uevents_free(struct dl_uevents *u);
int dl_uevents_fd(const struct dl_uevents *u);
void dl_uevents_read(struct dl_uevents *u, uint64_t now_ns);

#endif
