/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/adopted.h"

#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

#define FILE_MAX ((size_t)64 * 1024)

static int adopted_path_of(char *path, size_t size, const char *dir)
{
	return davy_root_path(path, size, "%s/%s", dir, DAVY_ADOPTED_NAME);
}

struct davy_adopted_unit *davy_adopted_find(struct davy_adopted *adopted, const char *unit)
{
	for (size_t i = 0; i < adopted->count; i++)
		if (!strcmp(adopted->unit[i].unit, unit))
			return &adopted->unit[i];
	return NULL;
}

struct davy_adopted_unit *davy_adopted_add(struct davy_adopted *adopted, const char *unit)
{
	struct davy_adopted_unit *u;

	if (adopted->count == DAVY_ADOPTED_MAX || strlen(unit) >= DAVY_UNIT_LEN)
		return NULL;
	u = &adopted->unit[adopted->count++];
	memset(u, 0, sizeof(*u));
	davy_copy_name(u->unit, sizeof(u->unit), unit);
	return u;
}

void davy_adopted_remove(struct davy_adopted *adopted, const char *unit)
{
	struct davy_adopted_unit *u = davy_adopted_find(adopted, unit);

	if (u)
		*u = adopted->unit[--adopted->count];
}

static int adopted_number(const char *text, uint32_t max, uint32_t *ret_value)
{
	unsigned long long value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	*ret_value = (uint32_t)value;
	return !errno && !*end && value <= max;
}

static int adopted_text(char *dst, size_t size, const char *value)
{
	if (strlen(value) >= size)
		return 0;
	davy_copy_name(dst, size, value);
	return 1;
}

static int flag(const char *text, bool *ret_value)
{
	uint32_t value = 0;
	int good = adopted_number(text, 1, &value);

	*ret_value = value;
	return good;
}

static int hazard(const char *name, enum davy_hazard *ret_hazard)
{
	int value = davy_hazard_from_name(name);

	*ret_hazard = value < 0 ? DAVY_HZ_NONE : (enum davy_hazard)value;
	return value >= 0;
}

static int backend(const char *name, enum davy_backend *ret_backend)
{
	int value = davy_backend_from_name(name);

	*ret_backend = value < 0 ? DAVY_BACKEND_UNKNOWN : (enum davy_backend)value;
	return value >= 0;
}

/* Why it is told otherwise than its unit says; -1: another key. */
static int why(struct davy_adopted_unit *u, const char *key, const char *value)
{
	if (!strcmp(key, "shrunk_for"))
		return hazard(value, &u->shrunk_for);
	if (!strcmp(key, "moved_for"))
		return hazard(value, &u->moved_for);
	if (!strcmp(key, "moved_from"))
		return backend(value, &u->moved_from);
	if (!strcmp(key, "before_cpu"))
		return backend(value, &u->before_cpu);
	if (!strcmp(key, "moved_off"))
		return adopted_text(u->moved_off, sizeof(u->moved_off), value);
	return -1;
}

/* "ubatch" and its like; DAVY_TUNER_KNOBS: it is none. */
static uint32_t knob_named(const char *name)
{
	uint32_t i = 0;

	while (i < DAVY_TUNER_KNOBS && strcmp(name, davy_knob_name(i)) != 0)
		i++;
	return i;
}

/* Those of the time before by "was_ubatch". */
static int adopted_setting(struct davy_adopted_unit *u, const char *key, const char *value)
{
	bool was = !strncmp(key, "was_", 4);
	const char *name = was ? key + 4 : key;
	uint32_t knob = knob_named(name), count;
	int known = why(u, key, value);

	if (known >= 0)
		return known;
	if (knob < DAVY_TUNER_KNOBS)
		return adopted_number(value, INT32_MAX, &count) &&
		       davy_knob_set(was ? &u->was_knobs : &u->knobs, knob, count);
	return !strcmp(name, "backend") && backend(value, was ? &u->was_backend : &u->backend);
}

