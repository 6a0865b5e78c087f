/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"

#define BUSY_MS 200 /* the agent's loop waits for it */

/* Entry N converts schema N to N + 1. Released entries never change. */
static const char *const migrations[DAVY_DB_SCHEMA] = {
	"CREATE TABLE IF NOT EXISTS intent ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, plan INTEGER, workload INTEGER,"
	" rung INTEGER, pid INTEGER, start_ticks INTEGER,"
	" lease_until_ns INTEGER, begun_s INTEGER, boot_id TEXT, cgroup TEXT,"
	" file TEXT, key TEXT, old_value TEXT, new_value TEXT, unit TEXT,"
	" text TEXT, ended_s INTEGER, result INTEGER);"
	"CREATE INDEX IF NOT EXISTS still_open ON intent (id)"
	" WHERE ended_s IS NULL;",

	"CREATE TABLE ledger ("
	" id INTEGER PRIMARY KEY, device TEXT NOT NULL, driver TEXT NOT NULL,"
	" kernel TEXT NOT NULL, firmware TEXT NOT NULL, engine TEXT NOT NULL,"
	" backend INTEGER NOT NULL, model TEXT NOT NULL, ubatch INTEGER NOT NULL,"
	" context INTEGER NOT NULL, survived_s INTEGER NOT NULL, deepest INTEGER NOT NULL,"
	" failed_depth INTEGER NOT NULL, slowest_job_ns INTEGER NOT NULL,"
	" outcome INTEGER NOT NULL, failed_s INTEGER NOT NULL, first_s INTEGER NOT NULL,"
	" last_s INTEGER NOT NULL, UNIQUE (device, model, backend, ubatch, context, driver,"
	" kernel, firmware, engine));"
	"CREATE INDEX ledger_last ON ledger (last_s);"
	"CREATE TABLE ledger_fault ("
	" ledger INTEGER NOT NULL, class INTEGER NOT NULL, count INTEGER NOT NULL,"
	" PRIMARY KEY (ledger, class)) WITHOUT ROWID;"
	"CREATE TRIGGER ledger_gone AFTER DELETE ON ledger BEGIN"
	" DELETE FROM ledger_fault WHERE ledger = OLD.id; END;"
	"CREATE TABLE version ("
	" number INTEGER PRIMARY KEY, made_s INTEGER NOT NULL, reason TEXT NOT NULL,"
	" evidence TEXT NOT NULL, text TEXT NOT NULL, pending INTEGER NOT NULL);"
	"CREATE TABLE tuning ("
	" device TEXT NOT NULL, model TEXT NOT NULL, saved_s INTEGER NOT NULL,"
	" state BLOB NOT NULL, PRIMARY KEY (device, model)) WITHOUT ROWID;",

	"CREATE TABLE unit_setting ("
	" unit TEXT NOT NULL, setting TEXT NOT NULL, value TEXT NOT NULL,"
	" PRIMARY KEY (unit, setting)) WITHOUT ROWID;"
	"CREATE TABLE foresight ("
	" counter TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;",

	"CREATE TABLE sample ("
	" id INTEGER PRIMARY KEY, key TEXT NOT NULL, result INTEGER NOT NULL,"
	" at_s INTEGER NOT NULL, value INTEGER NOT NULL, device TEXT NOT NULL,"
	" driver TEXT NOT NULL, model TEXT NOT NULL);"
	"CREATE TRIGGER sample_old AFTER INSERT ON sample BEGIN"
	" DELETE FROM sample WHERE key = NEW.key AND id <= (SELECT id FROM sample"
	" WHERE key = NEW.key ORDER BY id DESC LIMIT 1 OFFSET 1024); END;",
};

/*
 * The errno of a failure below SQLite, which has one code for most: no room for the index of the
 * write-ahead log, ...
 */
static int system_error(sqlite3 *db)
{
	int error = sqlite3_system_errno(db);

	return error == ENOSPC || error == EDQUOT ? -ENOSPC : error == EROFS ? -EROFS : -EIO;
}

/* Whether a file that cannot be opened for writing is read-only, and not a passing failure. */
static int open_error(sqlite3 *db)
{
	int error = sqlite3_system_errno(db);

	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO ? -error
										     : -EROFS;
}

static int db_error_of(sqlite3 *db, int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return -EROFS;
	case SQLITE_CANTOPEN:
		return open_error(db);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* a table is missing or has other columns */
	case SQLITE_CONSTRAINT:
		return -EBADMSG;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return system_error(db);
	}
}

int davy_db_error(struct davy_db *db, int code)
{
	return db_error_of(db->handle, code);
}

