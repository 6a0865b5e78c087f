/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database of the test root's /state, through SQLite and not through our own code. */
#ifndef DAVY_TESTS_RAW_DB_H
#define DAVY_TESTS_RAW_DB_H

#include <sqlite3.h>

#include "store/db.h"
#include "root.h"

static inline sqlite3 *open_raw(void)
{
	char path[128];
	sqlite3 *raw;

	snprintf(path, sizeof(path), "%s/state/" DAVY_DB_NAME, root);
	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	return raw;
}

static inline void run_sql(const char *sql)
{
	sqlite3 *raw = open_raw();

	assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(raw);
}

static inline int64_t number_sql(const char *sql)
{
	sqlite3 *raw = open_raw();
	sqlite3_stmt *s;
	int64_t number;

	assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(raw);
	return number;
}

#endif
