/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DL_VERBS_STATUS_SENSORS_H
#define DL_VERBS_STATUS_SENSORS_H

#include <jansson.h>

/* Each prints its part of the agent's answer to "sensors". */
void dl_print_ladder(const json_t *answer);
void dl_print_programs(const json_t *answer);

#endif
