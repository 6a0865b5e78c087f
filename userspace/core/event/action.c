/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/action.h"

#include <assert.h>
#include <string.h>

#define ACTION_ROW(number, constant, its_name, its_properties)                                     \
	[number] = { .name = #its_name, .properties = (its_properties) },

static const struct {
	const char *name; /* NULL: the number is no action's */
	uint32_t properties;
} rows[DAVY_ACTION_COUNT] = { DAVY_ACTIONS(ACTION_ROW) };

bool davy_action_known(uint32_t number)
{
	return number < DAVY_ACTION_COUNT && rows[number].name;
}

bool davy_action_has(uint32_t action, uint32_t properties)
{
	assert(properties);
	return davy_action_known(action) && (rows[action].properties & properties);
}

const char *davy_action_name(enum davy_action action)
{
	return davy_action_known(action) ? rows[action].name : "";
}

int davy_action_from_name(const char *name)
{
	for (int i = 0; i < DAVY_ACTION_COUNT; i++)
		if (rows[i].name && !strcmp(name, rows[i].name))
			return i;
	return -1;
}
