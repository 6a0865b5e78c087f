/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values with units: "300 ms", "256 MiB", "25 %", "8", "advise". */
#ifndef DAVY_CONFIG_VALUE_H
#define DAVY_CONFIG_VALUE_H

#include "core/event/config.h"

#define DAVY_CONFIG_VALUE_LEN 32

/*
 * 0 and the value in the key's own unit (ms, bytes, permille). -EINVAL: it does not begin with a
 * whole number, or is no mode. -EDOM: a number with a wrong unit, or without one. -ERANGE: more
 * than 64 bits.
 */
int davy_config_value(enum davy_unit unit, const char *text, int64_t *ret_value);

/*
 * A time limit on a command line, 1 ms to max_ms: "30", which are seconds, "30 s", "2 min".
 * False: it is none; a message on stderr says what "option" expects.
 */
bool davy_config_time_limit(const char *option, const char *text, uint32_t max_ms,
			    uint32_t *ret_ms);

/* In the largest unit that gives a whole number: 3600000 ms is "1 h". */
void davy_config_value_text(enum davy_unit unit, int64_t value, char buf[DAVY_CONFIG_VALUE_LEN]);

/* A description of the unit's values: "a time such as '300 ms', '10 s', '30 min'". */
const char *davy_config_value_form(enum davy_unit unit);

/* The nearest value that a file can contain: percentages are whole. */
int64_t davy_config_value_round(enum davy_unit unit, int64_t value);

#endif
