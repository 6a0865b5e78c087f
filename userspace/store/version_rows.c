/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/version_rows.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/layer_text.h"

#define SCHEMA 2 /* older schemas have no versions */

static const char select_rows[] =
	"SELECT number, made_s, reason, evidence, text, pending FROM version "
	"WHERE (?1 = 0 OR number = ?1) AND (?2 = 0 OR pending = 0) ORDER BY number DESC";

static const char prune[] = "DELETE FROM version WHERE pending = 0 AND number NOT IN "
			    "(SELECT number FROM version ORDER BY number DESC LIMIT ?1)";

static bool version_rows_take_text(sqlite3_stmt *s, int column, struct davy_version_row *row)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	size_t bytes = (size_t)sqlite3_column_bytes(s, column);
	char error[DAVY_LAYER_ERROR_LEN];

	row->version.size = bytes;
	row->text = NULL;
	if (!text || bytes >= DAVY_GENERATED_MAX || davy_layer_lines_check("", text, bytes, error))
		return false;
	row->text = strdup(text);
	return row->text != NULL;
}

static bool version_rows_take(sqlite3_stmt *s, struct davy_version_row *row)
{
	struct davy_version *v = &row->version;

	memset(row, 0, sizeof(*row));
	row->pending = sqlite3_column_int(s, 5) != 0;
	return davy_db_take_number(s, 0, &v->number) && davy_db_take_time(s, 1, &v->made_s) &&
	       davy_db_take_text(s, 2, v->reason, sizeof(v->reason)) &&
	       davy_db_take_text(s, 3, v->evidence, sizeof(v->evidence)) &&
	       version_rows_take_text(s, 4, row);
}

static int prepare_select(struct davy_db *db, uint32_t number, bool settled, sqlite3_stmt **ret_s)
{
	int err = db->schema < SCHEMA ? -ENOENT : davy_db_prepare(db, select_rows, ret_s);

	if (!err) {
		sqlite3_bind_int64(*ret_s, 1, number);
		sqlite3_bind_int(*ret_s, 2, settled);
	}
	return err;
}

int davy_version_row(struct davy_db *db, uint32_t number, bool settled,
		     struct davy_version_row *ret_row)
{
	sqlite3_stmt *s;
	int code, err = prepare_select(db, number, settled, &s);

	if (err)
		return err;
	do {
		code = sqlite3_step(s);
		err = code == SQLITE_ROW    ? (version_rows_take(s, ret_row) ? 0 : -EBADMSG)
		      : code == SQLITE_DONE ? -ENOENT
					    : davy_db_error(db, code);
	} while (code == SQLITE_ROW && err && !number);
	sqlite3_finalize(s);
	return err;
}

int davy_versions_each(struct davy_db *db,
		       void (*found)(void *arg, const struct davy_version *version), void *arg)
{
	sqlite3_stmt *s;
	int code, shown = 0, err = prepare_select(db, 0, true, &s);

	if (err)
		return err == -ENOENT ? 0 : err;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct davy_version_row row;

		if (!version_rows_take(s, &row))
			continue;
		free(row.text);
		row.version.current = !shown++;
		found(arg, &row.version);
	}
	sqlite3_finalize(s);
	return code == SQLITE_DONE ? shown : davy_db_error(db, code);
}

int davy_version_row_last(struct davy_db *db, uint32_t *ret_number)
{
	sqlite3_stmt *s;
	int code, err;

	*ret_number = 0;
	if (db->schema < SCHEMA)
		return 0;
	err = davy_db_prepare(db, "SELECT max(number) FROM version", &s);
	if (err)
		return err;
	code = sqlite3_step(s);
	if (code == SQLITE_ROW && !davy_db_take_number(s, 0, ret_number))
		err = -EBADMSG;
	else
		err = davy_db_error(db, code);
	sqlite3_finalize(s);
	return err;
}

/* Runs a statement about one number, in a transaction of the caller. */
static int version_rows_change(struct davy_db *db, const char *sql, uint32_t number)
{
	sqlite3_stmt *s;
	int err = davy_db_prepare(db, sql, &s);

	if (err)
		return err;
	sqlite3_bind_int64(s, 1, number);
	err = davy_db_change(db, s);
	return err < 0 ? err : 0;
}

int davy_version_row_add(struct davy_db *db, const struct davy_version_row *row)
{
	const char *const texts[] = { row->version.reason, row->version.evidence, row->text };
	sqlite3_stmt *s;
	int err = davy_db_begin(db);

	if (err)
		return err;
	err = davy_db_prepare(db, "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?)", &s);
	if (err)
		return davy_db_end(db, err);
	sqlite3_bind_int64(s, 1, row->version.number);
	sqlite3_bind_int64(s, 2, row->version.made_s);
	for (int i = 0; i < 3; i++)
		sqlite3_bind_text(s, 3 + i, texts[i], -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(s, 6, row->pending);
	err = davy_db_change(db, s);
	return davy_db_end(db, err < 0 ? err : 0);
}

int davy_version_row_drop(struct davy_db *db, uint32_t number)
{
	int err = davy_db_begin(db);

	if (err)
		return err;
	return davy_db_end(
		db, version_rows_change(db, "DELETE FROM version WHERE number = ?1", number));
}

int davy_version_row_settle(struct davy_db *db, uint32_t number)
{
	int err = davy_db_begin(db);

	if (err)
		return err;
	err = version_rows_change(db, "UPDATE version SET pending = 0 WHERE number = ?1", number);
	if (!err)
		err = version_rows_change(db, prune, DAVY_VERSIONS_KEPT);
	return davy_db_end(db, err);
}
