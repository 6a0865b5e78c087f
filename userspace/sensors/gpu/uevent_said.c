/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/gpu/uevent_said.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_DIGITS 9 /* longer numbers are neither a pid nor a flag */

static uint32_t uevent_number_or_0(const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!digits || digits > NUMBER_DIGITS || text[digits])
		return 0;
	return (uint32_t)strtoul(text, NULL, 10);
}

static bool uevent_is(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

static size_t uevent_add(const struct davy_uevent *u, const char *value,
			 enum davy_device_change change, uint64_t now_ns, struct davy_event *ev)
{
	if (!value)
		return 0;
	memset(ev, 0, sizeof(*ev));
	ev->at_ns = now_ns;
	ev->kind = DAVY_EV_DEVICE;
	ev->pid = uevent_number_or_0(u->pid);
	ev->device.change = change;
	ev->device.value = (int32_t)uevent_number_or_0(value);
	davy_copy_name(ev->device.device, sizeof(ev->device.device), u->device ? u->device : "");
	davy_copy_name(ev->device.driver, sizeof(ev->device.driver), u->driver ? u->driver : "");
	davy_copy_name(ev->device.detail, sizeof(ev->device.detail), value);
	return 1;
}

static enum davy_uevent_meaning uevent_read_drm(const struct davy_uevent *u, uint64_t now_ns,
						struct davy_event *ret_events, size_t *ret_count)
{
	size_t n = 0;

	if (strcmp(u->action, "change") != 0) {
		/* "card0-DP-1" is a connector, which disappears with its monitor */
		bool card = u->name && !strchr(u->name, '-');

		return uevent_is(u->action, "remove") && card ? DAVY_UEVENT_LEAVING
							      : DAVY_UEVENT_CHANGED;
	}
	n += uevent_add(u, u->wedged, DAVY_DEVICE_WEDGED, now_ns, &ret_events[n]);
	n += uevent_add(u, u->error, DAVY_DEVICE_ERROR, now_ns, &ret_events[n]);
	n += uevent_add(u, u->reset, DAVY_DEVICE_RESET, now_ns, &ret_events[n]);
	*ret_count = n;
	return DAVY_UEVENT_SAID;
}

enum davy_uevent_meaning davy_uevent_read(const struct davy_uevent *u, uint64_t now_ns,
					  struct davy_event *ret_events, size_t *ret_count)
{
	*ret_count = 0;
	if (!u->subsystem || !u->action)
		return DAVY_UEVENT_NOTHING;
	if (uevent_is(u->subsystem, "drm"))
		return uevent_read_drm(u, now_ns, ret_events, ret_count);
	if (uevent_is(u->subsystem, "devcoredump") && uevent_is(u->action, "add") && u->name)
		return DAVY_UEVENT_COREDUMP;
	if (uevent_is(u->subsystem, "pci") &&
	    (uevent_is(u->action, "bind") || uevent_is(u->action, "unbind") ||
	     uevent_is(u->action, "remove")))
		return DAVY_UEVENT_CHANGED;
	return DAVY_UEVENT_NOTHING;
}
