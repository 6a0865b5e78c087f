/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A discrete GPU that suspends at run time moves its VRAM into the host's memory first; where that
 * is short, resuming or suspending it fails. power/control=on keeps it awake (Linux,
 * Documentation/power/runtime_pm.rst).
 */
#ifndef DAVY_AWAKE_H
#define DAVY_AWAKE_H

#include "core/event/intent.h"

/*
 * Fills in file, old and new value; davy_value_set and davy_value_undo of caps.h do the rest.
 * -EALREADY: it does not suspend; -ENODEV: no such device, or it has no power management;
 * -EINVAL: no PCI address.
 */
int davy_awake_plan(const char *device, struct davy_intent *intent);

#endif
