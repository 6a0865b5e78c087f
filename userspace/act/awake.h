/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a discrete GPU out of runtime suspend (power/control=on,
 * Documentation/power/runtime_pm.rst). A suspend moves its VRAM to host memory; if that is short,
 * suspend or resume fails.
 */
#ifndef DAVY_AWAKE_H
#define DAVY_AWAKE_H

#include "core/event/intent.h"

/*
 * Fills in file, old and new value; davy_value_set and davy_value_undo of caps.h do the rest.
 * -EALREADY: it does not suspend; -ENODEV: no such device, or no power management; -EINVAL: not a
 * PCI address.
 */
int davy_awake_plan(const char *device, struct davy_intent *intent);

#endif
