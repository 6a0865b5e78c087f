/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/ledger.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>

#include "lib/hash.h"

#define SCHEMA 2	   /* older schemas have no ledger */
#define MOST   (1LL << 53) /* sums are limited to this */

static const char upsert[] =
	"INSERT INTO ledger (device, model, backend, ubatch, context, driver, kernel, firmware,"
	" engine, survived_s, deepest, failed_depth, slowest_job_ns, outcome, failed_s, first_s,"
	" last_s) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?16) "
	"ON CONFLICT (device, model, backend, ubatch, context, driver, kernel, firmware, engine) "
	"DO UPDATE SET survived_s = min(survived_s + excluded.survived_s, ?17),"
	" deepest = max(deepest, excluded.deepest),"
	" failed_depth = CASE WHEN failed_depth = 0 OR excluded.failed_depth = 0"
	" THEN failed_depth + excluded.failed_depth"
	" ELSE min(failed_depth, excluded.failed_depth) END,"
	" slowest_job_ns = max(slowest_job_ns, excluded.slowest_job_ns),"
	" outcome = excluded.outcome, failed_s = max(failed_s, excluded.failed_s),"
	" first_s = min(first_s, excluded.first_s), last_s = max(last_s, excluded.last_s) "
	"RETURNING id";

static const char add_fault[] =
	"INSERT INTO ledger_fault (ledger, class, count) VALUES (?1, ?2, ?3) "
	"ON CONFLICT (ledger, class) DO UPDATE SET count = min(count + excluded.count, ?4)";

static const char prune[] =
	"DELETE FROM ledger WHERE id IN (SELECT id FROM ledger ORDER BY last_s, id "
	"LIMIT max(0, (SELECT count(*) FROM ledger) - ?1))";

static const char select_rows[] =
	"SELECT id, device, model, backend, ubatch, context, driver, kernel, firmware, engine,"
	" survived_s, deepest, failed_depth, slowest_job_ns, outcome, failed_s, first_s, last_s "
	"FROM ledger WHERE (?1 = '' OR device = ?1) AND (?2 = '' OR model = ?2) "
	"AND (?3 = 0 OR backend = ?3) ORDER BY last_s DESC, id DESC";

static const char select_faults[] = "SELECT class, count FROM ledger_fault WHERE ledger = ?1";

static const char delete_rows[] = "DELETE FROM ledger WHERE (?1 = '' OR device = ?1) "
				  "AND (?2 = '' OR model = ?2)";
static const char delete_tuning[] = "DELETE FROM tuning WHERE (?1 = '' OR device = ?1) "
				    "AND (?2 = '' OR model = ?2)";
static const char delete_samples[] = "DELETE FROM sample WHERE (?1 = '' OR device = ?1) "
				     "AND (?2 = '' OR model = ?2)";

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

static void bind_number(sqlite3_stmt *s, int at, uint64_t number)
{
	sqlite3_bind_int64(s, at, number < MOST ? (int64_t)number : MOST);
}

static bool ledger_failed(const struct davy_ledger_entry *e)
{
	for (size_t i = 1; i < DAVY_CLASS_COUNT; i++)
		if (e->faults[i])
			return true;
	return e->outcome != DAVY_CLASS_NONE;
}

static void bind_key(sqlite3_stmt *s, const struct davy_ledger_key *k)
{
	const struct davy_ledger_environment *e = &k->environment;

	bind_text(s, 1, k->device);
	bind_text(s, 2, k->model);
	bind_number(s, 3, k->backend);
	bind_number(s, 4, k->ubatch);
	bind_number(s, 5, k->context);
	bind_text(s, 6, e->driver);
	bind_text(s, 7, e->kernel);
	bind_text(s, 8, e->firmware);
	bind_text(s, 9, e->engine);
}