int davy_db_run(struct davy_db *db, const char *sql)
{
	return davy_db_error(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

/* Whether the file was removed or replaced by another one. */
static bool moved(struct davy_db *db)
{
	int yes = 0;

	return !sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &yes) && yes;
}

int davy_db_begin(struct davy_db *db)
{
	if (db->read_only)
		return -EROFS;
	return moved(db) ? -ESTALE : davy_db_run(db, "BEGIN IMMEDIATE");
}

int davy_db_end(struct davy_db *db, int err)
{
	int ended = err < 0 ? err : davy_db_run(db, "COMMIT");

	if (ended < 0 && !sqlite3_get_autocommit(db->handle))
		davy_db_run(db, "ROLLBACK");
	return ended < 0 ? ended : err;
}

int davy_db_sync(struct davy_db *db, bool wait)
{
	return davy_db_run(db, wait ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

int davy_db_prepare(struct davy_db *db, const char *sql, sqlite3_stmt **ret_statement)
{
	return davy_db_error(db, sqlite3_prepare_v2(db->handle, sql, -1, ret_statement, NULL));
}

int davy_db_change(struct davy_db *db, sqlite3_stmt *s)
{
	int code = sqlite3_step(s);
	int err = code == SQLITE_DONE ? sqlite3_changes(db->handle) : davy_db_error(db, code);

	sqlite3_finalize(s);
	return err;
}

bool davy_db_take_number(sqlite3_stmt *s, int column, uint32_t *ret_number)
{
	int64_t value = sqlite3_column_int64(s, column);

	*ret_number = (uint32_t)value;
	return value >= 0 && value <= UINT32_MAX;
}

bool davy_db_take_time(sqlite3_stmt *s, int column, int64_t *ret_seconds)
{
	*ret_seconds = sqlite3_column_int64(s, column);
	return *ret_seconds >= 0;
}

/* A truncated text would be another path or value. */
bool davy_db_take_text(sqlite3_stmt *s, int column, char *buf, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	size_t bytes = (size_t)sqlite3_column_bytes(s, column);

	if (!text || bytes >= size || strlen(text) != bytes)
		return false;
	memcpy(buf, text, bytes + 1);
	return true;
}

static int read_schema(struct davy_db *db)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(db->handle, "PRAGMA user_version", -1, &s, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		db->schema = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return davy_db_error(db, code);
}

/* quick_check returns one row "ok", or the errors: also a failed read. */
static int check_whole(struct davy_db *db)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &s, NULL);
	const unsigned char *said = NULL;
	bool ok = false;

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		said = sqlite3_column_text(s, 0);
	ok = said && !strcmp((const char *)said, "ok");
	sqlite3_finalize(s);
	if (code == SQLITE_ROW)
		return ok ? 0 : said ? -EBADMSG : -ENOMEM;
	return davy_db_error(db, code);
}

/*
 * Reads every byte. Reads the database through SQLite's own descriptor: closing another one would
 * release this process's locks (fcntl).
 */
static int db_readable(struct davy_db *db)
{
	char page[4096], wal[PATH_MAX + 8];
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;
	int code = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	ssize_t n;

	if (code == SQLITE_OK && file && file->pMethods)
		code = file->pMethods->xFileSize(file, &size);
	for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += (int)sizeof(page))
		code = file->pMethods->xRead(file, page, sizeof(page), at);
	if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
		return -EIO;
	snprintf(wal, sizeof(wal), "%s-wal", sqlite3_db_filename(db->handle, "main"));
	DAVY_FD fd = open(wal, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	do
		n = read(fd, page, sizeof(page));
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

/* Runs one step; another program may have run it while this one waited to write. */
static int migrate_once(struct davy_db *db)
{
	char number[48];
	int err = davy_db_run(db, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = read_schema(db);
	if (!err && db->schema < DAVY_DB_SCHEMA) {
		err = davy_db_run(db, migrations[db->schema]);
		snprintf(number, sizeof(number), "PRAGMA user_version = %d", db->schema + 1);
		if (!err)
			err = davy_db_run(db, number);
		db->schema++;
	}
	return davy_db_end(db, err);
}

static int db_set_up(struct davy_db *db)
{
	int err;

	db->read_only = sqlite3_db_readonly(db->handle, "main") == 1;
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	if (!db->read_only) /* without a write-ahead log where it cannot be created */
		davy_db_run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
	err = read_schema(db);
	if (!err && (db->schema < 0 || db->schema > DAVY_DB_SCHEMA))
		return -ENOTSUP;
	if (!err)
		err = check_whole(db);
	if (!err && db->read_only && !db->schema)
		err = -EROFS; /* it is empty */
	while (!err && !db->read_only && db->schema < DAVY_DB_SCHEMA)
		err = migrate_once(db);
	return err;
}

static int open_once(const char *name, int flags, struct davy_db **ret_db)
{
	struct davy_db *db = calloc(1, sizeof(*db));
	int code, err;

	if (!db)
		return -ENOMEM;
	code = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
	err = davy_db_error(db, code);
	if (!err)
		err = db_set_up(db);
	if (err == -EBADMSG && db_readable(db))
		err = -EIO;
	if (err)
		davy_db_close(db);
	else
		*ret_db = db;
	return err;
}

/* SQLite may report a failed read as corruption: corrupt is what fails twice and can be read. */
static int open_as(const char *name, int flags, struct davy_db **ret_db)
{
	int err = open_once(name, flags, ret_db);

	return err == -EBADMSG ? open_once(name, flags, ret_db) : err;
}

/*
 * Without a write-ahead log, SQLite would create one even to read. The flag tells it that no
 * program changes the file. A blank or a '%' in its name would have to be escaped.
 */
static int open_unchanging(const char *path, struct davy_db **ret_db)
{
	char uri[PATH_MAX + 32];
	bool logged;
	int err;

	if (access(path, R_OK))
		return errno == EACCES ? -EACCES : -EROFS;
	if (path[strcspn(path, "%?# ")])
		return -EROFS;
	snprintf(uri, sizeof(uri), "%s-wal", path);
	logged = !access(uri, F_OK);
	snprintf(uri, sizeof(uri), "file:%s?immutable=1", path);
	err = open_as(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, ret_db);
	/* without its log, which is not read here, an intact file may look corrupt */
	return err == -EBADMSG && logged ? -EROFS : err;
}

static int db_path_of(char *path, size_t size, const char *dir)
{
	return davy_root_path(path, size, "%s/%s", dir, DAVY_DB_NAME);
}

static int make_dir(const char *dir)
{
	char path[PATH_MAX];
	int err = davy_root_path(path, sizeof(path), "%s", dir);

	if (!err)
		davy_make_dirs(path); /* on a failure, the next call reports the error */
	return err;
}

/* The write-ahead log and its index: SQLite creates them with the mode of the file. */
static const char *const parts[] = { "", "-wal", "-shm" };
#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

/* An earlier agent may have created them with another umask. */
static void db_keep_others_out(const char *path)
{
	char part[PATH_MAX + 8];

	for (size_t i = 0; i < PART_COUNT; i++) {
		snprintf(part, sizeof(part), "%s%s", path, parts[i]);
		chmod(part, 0600);
	}
}

int davy_db_open(const char *dir, enum davy_db_open how, struct davy_db **ret_db)
{
	int flags = SQLITE_OPEN_READWRITE | (how == DAVY_DB_MAKE ? SQLITE_OPEN_CREATE : 0);
	char path[PATH_MAX];
	mode_t mask;
	int err = db_path_of(path, sizeof(path), dir);

	if (!err && strlen(dir) >= DAVY_DB_DIR)
		err = -ENAMETOOLONG;
	if (!err && how == DAVY_DB_MAKE)
		err = make_dir(dir);
	if (!err && how == DAVY_DB_THERE && access(path, F_OK))
		err = -errno;
	if (err)
		return err;
	db_keep_others_out(path);
	mask = umask(077);
	err = open_as(path, flags, ret_db);
	umask(mask);
	if (err == -EROFS)
		err = open_unchanging(path, ret_db);
	if (!err)
		memcpy((*ret_db)->dir, dir, strlen(dir) + 1);
	return err;
}

void davy_db_close(struct davy_db *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	free(db);
}

int davy_db_set_aside(const char *dir)
{
	char path[PATH_MAX], from[PATH_MAX + 8], to[PATH_MAX + 16];
	int err = db_path_of(path, sizeof(path), dir);

	for (size_t i = 0; !err && i < PART_COUNT; i++) {
		snprintf(from, sizeof(from), "%s%s", path, parts[i]);
		snprintf(to, sizeof(to), "%s.bad%s", path, parts[i]);
		if (rename(from, to) && errno != ENOENT)
			err = -errno;
	}
	return err;
}

const char *davy_db_why(int err)
{
	switch (err) {
	case -EBADMSG:
		return "is no database, or corrupt; an agent renames it to .bad when it starts";
	case -ENOTSUP:
		return "was written by a newer davylamp; use that one, or move it away";
	case -EROFS:
		return "is read-only, or cannot be created";
	case -EBUSY:
		return "another program writes to it; try again";
	case -EUCLEAN:
		return "a file of an older davylamp beside it is invalid, and was renamed to .bad";
	default:
		return strerror(-err);
	}
}
