/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_STATUS_SENSORS_H
#define DAVY_STATUS_SENSORS_H

#include <jansson.h>

/* Each prints its part of the agent's answer to "sensors". */
void davy_print_ladder(const json_t *answer);
void davy_print_programs(const json_t *answer);

#endif
