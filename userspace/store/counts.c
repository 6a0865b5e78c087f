/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/counts.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/kept.h"

#define COUNT_MAX DAVY_SCORES_MAX /* so that additions never overflow a slot */
#define SUM_MAX	  (INT64_MAX / 2)
#define FORMAT	  1 /* of foresight.json */

/* Every counter by its name, "hazards.reset.lead.slots[3]": read or written. */
struct walk {
	struct davy_db *db;
	sqlite3_stmt *each; /* ?1: its name; to write ?2: its value */
	bool write;
	int err;
	int found;
};

static void walk_read(struct walk *w, uint64_t *value, int64_t most)
{
	int64_t n = sqlite3_column_int64(w->each, 0);

	w->found++;
	if (sqlite3_column_type(w->each, 0) != SQLITE_INTEGER || n < 0 || n > most)
		w->err = -EBADMSG;
	else
		*value = (uint64_t)n;
}

static void __attribute__((format(printf, 4, 5)))
counter(struct walk *w, uint64_t *value, int64_t most, const char *format, ...)
{
	char name[96];
	va_list list;
	int code;

	if (*value > (uint64_t)most)
		w->err = -EBADMSG; /* it could not be read back */
	if (w->err || (w->write && !*value))
		return;
	va_start(list, format);
	vsnprintf(name, sizeof(name), format, list);
	va_end(list);
	code = sqlite3_bind_text(w->each, 1, name, -1, SQLITE_TRANSIENT);
	if (w->write && code == SQLITE_OK)
		code = sqlite3_bind_int64(w->each, 2, (int64_t)*value);
	if (code == SQLITE_OK)
		code = sqlite3_step(w->each);
	w->err = davy_db_error(w->db, code);
	if (code == SQLITE_ROW)
		walk_read(w, value, most);
	sqlite3_reset(w->each);
}

/*
 * Whether the numbers are consistent: the slots sum up to the count, the mean is between minimum
 * and maximum.
 */
static bool agrees(const struct davy_lead_times *lead_time)
{
	uint64_t count = 0;

	for (size_t i = 0; i < DAVY_LEAD_TIME_SLOTS; i++)
		count += lead_time->slot[i];
	if (!lead_time->count)
		return !count && !lead_time->sum_ns && !lead_time->min_ns && !lead_time->max_ns;
	return count == lead_time->count &&
	       lead_time->min_ns <= lead_time->sum_ns / lead_time->count &&
	       lead_time->sum_ns / lead_time->count <= lead_time->max_ns;
}

static void walk_lead_times(struct walk *w, const char *of, const char *name,
			    struct davy_lead_times *lead_time)
{
	counter(w, &lead_time->count, COUNT_MAX, "%s.%s.lead.count", of, name);
	counter(w, &lead_time->sum_ns, SUM_MAX, "%s.%s.lead.sum_ns", of, name);
	counter(w, &lead_time->min_ns, SUM_MAX, "%s.%s.lead.min_ns", of, name);
	counter(w, &lead_time->max_ns, SUM_MAX, "%s.%s.lead.max_ns", of, name);
	for (size_t i = 0; i < DAVY_LEAD_TIME_SLOTS; i++) {
		uint64_t n = lead_time->slot[i];

		counter(w, &n, COUNT_MAX, "%s.%s.lead.slots[%zu]", of, name, i);
		lead_time->slot[i] = (uint32_t)n;
	}
	if (!w->err && !agrees(lead_time))
		w->err = -EBADMSG;
}

static void walk_class(struct walk *w, const char *name, struct davy_class_score *score)
{
	counter(w, &score->failures, COUNT_MAX, "classes.%s.failures", name);
	counter(w, &score->missed, COUNT_MAX, "classes.%s.missed", name);
	walk_lead_times(w, "classes", name, &score->lead_time);
	if (!w->err && score->failures != score->missed + score->lead_time.count)
		w->err = -EBADMSG;
}

static void walk_hazard(struct walk *w, const char *name, struct davy_hazard_score *score)
{
	counter(w, &score->predictions, COUNT_MAX, "hazards.%s.signs", name);
	counter(w, &score->confirmed, COUNT_MAX, "hazards.%s.confirmed", name);
	counter(w, &score->averted, COUNT_MAX, "hazards.%s.averted", name);
	counter(w, &score->late, COUNT_MAX, "hazards.%s.late", name);
	counter(w, &score->false_alarms, COUNT_MAX, "hazards.%s.false_alarms", name);
	walk_lead_times(w, "hazards", name, &score->lead_time);
	if (!w->err && (score->predictions < score->confirmed + score->averted + score->late +
						     score->false_alarms ||
			(score->lead_time.count && !score->confirmed)))
		w->err = -EBADMSG;
}

