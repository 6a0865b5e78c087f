/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_NUMBER_H
#define DAVY_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a text of decimal digits only, at most "most". False: *ret_value is unchanged. */
bool davy_number(const char *text, uint64_t most, uint64_t *ret_value);

#endif
