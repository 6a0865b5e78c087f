/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as an object: for its event, and for the status. */
#ifndef DAVY_PROCESS_JSON_H
#define DAVY_PROCESS_JSON_H

#include <jansson.h>

#include "core/event/event.h"

/* A new object, owned by the caller; unknown members of an engine are omitted. */
json_t *davy_process_json(const struct davy_ev_process *p);

#endif
