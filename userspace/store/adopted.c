/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/adopted.h"

#include <errno.h>
#include <ini.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/kept.h"
#include "store/setting.h"

#define AT(member)	   #member, DAVY_SETTING_AT(struct davy_adopted_unit, member)
#define IN(settings, name) name, DAVY_SETTING_AT(struct davy_adopted_unit, settings)
#define OF_BACKEND	   DAVY_BACKEND_COUNT - 1, davy_setting_backend
#define OF_HAZARD	   DAVY_HZ_COUNT - 1, davy_setting_hazard

/* For an unproven change, "was_..." has the previous setting. */
static const struct davy_setting settings[] = {
	{ AT(version), UINT32_MAX, NULL },
	{ AT(made_dir), 1, NULL },
	{ AT(stopped), 1, NULL },
	{ AT(capped), 1, NULL },
	{ AT(memory_high), UINT64_MAX, NULL },
	{ AT(cpu_quota), UINT64_MAX, NULL },
	{ AT(derived), 0, NULL },
	{ AT(backend), OF_BACKEND },
	{ AT(shrunk_for), OF_HAZARD },
	{ AT(moved_for), OF_HAZARD },
	{ AT(moved_from), OF_BACKEND },
	{ AT(before_cpu), OF_BACKEND },
	{ AT(moved_off), 0, NULL },
	{ AT(unproven), 1, NULL },
	{ AT(was_backend), OF_BACKEND },
	{ IN(settings.ubatch, "ubatch"), INT32_MAX, NULL },
	{ IN(settings.context, "context"), INT32_MAX, NULL },
	{ IN(settings.parallel, "parallel"), INT32_MAX, NULL },
	{ IN(settings.cache_type, "cache_type"), DAVY_TUNER_CACHE_COUNT - 1, NULL },
	{ IN(settings.gpu_layers_off, "gpu_layers_off"), UINT16_MAX, NULL },
	{ IN(was_settings.ubatch, "was_ubatch"), INT32_MAX, NULL },
	{ IN(was_settings.context, "was_context"), INT32_MAX, NULL },
	{ IN(was_settings.parallel, "was_parallel"), INT32_MAX, NULL },
	{ IN(was_settings.cache_type, "was_cache_type"), DAVY_TUNER_CACHE_COUNT - 1, NULL },
	{ IN(was_settings.gpu_layers_off, "was_gpu_layers_off"), UINT16_MAX, NULL },
	{ 0 },
};

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

/*
 * In units.conf, a section is "unit 1" (libinih limits it to 50 bytes) and its first line is the
 * name.
 */
static int adopted_on_line(void *arg, const char *section, const char *key, const char *value)
{
	struct davy_adopted *adopted = arg;

	if (strncmp(section, "unit ", 5) != 0)
		return 0;
	if (!strcmp(key, "unit"))
		return !davy_adopted_find(adopted, value) && davy_adopted_add(adopted, value);
	return adopted->count &&
	       davy_setting_set(settings, &adopted->unit[adopted->count - 1], key, value);
}

static int adopted_parse(void *state, const char *text)
{
	int line = ini_parse_string(text, adopted_on_line, state);

	return line > 0 ? -EBADMSG : line ? -ENOMEM : 0;
}

static int adopted_take(void *state, struct davy_db *db, sqlite3_stmt *s)
{
	char unit[DAVY_UNIT_LEN], name[64], value[DAVY_SETTING_LEN];
	struct davy_adopted_unit *u;
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		if (!davy_db_take_text(s, 0, unit, sizeof(unit)) ||
		    !davy_db_take_text(s, 1, name, sizeof(name)) ||
		    !davy_db_take_text(s, 2, value, sizeof(value)))
			return sqlite3_errcode(db->handle) == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
		u = davy_adopted_find(state, unit);
		if (!u)
			u = davy_adopted_add(state, unit);
		if (!u || !davy_setting_set(settings, u, name, value))
			return -EBADMSG;
	}
	return davy_db_error(db, code);
}

static int adopted_put(void *state, struct davy_db *db, sqlite3_stmt *s)
{
	const struct davy_adopted *adopted = state;
	char value[DAVY_SETTING_LEN];
	int code = SQLITE_DONE;

	for (size_t i = 0; i < adopted->count; i++) {
		const struct davy_adopted_unit *u = &adopted->unit[i];

		for (size_t j = 0; code == SQLITE_DONE && settings[j].name; j++) {
			davy_setting_text(&settings[j], u, value);
			code = sqlite3_bind_text(s, 1, u->unit, -1, SQLITE_TRANSIENT) ||
					       sqlite3_bind_text(s, 2, settings[j].name, -1,
								 SQLITE_STATIC) ||
					       sqlite3_bind_text(s, 3, value, -1, SQLITE_TRANSIENT)
				       ? SQLITE_NOMEM
				       : sqlite3_step(s);
			sqlite3_reset(s);
		}
	}
	return davy_db_error(db, code);
}

static const struct davy_kept kept = {
	.size = sizeof(struct davy_adopted),
	.old_file = DAVY_ADOPTED_OLD_NAME,
	.select = "SELECT unit, setting, value FROM unit_setting ORDER BY unit",
	.clear = "DELETE FROM unit_setting",
	.insert = "INSERT INTO unit_setting (unit, setting, value) VALUES (?1, ?2, ?3)",
	.parse = adopted_parse,
	.take = adopted_take,
	.put = adopted_put,
};

int davy_adopted_load(const char *dir, struct davy_adopted *ret_adopted)
{
	return davy_kept_load(dir, &kept, ret_adopted);
}

int davy_adopted_save(const char *dir, struct davy_adopted *adopted)
{
	return davy_kept_save(dir, &kept, adopted);
}

int davy_adopted_uncapped(const char *dir, const char *unit)
{
	struct davy_db *db = NULL;
	sqlite3_stmt *s = NULL;
	int err = davy_db_open(dir, DAVY_DB_THERE, &db);

	if (!err)
		err = davy_db_prepare(db,
				      "UPDATE unit_setting SET value = '0' "
				      "WHERE unit = ?1 AND setting = 'capped'",
				      &s);
	if (!err)
		err = davy_db_error(db, sqlite3_bind_text(s, 1, unit, -1, SQLITE_TRANSIENT));
	if (!err)
		err = davy_db_change(db, s);
	else
		sqlite3_finalize(s);
	davy_db_close(db);
	return err < 0 ? err : 0;
}
