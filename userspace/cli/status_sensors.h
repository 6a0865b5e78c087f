/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_STATUS_SENSORS_H
#define DAVY_STATUS_SENSORS_H

#include <jansson.h>

/* Each prints a part of the agent's answer to "sensors". */
void davy_print_source_order(const json_t *answer);
void davy_print_programs(const json_t *answer);

#endif
