/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a device, and of who uses it, as JSON: the body of an event. */
#ifndef DAVY_DEVICE_JSON_H
#define DAVY_DEVICE_JSON_H

#include <jansson.h>

#include "core/event/event.h"

/* NULL: another kind of event. */
json_t *davy_device_json(const struct davy_event *ev);

#endif