/* A section is "unit 1" (libinih keeps 50 letters of it), and its first line the name. */
static int adopted_on_line(void *arg, const char *section, const char *key, const char *value)
{
	struct davy_adopted *adopted = arg;
	struct davy_adopted_unit *u;

	if (strncmp(section, "unit ", 5) != 0)
		return 0;
	if (!strcmp(key, "unit"))
		return !davy_adopted_find(adopted, value) && davy_adopted_add(adopted, value);
	if (!adopted->count)
		return 0;
	u = &adopted->unit[adopted->count - 1];
	if (!strcmp(key, "version"))
		return adopted_number(value, UINT32_MAX, &u->version);
	if (!strcmp(key, "made_dir"))
		return flag(value, &u->made_dir);
	if (!strcmp(key, "stopped"))
		return flag(value, &u->stopped);
	if (!strcmp(key, "capped"))
		return flag(value, &u->capped);
	if (!strcmp(key, "memory_high"))
		return sscanf(value, "%" SCNu64, &u->memory_high) == 1;
	if (!strcmp(key, "cpu_quota"))
		return sscanf(value, "%" SCNu64, &u->cpu_quota) == 1;
	if (!strcmp(key, "derived"))
		return adopted_text(u->derived, sizeof(u->derived), value);
	if (!strcmp(key, "unproven"))
		return flag(value, &u->unproven);
	return adopted_setting(u, key, value);
}

int davy_adopted_load(const char *dir, struct davy_adopted *ret_adopted, int *ret_line)
{
	char path[512], *text;
	ssize_t n;
	int err = adopted_path_of(path, sizeof(path), dir);

	memset(ret_adopted, 0, sizeof(*ret_adopted));
	*ret_line = 0;
	if (err)
		return err;
	text = malloc(FILE_MAX);
	if (!text)
		return -ENOMEM;
	n = davy_read_whole(path, text, FILE_MAX);
	if (n >= 0)
		*ret_line = strlen(text) == (size_t)n
				    ? ini_parse_string(text, adopted_on_line, ret_adopted)
				    : 1;
	free(text);
	if (n < 0 && n != -ENOENT)
		return (int)n;
	if (!*ret_line)
		return 0;
	memset(ret_adopted, 0, sizeof(*ret_adopted));
	return *ret_line > 0 ? -EBADMSG : -ENOMEM;
}

int davy_adopted_set_aside(const char *dir)
{
	char path[512], aside[520];
	int err = adopted_path_of(path, sizeof(path), dir);

	if (err)
		return err;
	snprintf(aside, sizeof(aside), "%s.bad", path);
	return rename(path, aside) ? -errno : 0;
}

static void put_settings(FILE *out, const char *was, enum davy_backend backend,
			 const struct davy_knobs *k)
{
	fprintf(out, "%sbackend = %s\n", was, davy_backend_name(backend));
	for (uint32_t i = 0; i < DAVY_TUNER_KNOBS; i++)
		fprintf(out, "%s%s = %u\n", was, davy_knob_name(i), davy_knob_get(k, i));
}

static void put_unit(FILE *out, size_t number_of, const struct davy_adopted_unit *u)
{
	fprintf(out, "\n[unit %zu]\nunit = %s\nversion = %u\nmade_dir = %d\nstopped = %d\n",
		number_of, u->unit, u->version, u->made_dir, u->stopped);
	put_settings(out, "", u->backend, &u->knobs);
	fprintf(out,
		"derived = %s\ncapped = %d\nmemory_high = %" PRIu64 "\ncpu_quota = %" PRIu64 "\n",
		u->derived, u->capped, u->memory_high, u->cpu_quota);
	fprintf(out, "shrunk_for = %s\nmoved_for = %s\nmoved_from = %s\n",
		davy_hazard_name(u->shrunk_for), davy_hazard_name(u->moved_for),
		davy_backend_name(u->moved_from));
	fprintf(out, "before_cpu = %s\nmoved_off = %s\n", davy_backend_name(u->before_cpu),
		u->moved_off);
	fprintf(out, "unproven = %d\n", u->unproven);
	if (u->unproven)
		put_settings(out, "was_", u->was_backend, &u->was_knobs);
}

int davy_adopted_save(const char *dir, const struct davy_adopted *adopted)
{
	char path[512], parent[512], *text = NULL;
	size_t size = 0;
	FILE *out;
	int err = adopted_path_of(path, sizeof(path), dir);

	if (!err)
		err = davy_root_path(parent, sizeof(parent), "%s", dir);
	if (!err)
		err = davy_make_dirs(parent);
	if (err)
		return err;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	fprintf(out,
		"# Written by davylamp: services in its care, and what each is told.\n"
		"# 'davylamp policy adopt UNIT' and 'davylamp policy release UNIT' change it.\n");
	for (size_t i = 0; i < adopted->count; i++)
		put_unit(out, i + 1, &adopted->unit[i]);
	err = fclose(out) ? -ENOMEM : davy_replace_file(path, text, size, 0644);
	free(text);
	return err;
}