static void walk_levels(struct walk *w, const char *name, struct davy_level_score *scores,
			uint64_t *alarms, uint64_t *confirmed)
{
	for (unsigned int i = 0; i < DAVY_SCORED_LEVELS; i++) {
		unsigned int level = DAVY_SCORED_FROM + i;

		counter(w, &scores[i].alarms, COUNT_MAX, "hazards.%s.level%u.alarms", name, level);
		counter(w, &scores[i].confirmed, COUNT_MAX, "hazards.%s.level%u.confirmed", name,
			level);
		if (!w->err && scores[i].confirmed > scores[i].alarms)
			w->err = -EBADMSG;
		*alarms += scores[i].alarms;
		*confirmed += scores[i].confirmed;
	}
}

/* The sums over the stated probabilities are those over the hazards. */
static void walk_calibration(struct walk *w, struct davy_calibration *c)
{
	uint64_t alarms = 0, confirmed = 0, bin_alarms = 0, bin_confirmed = 0;

	for (uint32_t i = 0; i < DAVY_HZ_COUNT; i++)
		walk_levels(w, davy_hazard_name((enum davy_hazard)i), c->of[i], &alarms,
			    &confirmed);
	counter(w, &c->error_sum, SUM_MAX, "reliability.error_sum");
	for (size_t i = 0; i < DAVY_RELIABILITY_BINS; i++) {
		struct davy_reliability *bin = &c->bin[i];

		counter(w, &bin->alarms, COUNT_MAX, "reliability.bins[%zu].alarms", i);
		counter(w, &bin->confirmed, COUNT_MAX, "reliability.bins[%zu].confirmed", i);
		counter(w, &bin->stated_permille, SUM_MAX, "reliability.bins[%zu].stated", i);
		if (!w->err &&
		    (bin->confirmed > bin->alarms || bin->stated_permille > 999 * bin->alarms))
			w->err = -EBADMSG;
		bin_alarms += bin->alarms;
		bin_confirmed += bin->confirmed;
	}
	if (!w->err && (alarms != bin_alarms || confirmed != bin_confirmed ||
			c->error_sum > alarms * 999 * 999))
		w->err = -EBADMSG;
}

static int walk_all(struct walk *w, struct davy_counts *c)
{
	uint64_t since_s = (uint64_t)c->since_s;

	counter(w, &since_s, SUM_MAX, "since");
	c->since_s = (int64_t)since_s;
	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++)
		walk_class(w, davy_log_class_name(i), &c->seen.class[i]);
	for (uint32_t i = 0; i < DAVY_HZ_COUNT; i++)
		walk_hazard(w, davy_hazard_name((enum davy_hazard)i), &c->seen.hazard[i]);
	walk_calibration(w, &c->seen.calibration);
	return w->err;
}

static int counts_take(void *state, struct davy_db *db, sqlite3_stmt *select)
{
	return walk_all(&(struct walk){ .db = db, .each = select }, state);
}

static int counts_put(void *state, struct davy_db *db, sqlite3_stmt *insert)
{
	return walk_all(&(struct walk){ .db = db, .each = insert, .write = true }, state);
}

static const char select_counter[] = "SELECT value FROM foresight WHERE counter = ?1";

/* The same table from the values of the text; json_tree gives the names, without quotes. */
static int counts_import(struct davy_db *db, const char *text)
{
	sqlite3_stmt *s;
	int err = davy_db_run(db, "CREATE TABLE foresight (counter PRIMARY KEY, value)");

	if (!err)
		err = davy_db_prepare(
			db,
			"INSERT INTO foresight SELECT replace(substr(fullkey, 3), '\"', ''), atom "
			"FROM json_tree(?1) WHERE atom IS NOT NULL",
			&s);
	if (!err)
		sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
	return err ? err : davy_db_change(db, s);
}

int davy_counts_parse(void *ret_counts, const char *text)
{
	struct davy_counts counts = { 0 };
	struct davy_db db = { 0 };
	struct walk w = { .db = &db };
	uint64_t format = 0;
	int rows = davy_db_error(&db, sqlite3_open(":memory:", &db.handle));

	if (!rows)
		rows = counts_import(&db, text);
	w.err = rows < 0 ? rows : davy_db_prepare(&db, select_counter, &w.each);
	counter(&w, &format, FORMAT, "format");
	walk_all(&w, &counts);
	if (!w.err && (!format || !counts.since_s || w.found != rows))
		w.err = -EBADMSG; /* or a value has an unknown name */
	sqlite3_finalize(w.each);
	sqlite3_close(db.handle);
	if (!w.err)
		*(struct davy_counts *)ret_counts = counts;
	return w.err;
}

static const struct davy_kept kept = {
	.size = sizeof(struct davy_counts),
	.old_file = DAVY_COUNTS_OLD_NAME,
	.select = select_counter,
	.clear = "DELETE FROM foresight",
	.insert = "INSERT INTO foresight (counter, value) VALUES (?1, ?2)",
	.parse = davy_counts_parse,
	.take = counts_take,
	.put = counts_put,
};

int davy_counts_load(const char *dir, struct davy_counts *ret_counts)
{
	return davy_kept_load(dir, &kept, ret_counts);
}

int davy_counts_save(const char *dir, struct davy_counts *counts)
{
	return davy_kept_save(dir, &kept, counts);
}
