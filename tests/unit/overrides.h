/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of thresholds of one driver, device or model: sends such overrides. */
#ifndef DAVY_TESTS_OVERRIDES_H
#define DAVY_TESTS_OVERRIDES_H

#include "history.h"

#define TINY "tiny.gguf"

static inline void override(enum davy_scope scope, const char *name, const char *key, int64_t value)
{
	struct davy_event ev = event(DAVY_EV_CONFIG_FOR, 0);

	ev.config_for.scope = scope;
	ev.config_for.config.value = value;
	davy_copy_name(ev.config_for.name, sizeof(ev.config_for.name), name);
	davy_copy_name(ev.config_for.config.key, sizeof(ev.config_for.config.key), key);
	tell(&ev);
}

static inline void device(const char *name, const char *driver, enum davy_device_change change)
{
	struct davy_event ev = event(DAVY_EV_DEVICE, 0);

	ev.device.change = change;
	davy_copy_name(ev.device.device, sizeof(ev.device.device), name);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), driver);
	tell(&ev);
}

#endif
