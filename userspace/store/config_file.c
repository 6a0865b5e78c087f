/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config_file.h"

#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/file.h"

#define FILE_MAX ((size_t)256 * 1024)

struct suffix {
	enum dl_unit unit;
	const char *name;
	int64_t factor;
};

static const struct suffix suffixes[] = {
	{ DL_UNIT_MS, "ms", 1 },
	{ DL_UNIT_MS, "s", 1000 },
	{ DL_UNIT_MS, "min", 60000 },
	{ DL_UNIT_MS, "h", 3600000 },
	{ DL_UNIT_BYTES, "B", 1 },
	{ DL_UNIT_BYTES, "KiB", 1LL << 10 },
	{ DL_UNIT_BYTES, "MiB", 1LL << 20 },
	{ DL_UNIT_BYTES, "GiB", 1LL << 30 },
	{ DL_UNIT_PERMILLE, "%", 10 },
	{ DL_UNIT_COUNT, "", 1 },
};

static const char *expected(enum dl_unit unit)
{
	switch (unit) {
	case DL_UNIT_MS:
		return "a time such as '300 ms', '10 s', '30 min'";
	case DL_UNIT_BYTES:
		return "an amount such as '256 MiB'";
	case DL_UNIT_PERMILLE:
		return "a share such as '25 %'";
	case DL_UNIT_MODE:
		return "observe, advise or enforce";
	default:
		return "a whole number";
	}
}

bool dl_config_value(enum dl_unit unit, const char *text, int64_t *ret_value)
{
	long long number;
	char *end;

	if (unit == DL_UNIT_MODE) {
		*ret_value = dl_mode_from_name(text);
		return *ret_value >= 0;
	}
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || number < 0)
		return false;
	end += strspn(end, " \t");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (suffixes[i].unit != unit || strcmp(end, suffixes[i].name) != 0)
			continue;
		return !__builtin_mul_overflow(number, suffixes[i].factor, ret_value);
	}
	return false;
}

struct reader {
	struct dl_config config;
	char *error;
};

static int fail(struct reader *r, const char *what, const char *name, const char *wanted)
{
	if (!r->error[0])
		snprintf(r->error, DL_CONFIG_ERROR_LEN, "%s '%s', expected %s", what, name, wanted);
	return 0;
}

static int on_line(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;
	char name[128];
	int64_t number;
	int index;

	snprintf(name, sizeof(name), "%s.%s", section, key);
	index = dl_config_find(name);
	if (index < 0)
		return fail(r, "unknown key", name, "one of those in davylamp.conf(5)");
	if (!dl_config_value(dl_config_rows[index].unit, value, &number))
		return fail(r, "wrong value", value, expected(dl_config_rows[index].unit));
	if (!dl_config_set(&r->config, name, number)) {
		char range[96];

		snprintf(range, sizeof(range),
			 "%" PRId64 " to %" PRId64 " (in ms, bytes or permille)",
			 dl_config_rows[index].min, dl_config_rows[index].max);
		return fail(r, "value out of range", value, range);
	}
	return 1;
}

int dl_config_file_read(const char *path, struct dl_config *config, char error[DL_CONFIG_ERROR_LEN])
{
	struct reader r = { .config = *config };
	char what[DL_CONFIG_ERROR_LEN] = "";
	char *text = malloc(FILE_MAX);
	ssize_t n;
	int line;

	if (!text)
		return -ENOMEM;
	r.error = what;
	n = dl_read_file(path, text, FILE_MAX);
	line = n >= 0 ? ini_parse_string(text, on_line, &r) : 0;
	free(text);
	if (n < 0)
		return (int)n;
	if (line < 0)
		return -ENOMEM;
	if (line) {
		snprintf(error, DL_CONFIG_ERROR_LEN, "%.96s:%d: %.140s", path, line,
			 what[0] ? what : "not 'key = value' in a [section]");
		return -EBADMSG;
	}
	*config = r.config;
	return 0;
}