/* The row's id, or -errno. */
static int64_t add_row(struct davy_db *db, const struct davy_ledger_key *key,
		       const struct davy_ledger_entry *e)
{
	int64_t now_s = e->last_s > 0 ? e->last_s : time(NULL), id = 0;
	sqlite3_stmt *s;
	int code, err = davy_db_prepare(db, upsert, &s);

	if (err)
		return err;
	bind_key(s, key);
	bind_number(s, 10, e->survived_s);
	bind_number(s, 11, e->deepest);
	bind_number(s, 12, e->failed_depth);
	bind_number(s, 13, e->slowest_job_ns);
	bind_number(s, 14, e->outcome);
	sqlite3_bind_int64(s, 15, ledger_failed(e) ? now_s : 0);
	sqlite3_bind_int64(s, 16, now_s);
	bind_number(s, 17, MOST);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW) {
		id = sqlite3_column_int64(s, 0);
		code = sqlite3_step(s); /* otherwise the statement was not executed */
	}
	err = code == SQLITE_DONE ? 0 : davy_db_error(db, code);
	sqlite3_finalize(s);
	return err ? err : id;
}

static int add_faults(struct davy_db *db, int64_t id, const struct davy_ledger_entry *e)
{
	int err = 0;

	for (uint32_t i = 1; err >= 0 && i < DAVY_CLASS_COUNT; i++) {
		sqlite3_stmt *s;

		if (!e->faults[i])
			continue;
		err = davy_db_prepare(db, add_fault, &s);
		if (err)
			return err;
		sqlite3_bind_int64(s, 1, id);
		bind_number(s, 2, i);
		bind_number(s, 3, e->faults[i]);
		bind_number(s, 4, UINT32_MAX);
		err = davy_db_change(db, s);
	}
	return err < 0 ? err : 0;
}

static int ledger_prune_rows(struct davy_db *db)
{
	sqlite3_stmt *s;
	int err = davy_db_prepare(db, prune, &s);

	if (err)
		return err;
	bind_number(s, 1, DAVY_LEDGER_ROWS);
	err = davy_db_change(db, s);
	return err < 0 ? err : 0;
}

int davy_ledger_note(struct davy_db *db, const struct davy_ledger_key *key,
		     const struct davy_ledger_entry *delta)
{
	int64_t id;
	int err = davy_db_begin(db);

	if (err)
		return err;
	id = add_row(db, key, delta);
	err = id < 0 ? (int)id : add_faults(db, id, delta);
	if (!err)
		err = ledger_prune_rows(db);
	return davy_db_end(db, err);
}

uint32_t davy_ledger_weight(const struct davy_ledger_environment *then,
			    const struct davy_ledger_environment *now)
{
	const char *const pairs[][2] = { { then->driver, now->driver },
					 { then->kernel, now->kernel },
					 { then->firmware, now->firmware },
					 { then->engine, now->engine } };
	uint32_t weight = DAVY_LEDGER_WEIGHT;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0][0] && pairs[i][1][0] && strcmp(pairs[i][0], pairs[i][1]) != 0)
			weight /= 2;
	return weight;
}

uint64_t davy_ledger_environment_stamp(const struct davy_ledger_environment *e)
{
	const char *const texts[] = { e->driver, e->kernel, e->firmware, e->engine };
	uint64_t stamp = DAVY_FNV_START;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		stamp = davy_fnv(stamp, texts[i], strnlen(texts[i], DAVY_LEDGER_VERSION - 1) + 1);
	return stamp ? stamp : 1;
}

static bool ledger_take_count(sqlite3_stmt *s, int column, uint64_t *ret_number)
{
	int64_t value = sqlite3_column_int64(s, column);

	*ret_number = (uint64_t)value;
	return value >= 0 && value <= MOST;
}

static bool take_key(sqlite3_stmt *s, struct davy_ledger_key *k)
{
	struct davy_ledger_environment *e = &k->environment;
	uint32_t backend;

	if (!davy_db_take_number(s, 3, &backend) || backend >= DAVY_BACKEND_COUNT)
		return false;
	k->backend = (enum davy_backend)backend;
	return davy_db_take_text(s, 1, k->device, sizeof(k->device)) &&
	       davy_db_take_text(s, 2, k->model, sizeof(k->model)) &&
	       davy_db_take_number(s, 4, &k->ubatch) && davy_db_take_number(s, 5, &k->context) &&
	       davy_db_take_text(s, 6, e->driver, sizeof(e->driver)) &&
	       davy_db_take_text(s, 7, e->kernel, sizeof(e->kernel)) &&
	       davy_db_take_text(s, 8, e->firmware, sizeof(e->firmware)) &&
	       davy_db_take_text(s, 9, e->engine, sizeof(e->engine));
}

