/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/awake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act/caps.h"

/* "0000:03:00.0"; rejects all else, because the text becomes part of a path. */
static bool is_pci_address(const char *text)
{
	return strlen(text) >= 12 && strlen(text) < DAVY_DEVICE_LEN &&
	       !text[strspn(text, "0123456789abcdef:.")] && !strstr(text, "..");
}

int davy_awake_plan(const char *device, struct davy_intent *intent)
{
	int err;

	if (!is_pci_address(device))
		return -EINVAL;
	snprintf(intent->file, DAVY_INTENT_PATH, "/sys/bus/pci/devices/%s/power/control", device);
	intent->key[0] = 0;
	err = davy_value_read(intent->file, "", intent->old_value);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	snprintf(intent->new_value, DAVY_INTENT_VALUE, "on");
	return strcmp(intent->old_value, "on") ? 0 : -EALREADY;
}
