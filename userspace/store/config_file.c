/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/config_file.h"

#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/event.h"
#include "lib/file.h"
#include "lib/text.h"
#include "store/config_section.h"
#include "store/config_value.h"

#define FILE_MAX ((size_t)256 * 1024)

struct reader {
	struct davy_config config;
	struct davy_section section;
	const char *at; /* text that was not read yet */
	int line;
	int key_line[DAVY_CFG_COUNT]; /* the line of this file that sets it; 0: none */
	int override_line[DAVY_OVERRIDES_MAX];
	int wrong_line;
	char wrong[DAVY_CONFIG_ERROR_LEN];
};

/* Reports the first invalid line; the rest of the file is not read. */
static int __attribute__((format(printf, 3, 4)))
fail(struct reader *r, int line, const char *format, ...)
{
	va_list list;

	if (r->wrong_line)
		return 0;
	r->wrong_line = line;
	va_start(list, format);
	vsnprintf(r->wrong, sizeof(r->wrong), format, list);
	va_end(list);
	return 0;
}

static void config_file_take_section(struct reader *r, const char *line)
{
	const char *end = strchr(line, ']');
	char text[256], why[DAVY_CONFIG_ERROR_LEN];

	if (!end) {
		fail(r, r->line, "'[' without ']', expected '[section]'");
		return;
	}
	if (!strchr("\r#;", end[1 + strspn(end + 1, " \t")])) { /* matches the terminating 0 too */
		fail(r, r->line, "unexpected '%s' after the section name",
		     end + 1 + strspn(end + 1, " \t"));
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(end - line - 1), line + 1);
	if (davy_section_parse(text, &r->section, why, sizeof(why)))
		fail(r, r->line, "%s", why);
}

/*
 * Read function for inih. inih would split a line that is too long, and would append a line that
 * begins with blanks to the previous value: both are refused.
 */
static char *config_file_next_line(char *str, int num, void *stream)
{
	struct reader *r = stream;
	size_t len;

	if (r->wrong_line || !*r->at)
		return NULL;
	r->line++;
	len = strcspn(r->at, "\n");
	if (len + 2 > (size_t)num) {
		fail(r, r->line, "a line of %zu bytes, expected at most %d", len, num - 2);
		return NULL;
	}
	memcpy(str, r->at, len);
	str[len] = 0;
	r->at += len + (r->at[len] == '\n');
	len = strspn(str, " \t");
	memmove(str, str + len, strlen(str + len) + 1);
	if (str[0] == '[')
		config_file_take_section(r, str);
	return r->wrong_line ? NULL : str;
}

static int wrong_value(struct reader *r, enum davy_config_key key, const char *value, int err)
{
	const struct davy_config_row *row = &davy_config_rows[key];
	char min[DAVY_CONFIG_VALUE_LEN], max[DAVY_CONFIG_VALUE_LEN];
	const char *unit = value + strspn(value, "0123456789 \t");

	if (err == -EDOM && *unit)
		return fail(r, r->line, "wrong unit '%s' of '%s', expected %s", unit, row->name,
			    davy_config_value_form(row->unit));
	if (err == -EDOM)
		return fail(r, r->line, "'%s' of '%s' has no unit, expected %s", value, row->name,
			    davy_config_value_form(row->unit));
	if (err == -EINVAL)
		return fail(r, r->line, "wrong value '%s' of '%s', expected %s", value, row->name,
			    davy_config_value_form(row->unit));
	davy_config_value_text(row->unit, row->min, min);
	davy_config_value_text(row->unit, row->max, max);
	return fail(r, r->line, "'%s' of '%s' is out of range, expected %s to %s", value, row->name,
		    min, max);
}

static int config_file_set_twice(struct reader *r, enum davy_config_key key, int first)
{
	return fail(r, r->line, "duplicate '%s'; first set in line %d", davy_config_rows[key].name,
		    first);
}

static int set_for_all(struct reader *r, enum davy_config_key key, int64_t value)
{
	if (r->key_line[key])
		return config_file_set_twice(r, key, r->key_line[key]);
	r->key_line[key] = r->line;
	r->config.value[key] = value;
	return 1;
}

static int set_for_some(struct reader *r, enum davy_config_key key, int64_t value)
{
	const struct davy_section *s = &r->section;
	const char *name = davy_config_rows[key].name;
	const struct davy_override *o;
	int *line;

	if (!davy_config_scoped(key))
		return fail(r, r->line,
			    "'%s' cannot depend on a driver, device or model; put it into '[%s]'",
			    name, s->name);
	o = davy_config_override(&r->config, s->scope, s->target, key);
	if (o && r->override_line[o - r->config.override])
		return config_file_set_twice(r, key, r->override_line[o - r->config.override]);
	if (!davy_config_set_for(&r->config, s->scope, s->target, name, value))
		return fail(r, r->line,
			    "too many values for single drivers, devices or models (at most %d)",
			    DAVY_OVERRIDES_MAX);
	o = davy_config_override(&r->config, s->scope, s->target, key);
	line = &r->override_line[o - r->config.override];
	*line = r->line;
	return 1;
}

