/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/kept.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"

#define SCHEMA	 3 /* older schemas have no tables for it */
#define FILE_MAX ((size_t)128 * 1024)

static int kept_write(const struct davy_kept *k, void *state, struct davy_db *db)
{
	sqlite3_stmt *s = NULL;
	int err = davy_db_begin(db);

	if (err)
		return err;
	err = davy_db_run(db, k->clear);
	if (!err)
		err = davy_db_prepare(db, k->insert, &s);
	if (!err)
		err = k->put(state, db, s);
	sqlite3_finalize(s);
	return davy_db_end(db, err);
}

int davy_kept_save(const char *dir, const struct davy_kept *k, void *state)
{
	struct davy_db *db = NULL;
	int err = davy_db_open(dir, DAVY_DB_MAKE, &db);

	if (!err && !db->read_only)
		err = davy_db_sync(db, true);
	if (!err)
		err = kept_write(k, state, db);
	davy_db_close(db);
	return err;
}

/* If the agent is killed before the rename, the import is repeated: nothing was changed yet. */
static int kept_import(const char *dir, const struct davy_kept *k, void *state)
{
	char path[PATH_MAX], aside[PATH_MAX + 16], *text = NULL;
	int err = davy_root_path(path, sizeof(path), "%s/%s", dir, k->old_file), bad = 0;
	ssize_t n;

	if (err || (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR)))
		return err;
	text = malloc(FILE_MAX);
	n = text ? davy_read_whole(path, text, FILE_MAX) : -ENOMEM;
	if (n >= 0)
		bad = strlen(text) == (size_t)n ? k->parse(state, text) : -EBADMSG;
	free(text);
	if (n < 0 || (bad && bad != -EBADMSG))
		return n < 0 ? (int)n : bad;
	err = bad ? 0 : davy_kept_save(dir, k, state);
	snprintf(aside, sizeof(aside), "%s.%s", path, bad ? "bad" : "imported");
	if (!err && rename(path, aside))
		err = -errno;
	return err ? err : bad ? -EUCLEAN : 0;
}

static int kept_read(const struct davy_kept *k, void *state, struct davy_db *db)
{
	sqlite3_stmt *s = NULL;
	int err = db->schema < SCHEMA ? 0 : davy_db_prepare(db, k->select, &s);

	if (!err && s)
		err = k->take(state, db, s);
	sqlite3_finalize(s);
	return err;
}

int davy_kept_load(const char *dir, const struct davy_kept *k, void *ret_state)
{
	struct davy_db *db = NULL;
	int err;

	memset(ret_state, 0, k->size);
	err = kept_import(dir, k, ret_state);
	memset(ret_state, 0, k->size);
	if (!err)
		err = davy_db_open(dir, DAVY_DB_THERE, &db);
	if (err == -ENOENT || err == -ENOTDIR)
		return 0;
	if (!err)
		err = kept_read(k, ret_state, db);
	davy_db_close(db);
	if (err)
		memset(ret_state, 0, k->size);
	return err;
}
