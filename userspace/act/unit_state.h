/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer to GetAll on a unit's object; only act/ includes this. */
#ifndef DAVY_UNIT_STATE_H
#define DAVY_UNIT_STATE_H

#include <systemd/sd-bus.h>

#include "act/unit.h"

/* The caller zeroes "state". 0; -errno: the message is not valid. */
int davy_unit_state_take(sd_bus_message *m, struct davy_unit_state *state);

#endif
