/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/learned.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/file.h"
#include "lib/text.h"

#define REASON_MAX 160
#define FILE_MAX   ((size_t)256 * 1024)

struct reader {
	struct davy_learned *learned;
	struct davy_learned_entry *entry; /* of the section being read */
	char section[64];
};

static int learned_path_of(char *path, size_t size, const char *dir)
{
	return davy_root_path(path, size, "%s/%s", dir, DAVY_LEARNED_NAME);
}

static int learned_number(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		return 0;
	*ret_value = value;
	return 1;
}

static int learned_name(char *dst, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return 0;
	davy_copy_name(dst, size, text);
	return 1;
}

static int state_from(const char *text, enum davy_breaker_state *ret_state)
{
	for (int i = 0; i < DAVY_BREAKER_STATE_COUNT; i++) {
		if (strcmp(text, davy_breaker_state_name((enum davy_breaker_state)i)) != 0)
			continue;
		*ret_state = (enum davy_breaker_state)i;
		return 1;
	}
	return 0;
}

static int learned_set(struct davy_learned_entry *e, const char *key, const char *value)
{
	int backend = davy_backend_from_name(value);
	int64_t n;

	if (!strcmp(key, "device"))
		return learned_name(e->device, sizeof(e->device), value);
	if (!strcmp(key, "model"))
		return learned_name(e->model, sizeof(e->model), value);
	if (!strcmp(key, "because"))
		return learned_name(e->because, sizeof(e->because), value);
	if (!strcmp(key, "state"))
		return state_from(value, &e->state);
	if (!strcmp(key, "backend")) {
		e->backend = backend < 0 ? DAVY_BACKEND_UNKNOWN : (enum davy_backend)backend;
		return backend > 0;
	}
	if (!strcmp(key, "since"))
		return learned_number(value, 0, INT64_MAX, &e->since_s);
	if (!strcmp(key, "until"))
		return learned_number(value, 0, INT64_MAX, &e->until_s);
	if (!strcmp(key, "openings") && learned_number(value, 0, UINT16_MAX, &n)) {
		e->open_count = (uint16_t)n;
		return 1;
	}
	return 0;
}

static int learned_on_line(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;
	int64_t n;

	if (!section[0]) {
		if (strcmp(key, "version") != 0 || !learned_number(value, 0, UINT32_MAX, &n))
			return 0;
		r->learned->version = (uint32_t)n;
		return 1;
	}
	if (strncmp(section, "breaker ", 8) != 0)
		return 0;
	if (!r->entry || strcmp(section, r->section) != 0) {
		if (r->learned->count == DAVY_LEARNED_MAX)
			return 0;
		r->entry = &r->learned->entry[r->learned->count++];
		snprintf(r->section, sizeof(r->section), "%s", section);
	}
	return learned_set(r->entry, key, value);
}

int davy_learned_load(const char *dir, struct davy_learned *ret_learned, int *ret_line)
{
	struct davy_learned learned = { 0 };
	struct reader r = { .learned = &learned };
	char path[512], *text;
	ssize_t n;
	int err;

	err = learned_path_of(path, sizeof(path), dir);
	if (err)
		return err;
	text = malloc(FILE_MAX);
	if (!text)
		return -ENOMEM;
	n = davy_read_whole(path, text, FILE_MAX);
	*ret_line = 0;
	if (n >= 0)
		*ret_line =
			strlen(text) == (size_t)n ? ini_parse_string(text, learned_on_line, &r) : 1;
	free(text);
	if (n < 0 && n != -ENOENT)
		return (int)n;
	if (*ret_line)
		return *ret_line > 0 ? -EBADMSG : -ENOMEM;
	*ret_learned = learned;
	return 0;
}

/*
 * INI is a format of lines, of at most 200 bytes (libinih), without a comment sign after a blank.
 * Keys (model, device) are printable already and stay as they are; only the reason is cut.
 */
static void put_reason(FILE *out, const char *key, const char *value)
{
	char safe[REASON_MAX];

	davy_text_shown(safe, sizeof(safe), value);
	for (char *at = safe; *at; at++)
		if (*at == ';' && at > safe && at[-1] == ' ')
			*at = ',';
	fprintf(out, "%s = %s\n", key, safe);
}

static void learned_put(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s = %s\n", key, value);
}

static void put_entry(FILE *out, size_t number_of, const struct davy_learned_entry *e)
{
	fprintf(out, "\n[breaker %zu]\n", number_of);
	learned_put(out, "model", e->model);
	learned_put(out, "backend", davy_backend_name(e->backend));
	learned_put(out, "device", e->device);
	learned_put(out, "state", davy_breaker_state_name(e->state));
	fprintf(out, "openings = %u\nsince = %" PRId64 "\nuntil = %" PRId64 "\n", e->open_count,
		e->since_s, e->until_s);
	put_reason(out, "because", e->because);
}

int davy_learned_save(const char *dir, struct davy_learned *learned)
{
	char path[512], parent[512], *text = NULL;
	size_t size = 0;
	FILE *out;
	int err;

	err = learned_path_of(path, sizeof(path), dir);
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
		"# Written by davylamp from what it saw; replaced whole at each change.\n"
		"# To forget an entry, remove it while the agent is stopped.\n"
		"version = %u\n",
		learned->version + 1);
	for (size_t i = 0; i < learned->count; i++)
		put_entry(out, i + 1, &learned->entry[i]);
	err = fclose(out) ? -ENOMEM : davy_replace_file(path, text, size, 0644);
	free(text);
	if (!err)
		learned->version++;
	return err;
}

int davy_learned_set_aside(const char *dir)
{
	char path[512], aside[520];
	int err = learned_path_of(path, sizeof(path), dir);

	if (err)
		return err;
	snprintf(aside, sizeof(aside), "%s.bad", path);
	return rename(path, aside) ? -errno : 0;
}

struct davy_learned_entry *davy_learned_get(struct davy_learned *l, const char *device,
					    enum davy_backend backend, const char *model)
{
	struct davy_learned_entry *e = NULL;

	for (size_t i = 0; i < l->count; i++)
		if (l->entry[i].backend == backend && davy_same_name(l->entry[i].model, model) &&
		    davy_same_name(l->entry[i].device, device))
			return &l->entry[i];
	if (l->count < DAVY_LEARNED_MAX)
		e = &l->entry[l->count++];
	for (size_t i = 0; i < l->count && l->count == DAVY_LEARNED_MAX; i++)
		if (!e || l->entry[i].since_s < e->since_s)
			e = &l->entry[i];
	memset(e, 0, sizeof(*e));
	davy_copy_name(e->device, sizeof(e->device), device);
	davy_copy_name(e->model, sizeof(e->model), model);
	e->backend = backend;
	return e;
}

size_t davy_learned_forget(struct davy_learned *l, const char *device, const char *model,
			   struct davy_learned_entry *ret_gone)
{
	size_t kept = 0, gone = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct davy_learned_entry *e = &l->entry[i];

		if ((device[0] && !davy_same_name(e->device, device)) ||
		    (model[0] && !davy_same_name(e->model, model)))
			l->entry[kept++] = *e;
		else if (ret_gone)
			ret_gone[gone++] = *e;
		else
			gone++;
	}
	l->count = kept;
	return gone;
}

const struct davy_learned_entry *davy_learned_against(const struct davy_learned *l,
						      enum davy_backend backend, const char *model,
						      int64_t now_s)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct davy_learned_entry *e = &l->entry[i];

		if (e->backend == backend && davy_same_name(e->model, model) &&
		    e->state == DAVY_BREAKER_OPEN && now_s < e->until_s)
			return e;
	}
	return NULL;
}