static int config_file_on_key(void *arg, const char *section, const char *key, const char *text)
{
	struct reader *r = arg;
	char name[128], why[DAVY_CONFIG_ERROR_LEN];
	int64_t value;
	int index, err;

	(void)section; /* truncated at 49 bytes */
	if (!r->section.name[0])
		return fail(r, r->line,
			    "'%s' before the first section, expected '[agent]' or "
			    "another above it",
			    key);
	snprintf(name, sizeof(name), "%s.%s", r->section.name, key);
	index = davy_config_find(name);
	if (index < 0) {
		davy_section_unknown_key(&r->section, key, why, sizeof(why));
		return fail(r, r->line, "%s", why);
	}
	err = davy_config_value(davy_config_rows[index].unit, text, &value);
	if (!err && (value < davy_config_rows[index].min || value > davy_config_rows[index].max))
		err = -ERANGE;
	if (err)
		return wrong_value(r, (enum davy_config_key)index, text, err);
	return r->section.scope ? set_for_some(r, (enum davy_config_key)index, value)
				: set_for_all(r, (enum davy_config_key)index, value);
}

struct placed {
	int64_t value;
	int line; /* 0: not set by this file */
};

static struct placed placed_for(const struct reader *r, const struct davy_override *of,
				enum davy_config_key key)
{
	const struct davy_override *o =
		of ? davy_config_override(&r->config, of->scope, of->name, key) : NULL;

	if (!o)
		return (struct placed){ r->config.value[key], r->key_line[key] };
	return (struct placed){ o->value, r->override_line[o - r->config.override] };
}

/* "of": the scope, NULL for all. Values of an earlier file are already consistent. */
static void check_order(struct reader *r, const struct davy_config_order *order,
			const struct davy_override *of)
{
	struct placed low = placed_for(r, of, order->low), high = placed_for(r, of, order->high);
	const struct davy_config_row *row = &davy_config_rows[order->low];
	char is[DAVY_CONFIG_VALUE_LEN], most[DAVY_CONFIG_VALUE_LEN];

	if (low.value <= high.value || (!low.line && !high.line))
		return;
	davy_config_value_text(row->unit, low.value, is);
	davy_config_value_text(row->unit, high.value, most);
	fail(r, low.line > high.line ? low.line : high.line,
	     "'%s' is %s, expected at most '%s', which is %s%s%s", row->name, is,
	     davy_config_rows[order->high].name, most, of ? " for " : "", of ? of->name : "");
}

static void check_orders(struct reader *r)
{
	struct davy_config_order order;

	for (size_t i = 0; davy_config_order(i, &order); i++) {
		check_order(r, &order, NULL);
		for (uint32_t j = 0; j < r->config.override_count; j++) {
			const struct davy_override *o = &r->config.override[j];

			if (o->key == order.low || o->key == order.high)
				check_order(r, &order, o);
		}
	}
}

static int config_file_parse(struct reader *r, const char *text, size_t size)
{
	int line;

	if (size == FILE_MAX - 1)
		return fail(r, 1, "longer than %zu bytes", FILE_MAX - 2);
	r->at = text;
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		r->at += 3;
	line = ini_parse_stream(config_file_next_line, r, config_file_on_key, r);
	if (line < 0)
		return -ENOMEM;
	if (!r->wrong_line && line)
		fail(r, line, "syntax error; expected '[section]', 'key = value' or '# comment'");
	if (!r->wrong_line && r->at != text + size)
		fail(r, r->line + 1, "NUL byte in the file");
	if (!r->wrong_line)
		check_orders(r);
	return 0;
}

int davy_config_file_read(const char *path, struct davy_config *config,
			  char error[DAVY_CONFIG_ERROR_LEN])
{
	struct reader *r = calloc(1, sizeof(*r));
	char *text = malloc(FILE_MAX), raw[DAVY_CONFIG_ERROR_LEN];
	ssize_t n = -ENOMEM;
	int err = 0;

	if (r && text)
		n = davy_read_file(path, text, FILE_MAX);
	if (n >= 0) {
		r->config = *config;
		err = config_file_parse(r, text, (size_t)n);
	}
	if (n < 0) {
		err = (int)n;
	} else if (!err && r->wrong_line) {
		err = -EBADMSG;
		snprintf(raw, sizeof(raw), "%.160s:%d: %.340s", path, r->wrong_line, r->wrong);
		davy_text_safe(error, DAVY_CONFIG_ERROR_LEN, raw);
	} else if (!err) {
		*config = r->config;
	}
	free(text);
	free(r);
	return err;
}

static int config_file_read_dir(const char *dir, struct davy_config *config,
				char error[DAVY_CONFIG_ERROR_LEN])
{
	char path[PATH_MAX];
	int err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/hazards.conf", dir) < (int)sizeof(path))
		err = davy_config_file_read(path, config, error);
	if (err && err != -EBADMSG && err != -ENOENT)
		snprintf(error, DAVY_CONFIG_ERROR_LEN, "'%.300s/hazards.conf': %s", dir,
			 strerror(-err));
	return err == -ENOENT ? 0 : err;
}

int davy_config_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_config *ret_config, char error[DAVY_CONFIG_ERROR_LEN])
{
	struct davy_config shipped, config;
	bool tuned;
	int err;

	error[0] = 0;
	davy_config_defaults(&shipped);
	err = config_file_read_dir(data_dir, &shipped, error);
	if (err)
		return err;
	config = shipped;
	tuned = !config_file_read_dir(state_dir, &config, error) &&
		config_file_read_dir(config_dir, &config, error) == 0;
	if (!tuned) {
		char why[DAVY_CONFIG_ERROR_LEN];

		config = shipped;
		err = config_file_read_dir(config_dir, &config, why);
		if (err)
			memcpy(error, why, sizeof(why));
	}
	if (!err)
		*ret_config = config;
	return err;
}