static bool take_entry(sqlite3_stmt *s, struct davy_ledger_entry *e)
{
	uint32_t outcome;

	if (!davy_db_take_number(s, 14, &outcome) || outcome >= DAVY_CLASS_COUNT)
		return false;
	e->outcome = (enum davy_log_class)outcome;
	return ledger_take_count(s, 10, &e->survived_s) &&
	       davy_db_take_number(s, 11, &e->deepest) &&
	       davy_db_take_number(s, 12, &e->failed_depth) &&
	       ledger_take_count(s, 13, &e->slowest_job_ns) &&
	       davy_db_take_time(s, 15, &e->failed_s) && davy_db_take_time(s, 16, &e->first_s) &&
	       davy_db_take_time(s, 17, &e->last_s);
}

static int take_faults(struct davy_db *db, sqlite3_stmt *s, int64_t id, struct davy_ledger_entry *e)
{
	uint32_t class, count;
	int code;

	sqlite3_bind_int64(s, 1, id);
	while ((code = sqlite3_step(s)) == SQLITE_ROW)
		if (davy_db_take_number(s, 0, &class) && class < DAVY_CLASS_COUNT &&
		    davy_db_take_number(s, 1, &count))
			e->faults[class] = count;
	sqlite3_reset(s);
	return davy_db_error(db, code);
}

struct walk {
	sqlite3_stmt *rows, *faults;
	const struct davy_ledger_environment *now;
	void (*found)(void *arg, const struct davy_ledger_row *row);
	void *arg;
};

static int walk_rows(struct davy_db *db, const struct walk *w)
{
	int code, err = 0, shown = 0;

	while (!err && (code = sqlite3_step(w->rows)) != SQLITE_DONE) {
		struct davy_ledger_row row = { .weight = DAVY_LEDGER_WEIGHT };

		if (code != SQLITE_ROW)
			return davy_db_error(db, code);
		if (!take_key(w->rows, &row.key) || !take_entry(w->rows, &row.entry))
			continue;
		err = take_faults(db, w->faults, sqlite3_column_int64(w->rows, 0), &row.entry);
		if (err)
			break;
		if (w->now)
			row.weight = davy_ledger_weight(&row.key.environment, w->now);
		w->found(w->arg, &row);
		shown++;
	}
	return err ? err : shown;
}

int davy_ledger_each(struct davy_db *db, const struct davy_ledger_filter *filter,
		     void (*found)(void *arg, const struct davy_ledger_row *row), void *arg)
{
	struct walk w = { .now = filter->now, .found = found, .arg = arg };
	int err;

	if (db->schema < SCHEMA)
		return 0;
	err = davy_db_prepare(db, select_rows, &w.rows);
	if (!err)
		err = davy_db_prepare(db, select_faults, &w.faults);
	if (!err) {
		bind_text(w.rows, 1, filter->device);
		bind_text(w.rows, 2, filter->model);
		bind_number(w.rows, 3, filter->backend);
		err = walk_rows(db, &w);
	}
	sqlite3_finalize(w.rows);
	sqlite3_finalize(w.faults);
	return err;
}

static int delete (struct davy_db *db, const char *sql, const char *device, const char *model)
{
	sqlite3_stmt *s;
	int err = davy_db_prepare(db, sql, &s);

	if (err)
		return err;
	bind_text(s, 1, device);
	bind_text(s, 2, model);
	return davy_db_change(db, s);
}

int davy_ledger_forget(struct davy_db *db, const char *device, const char *model)
{
	int rows, tuned, samples, err = davy_db_begin(db);

	if (err)
		return err;
	rows = delete (db, delete_rows, device, model);
	tuned = rows < 0 ? rows : delete (db, delete_tuning, device, model);
	samples = tuned < 0 ? tuned : delete (db, delete_samples, device, model);
	return davy_db_end(db, samples < 0 ? samples : rows + tuned + samples);
}
