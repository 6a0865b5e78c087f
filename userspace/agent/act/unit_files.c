/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two files of an adopted unit: the drop-in, which names the environment file and is written
 * once, and the environment file, which systemd reads at every start without a reload. A container
 * has no drop-in: davylamp-container reads the environment file when it makes the next container.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/container_unit.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "store/generated.h"
#include "agent/act/units.h"

#define UNITS_DIR "/etc/systemd/system"

static int drop_in_path(const char *name, char *dir, char *path, size_t size)
{
	int err = davy_root_path(dir, size, UNITS_DIR "/%s.d", name);

	return err ? err : davy_root_path(path, size, UNITS_DIR "/%s.d/50-davylamp.conf", name);
}

int davy_unit_files_path(const struct davy_agent *a, const char *name, char *path, size_t size)
{
	char file[DAVY_UNIT_LEN];

	return davy_root_path(path, size, "%s/%s.env", a->units->dir,
			      davy_container_file_name(name, file));
}

static int unit_files_say(int err, const char *path)
{
	if (err == -EEXIST)
		davy_log("'%s' is not a file of davylamp; move it away and try again", path);
	else if (err < 0)
		davy_log("'%s': %s", path, strerror(-err));
	else if (err > 0)
		davy_log("'%s' was changed by hand: it is kept as '%s.hand' and not used", path,
			 path);
	return err < 0 ? err : 0;
}

int davy_unit_environment(struct davy_service *u, const struct davy_adopted_unit *wanted,
			  struct davy_environment *e)
{
	const struct davy_engine_override override = { .backend = wanted->backend,
						       .settings = wanted->settings };
	struct davy_engine_facts facts;
	struct davy_engine_look look;

	memset(e, 0, sizeof(*e));
	if (davy_engine_override_empty(&override))
		return 0;
	if (!u->start) {
		davy_log(
			"%s: was not seen running, so the settings of its command line are unknown",
			u->name);
		return -ENODATA;
	}
	look = davy_process_start_look(u->start);
	davy_engine_identify(&look, &facts);
	return davy_engine_environment(&look, &facts, &override, e);
}

const char *davy_unit_api_key(const struct davy_service *u, char key[DAVY_API_KEY_LEN])
{
	struct davy_engine_facts facts;
	struct davy_engine_look look;

	key[0] = 0;
	if (!u->start)
		return key;
	look = davy_process_start_look(u->start);
	davy_engine_identify(&look, &facts);
	memcpy(key, facts.api_key, DAVY_API_KEY_LEN);
	return key;
}

/* The settings of acts, before those of the rules. The caller frees it; NULL: out of memory. */
static char *make_body(struct davy_agent *a, const struct davy_adopted_unit *u,
		       const struct davy_environment *e, size_t *ret_rules)
{
	struct davy_service *service = davy_unit_named(a, u->unit);
	char *body = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&body, &size);

	if (!out)
		return NULL;
	fprintf(out,
		"# Settings of davylamp for the next start of %s; may be empty.\n"
		"# 'davylamp policy release %s' removes it.\n",
		u->unit, u->unit);
	for (size_t i = 0; i < e->count; i++)
		fprintf(out, "%s=%s\n", e->at[i].name, e->at[i].value);
	if (davy_container_unit(u->unit) && u->backend == DAVY_BACKEND_CPU)
		fprintf(out, DAVY_CONTAINER_CPU_ONLY "\n");
	*ret_rules = service ? davy_unit_rules_put(service, u, e, out) : 0;
	if (!fclose(out))
		return body;
	free(body);
	return NULL;
}

/* Never 0. */
int davy_unit_files_sum(struct davy_agent *a, struct davy_adopted_unit *u,
			const struct davy_environment *e, uint64_t *ret_sum)
{
	uint64_t sum;
	size_t rules;
	char *body = make_body(a, u, e, &rules);

	if (!body)
		return -ENOMEM;
	sum = davy_fnv_text(DAVY_FNV_START, body);
	free(body);
	*ret_sum = sum ? sum : 1;
	return 0;
}

