/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/learned.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/plan.h"
#include "lib/file.h"
#include "lib/text.h"
#include "store/setting.h"

#define REASON_MAX 160
#define FILE_MAX   ((size_t)256 * 1024)

struct reader {
	struct davy_learned *learned;
	struct davy_learned_entry *entry; /* of the section being read */
	char section[64];
};

#define AT(member) #member, DAVY_SETTING_AT(struct davy_learned_entry, member)

/* The reason is the last key and has another form. */
static const struct davy_setting settings[] = {
	{ AT(model), 0, NULL },
	{ AT(backend), DAVY_BACKEND_COUNT - 1, davy_setting_backend },
	{ AT(device), 0, NULL },
	{ AT(state), DAVY_BREAKER_STATE_COUNT - 1, davy_setting_breaker },
	{ "openings", DAVY_SETTING_AT(struct davy_learned_entry, open_count), UINT16_MAX, NULL },
	{ "since", DAVY_SETTING_AT(struct davy_learned_entry, since_s), INT64_MAX, NULL },
	{ "until", DAVY_SETTING_AT(struct davy_learned_entry, until_s), INT64_MAX, NULL },
	{ "because", DAVY_SETTING_AT(struct davy_learned_entry, reason), 0, NULL },
	{ 0 },
};

static const struct davy_setting of_file[] = {
	{ "version", DAVY_SETTING_AT(struct davy_learned, version), UINT32_MAX, NULL },
	{ 0 },
};

static int learned_path_of(char *path, size_t size, const char *dir)
{
	return davy_root_path(path, size, "%s/%s", dir, DAVY_LEARNED_NAME);
}

static int learned_on_line(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;

	if (!section[0])
		return davy_setting_set(of_file, r->learned, key, value);
	if (strncmp(section, "breaker ", 8) != 0)
		return 0;
	if (!r->entry || strcmp(section, r->section) != 0) {
		if (r->learned->count == DAVY_LEARNED_MAX)
			return 0;
		r->entry = &r->learned->entry[r->learned->count++];
		snprintf(r->section, sizeof(r->section), "%s", section);
	}
	return davy_setting_set(settings, r->entry, key, value) &&
	       (r->entry->backend || strcmp(key, "backend") != 0);
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
 * INI lines have at most 200 bytes (libinih) and no comment sign after a blank. Keys (model,
 * device) are printable and stay unchanged; only the reason is cut.
 */
static void put_entry(FILE *out, size_t number_of, const struct davy_learned_entry *e)
{
	char value[DAVY_SETTING_LEN], safe[REASON_MAX];

	fprintf(out, "\n[breaker %zu]\n", number_of);
	for (const struct davy_setting *s = settings; s[1].name; s++) {
		davy_setting_text(s, e, value);
		fprintf(out, "%s = %s\n", s->name, value);
	}
	davy_text_shown(safe, sizeof(safe), e->reason);
	for (char *at = safe; *at; at++)
		if (*at == ';' && at > safe && at[-1] == ' ')
			*at = ',';
	fprintf(out, "because = %s\n", safe);
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
