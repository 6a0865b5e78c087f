/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory's database: one SQLite file for the log of intents, the ledger with what the
 * tuner knows, the versions of the agent's policy layer, the adopted units and the counters of
 * foresight. Several connections, of several programs, may be open at a time; none waits longer
 * than 200 ms for another.
 *
 * PRAGMA user_version tells the schema: 1 has the intents, 2 the ledger and the versions as well, 3
 * the units and the counters of foresight.
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
#define DAVY_DB_SCHEMA 3
#define DAVY_DB_DIR    512

enum davy_db_open {
	DAVY_DB_MAKE,  /* with its directory, if it is not there */
	DAVY_DB_THERE, /* -ENOENT if it is not */
};

struct sqlite3;
struct sqlite3_stmt;

struct davy_db {
	struct sqlite3 *handle;
	int schema;	/* less than DAVY_DB_SCHEMA only in one that can only be read */
	bool read_only; /* what writes is refused with -EROFS */
	char dir[DAVY_DB_DIR];
};

/* Opens DIR/davylamp.db. Only one that is whole (PRAGMA quick_check) is opened. */
int davy_db_open(const char *dir, enum davy_db_open how, struct davy_db **ret_db);
void davy_db_close(struct davy_db *db);

/* Puts one that is -EBADMSG aside as davylamp.db.bad, with its log; it must be closed. */
int davy_db_set_aside(const char *dir);

/* Why an open was refused, for people; errors of this file have better words than strerror. */
const char *davy_db_why(int err);

/* Only store/ uses what follows. */

/* An SQLite result as 0 (also for a row and for done) or -errno. */
int davy_db_error(struct davy_db *db, int code);

/* Statements without values or rows. */
int davy_db_run(struct davy_db *db, const char *sql);

/* A transaction that writes; davy_db_end commits it, or takes it back on an error, also its own. */
int davy_db_begin(struct davy_db *db);
int davy_db_end(struct davy_db *db, int err);

/* Whether a commit waits for the disk from now on. */
int davy_db_sync(struct davy_db *db, bool wait);

int davy_db_prepare(struct davy_db *db, const char *sql, struct sqlite3_stmt **ret_statement);

/* Runs one that changes rows, and frees it: how many it changed, or -errno. */
int davy_db_change(struct davy_db *db, struct sqlite3_stmt *statement);

/* A column of the row at hand; false: it is not in the form that we write. */
bool davy_db_take_number(struct sqlite3_stmt *s, int column, uint32_t *ret_number);
bool davy_db_take_time(struct sqlite3_stmt *s, int column, int64_t *ret_seconds);
bool davy_db_take_text(struct sqlite3_stmt *s, int column, char *buf, size_t size);

#endif
