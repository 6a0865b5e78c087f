/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "uevents.h"

#include <ctype.h>
#include <errno.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 20) /* a driver that loads sends hundreds */
#define BATCH_MAX    256

struct dl_uevents {
	struct dl_uevents_hooks hooks;
	struct udev *udev;
	struct udev_monitor *monitor;
};

static const char *const subsystems[] = { "drm", "devcoredump", "pci" };

int dl_uevents_new(const struct dl_uevents_hooks *hooks, struct dl_uevents **ret_uevents)
{
	struct dl_uevents *u = calloc(1, sizeof(*u));
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
		dl_uevents_free(u);
		return err;
	}
	*ret_uevents = u;
	return 0;
}

void dl_uevents_free(struct dl_uevents *u)
{
	if (!u)
		return;
	udev_monitor_unref(u->monitor);
	udev_unref(u->udev);
	free(u);
}

int dl_uevents_fd(const struct dl_uevents *u)
{
	return udev_monitor_get_fd(u->monitor);
}

/* The last part of the parent's path: the PCI address of a card. */
static void device_name(struct udev_device *d, char *ret_name, size_t size)
{
	struct udev_device *parent = udev_device_get_parent_with_subsystem_devtype(d, "pci", NULL);
	const char *name = parent ? udev_device_get_sysname(parent) : NULL;

	dl_copy_name(ret_name, size, name ? name : "");
}

static struct dl_event begin(struct udev_device *d, enum dl_device_change change, uint64_t now_ns)
{
	struct udev_device *parent = udev_device_get_parent_with_subsystem_devtype(d, "pci", NULL);
	const char *driver = parent ? udev_device_get_driver(parent) : NULL;
	struct dl_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now_ns;
	ev.kind = DL_EV_DEVICE;
	ev.device.change = change;
	device_name(d, ev.device.device, sizeof(ev.device.device));
	dl_copy_name(ev.device.driver, sizeof(ev.device.driver), driver ? driver : "");
	return ev;
}

static void say_value(struct dl_uevents *u, struct udev_device *d, const char *key,
		      enum dl_device_change change, uint64_t now_ns)
{
	const char *value = udev_device_get_property_value(d, key);
	const char *pid = udev_device_get_property_value(d, "PID");
	struct dl_event ev;

	if (!value)
		return;
	ev = begin(d, change, now_ns);
	dl_copy_name(ev.device.detail, sizeof(ev.device.detail), value);
	ev.device.value = atoi(value);
	if (pid && isdigit((unsigned char)*pid))
		ev.pid = (uint32_t)strtoul(pid, NULL, 10);
	u->hooks.device(u->hooks.arg, &ev);
}

static void see_drm(struct dl_uevents *u, struct udev_device *d, const char *action,
		    uint64_t now_ns)
{
	if (strcmp(action, "change") != 0) {
		u->hooks.changed(u->hooks.arg);
		return;
	}
	say_value(u, d, "WEDGED", DL_DEVICE_WEDGED, now_ns);
	say_value(u, d, "ERROR", DL_DEVICE_ERROR, now_ns);
	say_value(u, d, "RESET", DL_DEVICE_RESET, now_ns);
}

/*
 * "failing_device" is a link in its folder; libudev takes the parent from the path, which has
 * none.
 */
static void see_coredump(struct dl_uevents *u, struct udev_device *d, uint64_t now_ns)
{
	char path[512], target[512], *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/failing_device", udev_device_get_syspath(d));
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	slash = strrchr(target, '/');
	u->hooks.coredump(u->hooks.arg, udev_device_get_sysname(d), slash ? slash + 1 : "", now_ns);
}

static void see(struct dl_uevents *u, struct udev_device *d, uint64_t now_ns)
{
	const char *subsystem = udev_device_get_subsystem(d), *action = udev_device_get_action(d);

	if (!subsystem || !action)
		return;
	if (!strcmp(subsystem, "drm"))
		see_drm(u, d, action, now_ns);
	else if (!strcmp(subsystem, "devcoredump") && !strcmp(action, "add"))
		see_coredump(u, d, now_ns);
	else if (!strcmp(subsystem, "pci") &&
		 (!strcmp(action, "bind") || !strcmp(action, "unbind") ||
		  !strcmp(action, "remove")))
		u->hooks.changed(u->hooks.arg);
}

void dl_uevents_read(struct dl_uevents *u, uint64_t now_ns)
{
	struct udev_device *d;

	for (int i = 0; i < BATCH_MAX && (d = udev_monitor_receive_device(u->monitor)); i++) {
		see(u, d, now_ns);
		udev_device_unref(d);
	}
}
