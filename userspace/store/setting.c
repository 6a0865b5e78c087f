/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/setting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/plan.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "members are the low bytes of a number");

const char *davy_setting_backend(uint64_t number)
{
	return davy_backend_name((enum davy_backend)number);
}

const char *davy_setting_breaker(uint64_t number)
{
	return davy_breaker_state_name((enum davy_breaker_state)number);
}

const char *davy_setting_hazard(uint64_t number)
{
	return davy_hazard_name((enum davy_hazard)number);
}

static bool setting_number(const struct davy_setting *s, const char *text, uint64_t *ret_number)
{
	uint64_t n = 0;
	char *end;

	if (s->name_of) {
		while (n <= s->max && strcmp(text, s->name_of(n)) != 0)
			n++;
	} else {
		errno = 0;
		n = strtoull(text, &end, 10);
		if (errno || *end || text[0] < '0' || text[0] > '9')
			return false;
	}
	*ret_number = n;
	return n <= s->max;
}

bool davy_setting_set(const struct davy_setting *s, void *row, const char *name, const char *value)
{
	uint64_t number;

	while (s->name && strcmp(name, s->name) != 0)
		s++;
	if (!s->name)
		return false;
	if (s->max && !setting_number(s, value, &number))
		return false;
	if (s->max)
		memcpy((char *)row + s->at, &number, s->size);
	else
		davy_copy_name((char *)row + s->at, s->size, value);
	return s->max || strlen(value) < s->size;
}

void davy_setting_text(const struct davy_setting *s, const void *row, char text[DAVY_SETTING_LEN])
{
	const char *at = (const char *)row + s->at;
	uint64_t number = 0;

	if (s->max)
		memcpy(&number, at, s->size);
	if (!s->max || s->name_of)
		snprintf(text, DAVY_SETTING_LEN, "%s", s->max ? s->name_of(number) : at);
	else
		snprintf(text, DAVY_SETTING_LEN, "%" PRIu64, number);
}
