/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory's database: one SQLite file for the log of intents, the ledger with what the
 * tuner knows, the versions of the agent's policy layer, the adopted units and the counters of
 * foresight. Several connections, of several programs, may be open at a time; none waits longer
 * than 200 ms for another.
 *
 * PRAGMA user_version tells the schema: 1 has the intents, 2 the ledger and the versions as well, 3
 * the units and the counters of foresight, 4 the samples of alarms.
 * An older file is brought up to date when it is opened to be written, one transaction a step.
 *
 * Errors, of all that is kept in it: -ENOENT (there is none), -EACCES (it may not be read),
 * -ENOSPC, -EROFS (read only, or not to be made), -EIO, -EBUSY (another program writes), -EBADMSG
 * (no database, or corrupt), -ENOTSUP (of a newer davylamp), -ESTALE (put aside or removed since it
 * was opened: close it and open anew).
 *
 * The write-ahead log is not synced at each transaction: a killed program loses none of what was
 * committed, a power failure perhaps the last ones. davy_db_sync makes a connection wait for the
 * disk.
 */
#ifndef DAVY_DB_H
#define DAVY_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_DB_NAME   "davylamp.db"
#define DAVY_DB_SCHEMA 4
#define DAVY_DB_DIR    512

enum davy_db_open {
	DAVY_DB_MAKE,  /* created with its directory if it is missing */
	DAVY_DB_THERE, /* -ENOENT if it is missing */
};

struct sqlite3;
struct sqlite3_stmt;

struct davy_db {
	struct sqlite3 *handle;
	int schema;	/* less than DAVY_DB_SCHEMA only if it is read-only */
	bool read_only; /* writing is refused with -EROFS */
	char dir[DAVY_DB_DIR];
};

/* Opens DIR/davylamp.db, only if it is intact (PRAGMA quick_check). */
int davy_db_open(const char *dir, enum davy_db_open how, struct davy_db **ret_db);
void davy_db_close(struct davy_db *db);

/* Renames a database with -EBADMSG to davylamp.db.bad, with its log; it must be closed. */
int davy_db_set_aside(const char *dir);

/* The text for an error of opening; for the errors of this file it is clearer than strerror(). */
const char *davy_db_why(int err);

/* For store/ only. */

/* An SQLite result as 0 (also for a row and for done) or -errno. */
int davy_db_error(struct davy_db *db, int code);

/* Statements without values or rows. */
int davy_db_run(struct davy_db *db, const char *sql);

/* Begins a writing transaction. davy_db_end() commits it, or rolls it back on an error. */
int davy_db_begin(struct davy_db *db);
int davy_db_end(struct davy_db *db, int err);

/* Whether commits wait for the disk from now on. */
int davy_db_sync(struct davy_db *db, bool wait);

int davy_db_prepare(struct davy_db *db, const char *sql, struct sqlite3_stmt **ret_statement);

/* Runs and frees a statement that changes rows. Returns the number of changed rows, or -errno. */
int davy_db_change(struct davy_db *db, struct sqlite3_stmt *statement);

/* Reads a column of the current row; false: it has another form than davylamp writes. */
bool davy_db_take_number(struct sqlite3_stmt *s, int column, uint32_t *ret_number);
bool davy_db_take_time(struct sqlite3_stmt *s, int column, int64_t *ret_seconds);
bool davy_db_take_text(struct sqlite3_stmt *s, int column, char *buf, size_t size);

#endif
