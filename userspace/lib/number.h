/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_NUMBER_H
#define DAVY_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A whole text of decimal digits, and no more than "most". False: *ret_value stays as it is. */
bool davy_number(const char *text, uint64_t most, uint64_t *ret_value);

#endif
