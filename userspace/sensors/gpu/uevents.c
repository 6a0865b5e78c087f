/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/uevents.h"

#include <errno.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sensors/gpu/uevent_said.h"

#define BUFFER_BYTES (1 << 20) /* a driver that loads sends hundreds */
#define BATCH_MAX    256

struct davy_uevents {
	struct davy_uevents_hooks hooks;
	struct udev *udev;
	struct udev_monitor *monitor;
};

static const char *const subsystems[] = { "drm", "devcoredump", "pci" };

int davy_uevents_new(const struct davy_uevents_hooks *hooks, struct davy_uevents **ret_uevents)
{
	struct davy_uevents *u = calloc(1, sizeof(*u));
	int err = 0;

	if (!u)
		return -ENOMEM;
	u->hooks = *hooks;
	u->udev = udev_new();
	if (u->udev)
		u->monitor = udev_monitor_new_from_netlink(u->udev, "kernel");
	if (!u->monitor)
		err = -EIO;
	for (size_t i = 0; !err && i < sizeof(subsystems) / sizeof(subsystems[0]); i++)
		err = udev_monitor_filter_add_match_subsystem_devtype(u->monitor, subsystems[i],
								      NULL);
	if (!err)
		udev_monitor_set_receive_buffer_size(u->monitor, BUFFER_BYTES); /* or less */
	if (!err)
		err = udev_monitor_enable_receiving(u->monitor);
	if (err) {
		davy_uevents_free(u);
		return err;
	}
	*ret_uevents = u;
	return 0;
}

void davy_uevents_free(struct davy_uevents *u)
{
	if (!u)
		return;
	udev_monitor_unref(u->monitor);
	udev_unref(u->udev);
	free(u);
}

int davy_uevents_fd(const struct davy_uevents *u)
{
	return udev_monitor_get_fd(u->monitor);
}

/*
 * "failing_device" is a link in the coredump's directory. libudev gets the parent from the path,
 * which does not contain it.
 */
static void uevents_see_coredump(struct davy_uevents *u, struct udev_device *d, uint64_t now_ns)
{
	char path[512], target[512], *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/failing_device", udev_device_get_syspath(d));
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	slash = strrchr(target, '/');
	u->hooks.coredump(u->hooks.arg, udev_device_get_sysname(d), slash ? slash + 1 : "", now_ns);
}

static void uevents_see(struct davy_uevents *u, struct udev_device *d, uint64_t now_ns)
{
	struct udev_device *parent = udev_device_get_parent_with_subsystem_devtype(d, "pci", NULL);
	struct davy_uevent said = {
		.action = udev_device_get_action(d),
		.subsystem = udev_device_get_subsystem(d),
		.name = udev_device_get_sysname(d),
		.device = parent ? udev_device_get_sysname(parent) : NULL,
		.driver = parent ? udev_device_get_driver(parent) : NULL,
		.wedged = udev_device_get_property_value(d, "WEDGED"),
		.error = udev_device_get_property_value(d, "ERROR"),
		.reset = udev_device_get_property_value(d, "RESET"),
		.pid = udev_device_get_property_value(d, "PID"),
	};
	struct davy_event events[DAVY_UEVENT_EVENTS];
	size_t count;

	switch (davy_uevent_read(&said, now_ns, events, &count)) {
	case DAVY_UEVENT_SAID:
		for (size_t i = 0; i < count; i++)
			u->hooks.device(u->hooks.arg, &events[i]);
		break;
	case DAVY_UEVENT_CHANGED:
		u->hooks.changed(u->hooks.arg, false);
		break;
	case DAVY_UEVENT_LEAVING:
		u->hooks.changed(u->hooks.arg, true);
		break;
	case DAVY_UEVENT_COREDUMP:
		uevents_see_coredump(u, d, now_ns);
		break;
	case DAVY_UEVENT_NOTHING:
		break;
	}
}

void davy_uevents_read(struct davy_uevents *u, uint64_t now_ns)
{
	struct udev_device *d;

	for (int i = 0; i < BATCH_MAX && (d = udev_monitor_receive_device(u->monitor)); i++) {
		uevents_see(u, d, now_ns);
		udev_device_unref(d);
	}
}