int davy_unit_files_write(struct davy_agent *a, struct davy_adopted_unit *u,
			  const struct davy_environment *e)
{
	struct davy_service *service = davy_unit_named(a, u->unit);
	char path[PATH_MAX], *body;
	size_t rules = 0;
	int err = davy_unit_files_path(a, u->unit, path, sizeof(path));

	if (err)
		return unit_files_say(err, u->unit);
	body = make_body(a, u, e, &rules);
	err = body ? davy_generated_renew(path, DAVY_GENERATED_COMMENT, body, &u->version)
		   : -ENOMEM;
	free(body);
	err = err == -EALREADY ? 0 : unit_files_say(err, path);
	if (!err && service)
		service->rules_count = rules;
	return err;
}

void davy_unit_files_unset(struct davy_agent *a, const char *name, struct davy_process_start *start)
{
	char path[PATH_MAX], *text = malloc(DAVY_GENERATED_MAX), *line, *rest;
	int err = davy_unit_files_path(a, name, path, sizeof(path));

	if (!err && text && davy_read_file(path, text, DAVY_GENERATED_MAX) > 0) {
		for (rest = text; (line = strsep(&rest, "\n"));) {
			char *value = strchr(line, '=');

			if (line[0] == '#' || !value || value == line)
				continue;
			*value = 0;
			davy_process_start_unset(start, line);
		}
	}
	free(text);
}

static int write_drop_in(struct davy_agent *a, struct davy_adopted_unit *u)
{
	char dir[PATH_MAX], path[PATH_MAX], body[PATH_MAX + 256];
	int err = drop_in_path(u->unit, dir, path, sizeof(path));

	if (err)
		return unit_files_say(err, u->unit);
	err = davy_make_dir(dir);
	if (err && err != -EEXIST)
		return unit_files_say(err, dir);
	u->made_dir |= !err;
	snprintf(body, sizeof(body),
		 "# 'davylamp policy release %s' removes it.\n"
		 "[Service]\nEnvironmentFile=-%s/%s.env\n",
		 u->unit, a->units->dir, u->unit);
	return unit_files_say(davy_generated_write(path, 1, body), path);
}

int davy_unit_files_make(struct davy_agent *a, struct davy_adopted_unit *u)
{
	const struct davy_environment nothing = { 0 };
	char dir[PATH_MAX];
	int err = davy_root_path(dir, sizeof(dir), "%s", a->units->dir);

	if (!err)
		err = davy_make_dirs(dir);
	if (err)
		return unit_files_say(err, a->units->dir);
	err = davy_unit_files_write(a, u, &nothing);
	return err || davy_container_unit(u->unit) ? err : write_drop_in(a, u);
}

static int remove_one(const char *path, json_t *kept)
{
	char aside[PATH_MAX + 8];
	int err = davy_generated_remove(path);

	if (err > 0) {
		snprintf(aside, sizeof(aside), "%s.hand", path);
		json_array_append_new(kept, json_string(aside));
	}
	return unit_files_say(err, path);
}

int davy_unit_files_remove(struct davy_agent *a, const struct davy_adopted_unit *u, json_t *kept)
{
	bool unit = !davy_container_unit(u->unit);
	char dir[PATH_MAX], path[PATH_MAX];
	int err = drop_in_path(u->unit, dir, path, sizeof(path)), more;

	if (err)
		return unit_files_say(err, u->unit);
	err = unit ? remove_one(path, kept) : 0;
	if (unit && u->made_dir)
		rmdir(dir); /* fails if the directory has other files */
	more = davy_unit_files_path(a, u->unit, path, sizeof(path));
	if (!more)
		more = remove_one(path, kept);
	return err ? err : more;
}

/* Without its drop-in, or with a changed one, the environment file has no effect. */
int davy_unit_files_check(struct davy_agent *a, const struct davy_adopted_unit *u)
{
	char dir[PATH_MAX], path[PATH_MAX];
	enum davy_generated state = DAVY_GENERATED_ABSENT;
	int err = drop_in_path(u->unit, dir, path, sizeof(path));

	(void)a;
	if (davy_container_unit(u->unit))
		return 0;
	if (!err)
		err = davy_generated_look(path, &state);
	if (err || state == DAVY_GENERATED_OURS)
		return err ? unit_files_say(err, u->unit) : 0;
	davy_log(
		"'%s' %s; davylamp changes no setting of %s until it is released and adopted again",
		path, state == DAVY_GENERATED_ABSENT ? "is gone" : "was changed by hand", u->unit);
	return -ESTALE;
}
