/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/config_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/number.h"

struct suffix {
	enum davy_unit unit;
	const char *name;
	int64_t factor;
};

static const struct suffix suffixes[] = {
	/* of a unit, smallest first */
	{ DAVY_UNIT_MS, "ms", 1 },
	{ DAVY_UNIT_MS, "s", 1000 },
	{ DAVY_UNIT_MS, "min", 60000 },
	{ DAVY_UNIT_MS, "h", 3600000 },
	{ DAVY_UNIT_BYTES, "B", 1 },
	{ DAVY_UNIT_BYTES, "KiB", 1LL << 10 },
	{ DAVY_UNIT_BYTES, "MiB", 1LL << 20 },
	{ DAVY_UNIT_BYTES, "GiB", 1LL << 30 },
	{ DAVY_UNIT_BYTES, "TiB", 1LL << 40 },
	{ DAVY_UNIT_PERMILLE, "%", 10 },
	{ DAVY_UNIT_COUNT, "", 1 },
};

#define SUFFIX_COUNT (sizeof(suffixes) / sizeof(suffixes[0]))

const char *davy_config_value_form(enum davy_unit unit)
{
	switch (unit) {
	case DAVY_UNIT_MS:
		return "a time such as '300 ms', '10 s', '30 min', '2 h'";
	case DAVY_UNIT_BYTES:
		return "an amount such as '256 MiB' (B, KiB, MiB, GiB, TiB)";
	case DAVY_UNIT_PERMILLE:
		return "a percentage such as '25 %'";
	case DAVY_UNIT_MODE:
		return "observe, advise or enforce";
	default:
		return "a whole number without a unit";
	}
}

int davy_config_value(enum davy_unit unit, const char *text, int64_t *ret_value)
{
	long long number;
	int64_t value;
	char *end;

	if (unit == DAVY_UNIT_MODE) {
		value = davy_mode_from_name(text);
		if (value < 0)
			return -EINVAL;
		*ret_value = value;
		return 0;
	}
	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || text[0] == '-' || text[0] == '+')
		return -EINVAL;
	if (errno)
		return -ERANGE;
	if (*end == '.' || *end == ',')
		return -EINVAL;
	end += strspn(end, " \t");
	for (size_t i = 0; i < SUFFIX_COUNT; i++) {
		if (suffixes[i].unit != unit || strcmp(end, suffixes[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(number, suffixes[i].factor, &value))
			return -ERANGE;
		*ret_value = value;
		return 0;
	}
	return -EDOM;
}

bool davy_config_time_limit(const char *option, const char *text, uint32_t max_ms, uint32_t *ret_ms)
{
	char max[DAVY_CONFIG_VALUE_LEN];
	uint64_t seconds;
	int64_t ms = 0;

	if (davy_number(text, max_ms / 1000, &seconds))
		ms = (int64_t)seconds * 1000;
	else if (davy_config_value(DAVY_UNIT_MS, text, &ms))
		ms = 0;
	if (ms > 0 && ms <= max_ms) {
		*ret_ms = (uint32_t)ms;
		return true;
	}
	davy_config_value_text(DAVY_UNIT_MS, max_ms, max);
	davy_log("%s '%s': expected seconds or a time such as '30 s', at most %s", option, text,
		 max);
	return false;
}

void davy_config_value_text(enum davy_unit unit, int64_t value, char buf[DAVY_CONFIG_VALUE_LEN])
{
	const struct suffix *best = NULL;

	if (unit == DAVY_UNIT_MODE && value >= 0 && value < DAVY_MODE_COUNT) {
		snprintf(buf, DAVY_CONFIG_VALUE_LEN, "%s", davy_mode_name((enum davy_mode)value));
		return;
	}
	for (size_t i = 0; i < SUFFIX_COUNT; i++)
		if (suffixes[i].unit == unit && (!best || value % suffixes[i].factor == 0))
			best = &suffixes[i];
	if (!best || (unit == DAVY_UNIT_MS && !value))
		snprintf(buf, DAVY_CONFIG_VALUE_LEN, "%" PRId64 "%s", value, best ? " s" : "");
	else if (value % best->factor) /* a percentage with one decimal */
		snprintf(buf, DAVY_CONFIG_VALUE_LEN, "%" PRId64 ".%" PRId64 " %s",
			 value / best->factor, value % best->factor, best->name);
	else
		snprintf(buf, DAVY_CONFIG_VALUE_LEN, "%" PRId64 "%s%s", value / best->factor,
			 best->name[0] ? " " : "", best->name);
}

int64_t davy_config_value_round(enum davy_unit unit, int64_t value)
{
	return unit == DAVY_UNIT_PERMILLE ? (value + 5) / 10 * 10 : value;
}
