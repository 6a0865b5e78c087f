/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes a struct of numbers, names and texts as "name = value", by a table of its
 * members.
 */
#ifndef DAVY_SETTING_H
#define DAVY_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_SETTING_LEN 320 /* of the longest value */

struct davy_setting {
	const char *name;			 /* NULL ends a table */
	size_t at, size;			 /* of the member */
	uint64_t max;				 /* of a number; 0: a text */
	const char *(*name_of)(uint64_t number); /* NULL: written as digits */
};

#define DAVY_SETTING_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* False: the name is unknown, or the value is invalid. */
bool davy_setting_set(const struct davy_setting *table, void *row, const char *name,
		      const char *value);

void davy_setting_text(const struct davy_setting *setting, const void *row,
		       char ret_value[DAVY_SETTING_LEN]);

/* Functions for name_of. */
const char *davy_setting_backend(uint64_t number);
const char *davy_setting_breaker(uint64_t number);
const char *davy_setting_hazard(uint64_t number);

#endif
