/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/intents.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/file.h"
#include "store/db.h"

#define COLUMNS                                                                                    \
	"plan, workload, rung, pid, start_ticks, lease_until_ns, begun_s, boot_id, cgroup, file, " \
	"key, old_value, new_value, unit, text"

enum statement {
	BEGIN,
	CLOSE,
	NEXT,
	COUNT,
	FORGET,
	STATEMENT_COUNT
};

static const char *const statements[STATEMENT_COUNT] = {
	[BEGIN] = "INSERT INTO intent (" COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[CLOSE] = "UPDATE intent SET ended_s = ?, result = ? WHERE id = ? AND ended_s IS NULL",
	[NEXT] = "SELECT id, " COLUMNS " FROM intent WHERE ended_s IS NULL AND id < ? "
		 "ORDER BY id DESC LIMIT 1",
	[COUNT] = "SELECT count(*) FROM intent WHERE ended_s IS NULL",
	[FORGET] = "DELETE FROM intent WHERE ended_s IS NOT NULL AND id <= ?",
};

struct davy_intents {
	struct davy_db *db;
	sqlite3_stmt *prepared[STATEMENT_COUNT];
};

void davy_boot_id(char ret_id[DAVY_BOOT_ID_LEN])
{
	char path[PATH_MAX], text[64];

	ret_id[0] = 0;
	if (davy_root_path(path, sizeof(path), "/proc/sys/kernel/random/boot_id") ||
	    davy_read_file(path, text, DAVY_BOOT_ID_LEN) < 0)
		return;
	text[strcspn(text, "\n")] = 0;
	memcpy(ret_id, text, strlen(text) + 1);
}

static int intents_prepare(struct davy_intents *in)
{
	int err = 0;

	for (size_t i = 0; !err && i < STATEMENT_COUNT; i++)
		err = davy_db_error(in->db, sqlite3_prepare_v3(in->db->handle, statements[i], -1,
							       SQLITE_PREPARE_PERSISTENT,
							       &in->prepared[i], NULL));
	return err;
}

int davy_intents_open(const char *dir, struct davy_intents **ret_intents)
{
	struct davy_intents *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	err = davy_db_open(dir, DAVY_DB_MAKE, &in->db);
	if (!err)
		err = intents_prepare(in);
	if (err)
		davy_intents_close(in);
	else
		*ret_intents = in;
	return err;
}

void davy_intents_close(struct davy_intents *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(in->prepared[i]);
	davy_db_close(in->db);
	free(in);
}

/* Runs a statement that changes rows. Returns the number of changed rows, or -errno. */
static int intents_run(struct davy_intents *in, enum statement which)
{
	sqlite3_stmt *s = in->prepared[which];
	int code = sqlite3_step(s);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return code == SQLITE_DONE ? sqlite3_changes(in->db->handle) : davy_db_error(in->db, code);
}

static int count_open(struct davy_intents *in, int64_t *ret_count)
{
	sqlite3_stmt *s = in->prepared[COUNT];
	int code = sqlite3_step(s);

	*ret_count = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_reset(s);
	return davy_db_error(in->db, code);
}

static void bind_all(sqlite3_stmt *s, const struct davy_intent *i)
{
	const int64_t numbers[] = { i->plan,
				    i->workload,
				    i->action,
				    i->pid,
				    (int64_t)i->start_ticks,
				    (int64_t)i->lease_until_ns,
				    i->begun_s };
	const char *const texts[] = { i->boot_id,   i->cgroup,	  i->file, i->key,
				      i->old_value, i->new_value, i->unit, i->text };
	int at = 1;

	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		sqlite3_bind_int64(s, at++, numbers[n]);
	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++)
		sqlite3_bind_text(s, at++, texts[n], -1, SQLITE_TRANSIENT);
}

int64_t davy_intent_begin(struct davy_intents *in, struct davy_intent *intent)
{
	int64_t open;
	int err;

	if (!in)
		return -EROFS;
	err = count_open(in, &open);
	if (err)
		return err;
	if (open >= DAVY_INTENTS_OPEN)
		return -EUSERS;
	intent->begun_s = time(NULL);
	davy_boot_id(intent->boot_id);
	bind_all(in->prepared[BEGIN], intent);
	err = intents_run(in, BEGIN);
	if (err < 0)
		return err;
	intent->id = sqlite3_last_insert_rowid(in->db->handle);
	return intent->id;
}

int davy_intent_close(struct davy_intents *in, int64_t id, int result)
{
	int err;

	if (!in)
		return -EROFS;
	sqlite3_bind_int64(in->prepared[CLOSE], 1, time(NULL));
	sqlite3_bind_int(in->prepared[CLOSE], 2, result);
	sqlite3_bind_int64(in->prepared[CLOSE], 3, id);
	err = intents_run(in, CLOSE);
	if (err <= 0)
		return err ? err : -ENOENT;
	sqlite3_bind_int64(in->prepared[FORGET], 1, id - DAVY_INTENTS_KEPT);
	intents_run(in, FORGET); /* otherwise with the next one */
	return 0;
}

static bool intents_take(sqlite3_stmt *s, struct davy_intent *i)
{
	memset(i, 0, sizeof(*i));
	i->id = sqlite3_column_int64(s, 0);
	i->start_ticks = (uint64_t)sqlite3_column_int64(s, 5);
	i->lease_until_ns = (uint64_t)sqlite3_column_int64(s, 6);
	i->begun_s = sqlite3_column_int64(s, 7);
	return davy_db_take_number(s, 1, &i->plan) && davy_db_take_number(s, 2, &i->workload) &&
	       davy_db_take_number(s, 3, &i->action) && davy_db_take_number(s, 4, &i->pid) &&
	       davy_db_take_text(s, 8, i->boot_id, sizeof(i->boot_id)) &&
	       davy_db_take_text(s, 9, i->cgroup, sizeof(i->cgroup)) &&
	       davy_db_take_text(s, 10, i->file, sizeof(i->file)) &&
	       davy_db_take_text(s, 11, i->key, sizeof(i->key)) &&
	       davy_db_take_text(s, 12, i->old_value, sizeof(i->old_value)) &&
	       davy_db_take_text(s, 13, i->new_value, sizeof(i->new_value)) &&
	       davy_db_take_text(s, 14, i->unit, sizeof(i->unit)) &&
	       davy_db_take_text(s, 15, i->text, sizeof(i->text));
}

int davy_intents_each_open(struct davy_intents *in,
			   void (*found)(void *arg, const struct davy_intent *intent), void *arg)
{
	struct davy_intent intent = { .id = INT64_MAX };
	int code, shown = 0;
	bool good;

	if (!in)
		return -EROFS;
	/* One query for each row: "found" may close the intent that it receives. */
	for (;;) {
		sqlite3_stmt *s = in->prepared[NEXT];

		sqlite3_bind_int64(s, 1, intent.id);
		code = sqlite3_step(s);
		good = code == SQLITE_ROW && intents_take(s, &intent);
		sqlite3_reset(s);
		if (code != SQLITE_ROW)
			return code == SQLITE_DONE ? shown : davy_db_error(in->db, code);
		if (!good) {
			davy_intent_close(in, intent.id, -EBADMSG);
			continue;
		}
		found(arg, &intent);
		shown++;
	}
}
