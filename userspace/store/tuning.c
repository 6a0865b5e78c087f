/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/tuning.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>

#define SCHEMA 2 /* older schemas have no table for it */

static const char replace[] = "INSERT OR REPLACE INTO tuning (device, model, saved_s, state) "
			      "VALUES (?1, ?2, ?3, ?4)";

static const char prune[] =
	"DELETE FROM tuning WHERE (device, model) IN (SELECT device, model FROM tuning "
	"ORDER BY saved_s LIMIT max(0, (SELECT count(*) FROM tuning) - ?1))";

static int tuning_put(struct davy_db *db, const char *device, const char *model, const void *state,
		      size_t size)
{
	sqlite3_stmt *s;
	int err = davy_db_prepare(db, replace, &s);

	if (err)
		return err;
	sqlite3_bind_text(s, 1, device, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(s, 2, model, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(s, 3, time(NULL));
	sqlite3_bind_blob(s, 4, state, (int)size, SQLITE_TRANSIENT);
	return davy_db_change(db, s);
}

static int tuning_prune_rows(struct davy_db *db)
{
	sqlite3_stmt *s;
	int err = davy_db_prepare(db, prune, &s);

	if (err)
		return err;
	sqlite3_bind_int(s, 1, DAVY_TUNING_ROWS);
	return davy_db_change(db, s);
}

int davy_tuning_save(struct davy_db *db, const char *device, const char *model, const void *state,
		     size_t size)
{
	int err = size > DAVY_TUNING_MAX ? -EFBIG : davy_db_begin(db);

	if (err)
		return err;
	err = tuning_put(db, device, model, state, size);
	if (err >= 0)
		err = tuning_prune_rows(db);
	return davy_db_end(db, err < 0 ? err : 0);
}

int davy_tuning_load(struct davy_db *db, const char *device, const char *model, void *ret_state,
		     size_t size)
{
	sqlite3_stmt *s;
	int code, err;

	if (db->schema < SCHEMA)
		return -ENOENT;
	err = davy_db_prepare(db, "SELECT state FROM tuning WHERE device = ?1 AND model = ?2", &s);
	if (err)
		return err;
	sqlite3_bind_text(s, 1, device, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(s, 2, model, -1, SQLITE_TRANSIENT);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		err = code == SQLITE_DONE ? -ENOENT : davy_db_error(db, code);
	else if ((size_t)sqlite3_column_bytes(s, 0) != size)
		err = -EPROTONOSUPPORT;
	else
		memcpy(ret_state, sqlite3_column_blob(s, 0), size);
	sqlite3_finalize(s);
	return err;
}
