/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events as text and as JSON; ticks and graph samples are not shown. */
#ifndef DAVY_EVENT_TEXT_H
#define DAVY_EVENT_TEXT_H

#include "core/event/event.h"

#define DAVY_EVENT_TEXT_SIZE 512

/* False: the event is not shown. */
bool davy_event_text(const struct davy_event *ev, char *buf, size_t size);

/* One JSON object, malloc'ed; NULL: the event is not shown, or out of memory. */
char *davy_event_json(const struct davy_event *ev);

#endif
