/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger and its database: correct sums with several writers and after a kill,
 * rows that count by their environment, migration of older files.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "store/intents.h"
#include "store/ledger.h"
#include "store/tuning.h"
#include "killed.h"
#include "raw_db.h"

#define DIR   "/state"
#define KILLS 60
#define NOTES 300

static struct davy_db *db;

static int open_db(void **state)
{
	int err = make_root(state);

	return err ? err : davy_db_open(DIR, DAVY_DB_MAKE, &db);
}

static int close_db(void **state)
{
	davy_db_close(db);
	db = NULL;
	return remove_root(state);
}

static struct davy_ledger_key a_key(uint32_t ubatch)
{
	return (struct davy_ledger_key){ .device = "0000:03:00.0",
					 .model = "a.gguf",
					 .backend = DAVY_BACKEND_VULKAN,
					 .ubatch = ubatch,
					 .context = 8192,
					 .environment = { "3.61.0", "6.12.0", "mes 0x83",
							  "llama-server 0.7.0" } };
}

struct found {
	int count;
	struct davy_ledger_row row[4]; /* the first ones */
};

static void on_row(void *arg, const struct davy_ledger_row *row)
{
	struct found *f = arg;

	if (f->count < 4)
		f->row[f->count] = *row;
	f->count++;
}

static struct found find(const struct davy_ledger_filter *filter)
{
	struct found f = { 0 };
	int count = davy_ledger_each(db, filter, on_row, &f);

	assert_int_equal(count, f.count);
	return f;
}

static struct found find_all(void)
{
	return find(&(struct davy_ledger_filter){ 0 });
}

static void note(const struct davy_ledger_key *key, struct davy_ledger_entry delta)
{
	assert_int_equal(davy_ledger_note(db, key, &delta), 0);
}

static void partial_sums_are_one_row(void **state)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_ledger_entry *e;
	struct found f;

	(void)state;
	note(&key, (struct davy_ledger_entry){ .survived_s = 3600,
					       .deepest = 6000,
					       .slowest_job_ns = 900000000,
					       .last_s = 1000 });
	note(&key, (struct davy_ledger_entry){ .survived_s = 60,
					       .deepest = 4000,
					       .failed_depth = 7000,
					       .slowest_job_ns = 2000000000,
					       .faults = { [DAVY_CLASS_RING_TIMEOUT] = 1 },
					       .outcome = DAVY_CLASS_RING_TIMEOUT,
					       .last_s = 2000 });
	note(&key, (struct davy_ledger_entry){
			   .failed_depth = 6500,
			   .faults = { [DAVY_CLASS_RING_TIMEOUT] = 2, [DAVY_CLASS_OTHER] = 1 },
			   .outcome = DAVY_CLASS_OTHER,
			   .last_s = 2500 });
	note(&key, (struct davy_ledger_entry){ .survived_s = 1, .last_s = 3000 });
	f = find_all();
	assert_int_equal(f.count, 1);
	assert_memory_equal(&f.row[0].key, &key, sizeof(key));
	e = &f.row[0].entry;
	assert_int_equal(e->survived_s, 3661);
	assert_int_equal(e->deepest, 6000);
	assert_int_equal(e->failed_depth, 6500);
	assert_int_equal(e->slowest_job_ns, 2000000000);
	assert_int_equal(e->faults[DAVY_CLASS_RING_TIMEOUT], 3);
	assert_int_equal(e->faults[DAVY_CLASS_OTHER], 1);
	assert_int_equal(e->faults[DAVY_CLASS_HANG], 0);
	assert_int_equal(e->outcome, DAVY_CLASS_NONE);
	assert_int_equal(e->failed_s, 2500);
	assert_int_equal(e->first_s, 1000);
	assert_int_equal(e->last_s, 3000);
	assert_int_equal(f.row[0].weight, DAVY_LEDGER_WEIGHT);
}

static void sums_stop_where_they_would_not_fit(void **state)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_ledger_entry most = { .survived_s = UINT64_MAX,
					  .slowest_job_ns = UINT64_MAX,
					  .faults = { [DAVY_CLASS_HANG] = UINT32_MAX },
					  .last_s = 1 };
	struct found f;

	(void)state;
	note(&key, most);
	note(&key, most);
	f = find_all();
	assert_int_equal(f.count, 1);
	assert_true(f.row[0].entry.survived_s == 1ULL << 53);
	assert_int_equal(f.row[0].entry.faults[DAVY_CLASS_HANG], UINT32_MAX);
}

static void each_part_of_the_key_separates_rows(void **state)
{
	struct davy_ledger_key key[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		key[i] = a_key(512);
	strcpy(key[0].device, "0000:04:00.0");
	strcpy(key[1].model, "b.gguf");
	key[2].backend = DAVY_BACKEND_ROCM;
	key[3].ubatch = 256;
	key[4].context = 4096;
	strcpy(key[5].environment.driver, "3.62.0");
	strcpy(key[6].environment.kernel, "");
	strcpy(key[7].environment.firmware, "mes 0x84");
	strcpy(key[8].environment.engine, "llama-server 0.7.1");
	for (size_t i = 0; i < 9; i++)
		note(&key[i],
		     (struct davy_ledger_entry){ .survived_s = 1, .last_s = 100 + (int)i });
	assert_int_equal(find_all().count, 9);
	assert_int_equal(find(&(struct davy_ledger_filter){ .device = "0000:04:00.0" }).count, 1);
	assert_int_equal(find(&(struct davy_ledger_filter){ .model = "a.gguf" }).count, 8);
	assert_int_equal(find(&(struct davy_ledger_filter){ .backend = DAVY_BACKEND_ROCM }).count,
			 1);
	assert_int_equal(
		find(&(struct davy_ledger_filter){ .model = "b.gguf", .device = "0000:04:00.0" })
			.count,
		0);
	/* The last seen first. */
	assert_string_equal(find_all().row[0].key.environment.engine, "llama-server 0.7.1");
}

static void rows_of_another_environment_count_less(void **state)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_ledger_environment now = key.environment;
	const struct davy_ledger_filter filter = { .now = &now };

	(void)state;
	note(&key, (struct davy_ledger_entry){ .survived_s = 7200, .last_s = 1 });
	assert_int_equal(find(&filter).row[0].weight, 1000);
	strcpy(now.kernel, "6.12.1");
	assert_int_equal(find(&filter).row[0].weight, 500);
	strcpy(now.firmware, "mes 0x84");
	assert_int_equal(find(&filter).row[0].weight, 250);
	strcpy(now.driver, "3.62.0");
	assert_int_equal(find(&filter).row[0].weight, 125);
	strcpy(now.engine, "llama-server 0.8.0");
	assert_int_equal(find(&filter).row[0].weight, 62);
	strcpy(now.engine, ""); /* not known is no difference */
	assert_int_equal(find(&filter).row[0].weight, 125);
	assert_int_equal(find(&filter).row[0].entry.survived_s, 7200); /* the row stays as it is */
}

static void the_least_recently_seen_go(void **state)
{
	struct davy_ledger_key key = a_key(0);

	(void)state;
	key.ubatch = 1;
	note(&key, (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 }, .last_s = 10 });
	key.ubatch = 2;
	note(&key, (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 }, .last_s = 9 });
	run_sql("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT 4094) "
		"INSERT INTO ledger SELECT NULL, 'd', '', '', '', '', 2, 'm', i, 0, 1, 0, 0, 0, 0, "
		"0, 20, 20 FROM n");
	assert_int_equal(find_all().count, DAVY_LEDGER_ROWS);
	key.ubatch = 3;
	note(&key, (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 }, .last_s = 30 });
	assert_int_equal(find_all().count, DAVY_LEDGER_ROWS);
	assert_int_equal(number_sql("SELECT count(*) FROM ledger WHERE ubatch = 2"), 0);
	assert_int_equal(number_sql("SELECT count(*) FROM ledger WHERE ubatch = 1"), 1);
	assert_int_equal(number_sql("SELECT count(*) FROM ledger_fault"), 2); /* go with it */
}

static void forgotten_rows_lose_their_faults(void **state)
{
	struct davy_ledger_key key = a_key(512), other = a_key(512);

	(void)state;
	strcpy(other.device, "0000:04:00.0");
	note(&key, (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 }, .last_s = 1 });
	note(&other,
	     (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 }, .last_s = 1 });
	strcpy(other.model, "b.gguf");
	note(&other, (struct davy_ledger_entry){ .survived_s = 1, .last_s = 1 });
	assert_int_equal(davy_ledger_forget(db, "0000:04:00.0", "a.gguf"), 1);
	assert_int_equal(davy_ledger_forget(db, "0000:05:00.0", ""), 0);
	assert_int_equal(find_all().count, 2);
	assert_int_equal(davy_ledger_forget(db, "", "b.gguf"), 1);
	assert_int_equal(davy_ledger_forget(db, "", ""), 1);
	assert_int_equal(find_all().count, 0);
	assert_int_equal(number_sql("SELECT count(*) FROM ledger_fault"), 0);
}

static void the_tuners_state_is_stored_unchanged(void **state)
{
	static unsigned char big[DAVY_TUNING_MAX + 1];
	unsigned char knows[3304], back[3304] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(knows); i++)
		knows[i] = (unsigned char)(i * 7);
	assert_int_equal(davy_tuning_load(db, "d", "m", back, sizeof(back)), -ENOENT);
	assert_int_equal(davy_tuning_save(db, "d", "m", back, sizeof(back)), 0);
	assert_int_equal(davy_tuning_save(db, "d", "m", knows, sizeof(knows)), 0);
	assert_int_equal(davy_tuning_load(db, "d", "m", back, sizeof(back)), 0);
	assert_memory_equal(back, knows, sizeof(back));
	assert_int_equal(davy_tuning_load(db, "d", "m", back, 100), -EPROTONOSUPPORT);
	assert_int_equal(davy_tuning_load(db, "d", "n", back, sizeof(back)), -ENOENT);
	assert_int_equal(davy_tuning_save(db, "d", "m", big, sizeof(big)), -EFBIG);
	assert_int_equal(davy_tuning_save(db, "d", "n", knows, sizeof(knows)), 0);
	assert_int_equal(davy_ledger_forget(db, "", "n"), 1);
	assert_int_equal(davy_tuning_load(db, "d", "n", back, sizeof(back)), -ENOENT);
	assert_int_equal(davy_tuning_load(db, "d", "m", back, sizeof(back)), 0);
	run_sql("UPDATE tuning SET state = 'text'");
	assert_int_equal(davy_tuning_load(db, "d", "m", back, sizeof(back)), -EPROTONOSUPPORT);
	run_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 255) "
		"INSERT INTO tuning SELECT 'e', i, i, x'00' FROM n");
	assert_int_equal(davy_tuning_save(db, "d", "o", knows, sizeof(knows)), 0);
	assert_int_equal(number_sql("SELECT count(*) FROM tuning"), DAVY_TUNING_ROWS);
	assert_int_equal(number_sql("SELECT min(saved_s) FROM tuning"), 2);
}

static void foreign_rows_are_skipped(void **state)
{
	static const char *const wrong[] = {
		"device = printf('%040d', 1)",
		"model = CAST(x'610062' AS TEXT)",
		"backend = 77",
		"ubatch = -1",
		"deepest = 4294967296",
		"survived_s = -5",
		"outcome = 99",
		"last_s = -1",
	};
	struct davy_ledger_key key;
	char sql[128];

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		key = a_key(i);
		note(&key, (struct davy_ledger_entry){ .faults = { [DAVY_CLASS_HANG] = 1 },
						       .last_s = 1 });
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(sql, sizeof(sql), "UPDATE ledger SET %s WHERE ubatch = %zu", wrong[i], i);
		run_sql(sql);
	}
	run_sql("INSERT INTO ledger_fault SELECT id, 500, 1 FROM ledger;"
		"INSERT INTO ledger_fault SELECT id, 1, -1 FROM ledger");
	assert_int_equal(find_all().count, 1);
	assert_int_equal(find_all().row[0].key.ubatch, 8);
	assert_int_equal(find_all().row[0].entry.faults[DAVY_CLASS_HANG], 1);
	assert_int_equal(find_all().row[0].entry.faults[1], 0);
}

/* As a davylamp that knew of intents only made it. */
static const char schema_1[] =
	"PRAGMA journal_mode = WAL;"
	"CREATE TABLE intent (id INTEGER PRIMARY KEY AUTOINCREMENT, plan INTEGER, workload INTEGER,"
	" rung INTEGER, pid INTEGER, start_ticks INTEGER, lease_until_ns INTEGER, begun_s INTEGER,"
	" boot_id TEXT, cgroup TEXT, file TEXT, key TEXT, old_value TEXT, new_value TEXT,"
	" unit TEXT, text TEXT, ended_s INTEGER, result INTEGER);"
	"CREATE INDEX still_open ON intent (id) WHERE ended_s IS NULL;"
	"INSERT INTO intent VALUES (7, 1, 2, 3, 4, 5, 6, 7, '', '', '', '', '', '', '', 'open',"
	" NULL, NULL);"
	"INSERT INTO intent VALUES (8, 1, 2, 3, 4, 5, 6, 7, '', '', '', '', '', '', '', 'closed',"
	" 9, 0);"
	"PRAGMA user_version = 1;";

static void make_schema_1(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s" DIR, root);
	mkdir(path, 0755);
	run_sql(schema_1);
}

static void on_intent(void *arg, const struct davy_intent *intent)
{
	*(struct davy_intent *)arg = *intent;
}

static void a_database_of_the_first_schema_is_brought_up_to_date(void **state)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_intents *in = NULL;
	struct davy_intent intent = { 0 };

	(void)state;
	make_schema_1();
	assert_int_equal(davy_db_open(DIR, DAVY_DB_THERE, &db), 0);
	assert_int_equal(db->schema, DAVY_DB_SCHEMA);
	assert_int_equal(number_sql("PRAGMA user_version"), DAVY_DB_SCHEMA);
	note(&key, (struct davy_ledger_entry){ .survived_s = 1 });
	assert_int_equal(find_all().count, 1);
	assert_true(find_all().row[0].entry.last_s > 1700000000); /* now */
	assert_int_equal(davy_intents_open(DIR, &in), 0);
	assert_int_equal(davy_intents_each_open(in, on_intent, &intent), 1);
	assert_int_equal(intent.id, 7);
	assert_string_equal(intent.text, "open");
	assert_int_equal(davy_intent_close(in, 7, 0), 0);
	assert_int_equal(davy_intent_begin(in, &intent), 9); /* numbers go on */
	davy_intents_close(in);
	assert_int_equal(number_sql("SELECT count(*) FROM intent"), 3);
}

static void several_may_bring_it_up_to_date_at_once(void **state)
{
	pid_t pid[4];
	int status;

	(void)state;
	make_schema_1();
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		status = davy_db_open(DIR, DAVY_DB_THERE, &db);
		_exit(status == -EBUSY ? 0 : status ? 1 : db->schema != DAVY_DB_SCHEMA);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	assert_int_equal(davy_db_open(DIR, DAVY_DB_THERE, &db), 0);
	assert_int_equal(number_sql("SELECT count(*) FROM intent"), 2);
}

static void a_newer_schema_is_reported(void **state)
{
	struct davy_db *newer = NULL;

	(void)state;
	run_sql("PRAGMA user_version = 5");
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &newer), -ENOTSUP);
	assert_string_equal(davy_db_why(-ENOTSUP),
			    "was written by a newer davylamp; use that one, or move it away");
	run_sql("PRAGMA user_version = -1");
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &newer), -ENOTSUP);
}

static void reading_does_not_create_a_database(void **state)
{
	char path[128];

	(void)state;
	assert_int_equal(davy_db_open(DIR, DAVY_DB_THERE, &db), -ENOENT);
	snprintf(path, sizeof(path), "%s" DIR, root);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_corrupt_database_is_reported(void **state)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_db *corrupt = NULL;
	char path[128];

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		key.ubatch = i;
		note(&key, (struct davy_ledger_entry){ .survived_s = 1, .last_s = 1 });
	}
	davy_db_close(db); /* all is in the one file now */
	db = NULL;
	snprintf(path, sizeof(path), "%s" DIR "/" DAVY_DB_NAME, root);
	assert_int_equal(truncate(path, 40000), 0);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &corrupt), -EBADMSG);
	PUT(DIR "/" DAVY_DB_NAME, "what is this");
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &corrupt), -EBADMSG);
	assert_int_equal(davy_db_set_aside(DIR), 0);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	assert_int_equal(find_all().count, 0);
	run_sql("DROP TABLE ledger");
	assert_int_equal(davy_ledger_note(db, &key, &(struct davy_ledger_entry){ 0 }), -EBADMSG);
}

/* A writer with an open database that was put aside would write to the wrong file. */
static void users_of_a_database_learn_that_it_was_put_aside(void **state)
{
	struct davy_ledger_key key = a_key(512);

	(void)state;
	note(&key, (struct davy_ledger_entry){ .survived_s = 1 });
	assert_int_equal(davy_db_set_aside(DIR), 0);
	assert_int_equal(davy_ledger_note(db, &key, &(struct davy_ledger_entry){ 0 }), -ESTALE);
}

static void while_another_writes_it_is_busy_and_not_stuck(void **state)
{
	struct davy_ledger_key key = a_key(512);
	sqlite3 *raw = open_raw();

	(void)state;
	assert_int_equal(sqlite3_exec(raw, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(davy_ledger_note(db, &key, &(struct davy_ledger_entry){ 0 }), -EBUSY);
	assert_int_equal(find_all().count, 0); /* reading goes on */
	sqlite3_close(raw);
	note(&key, (struct davy_ledger_entry){ .survived_s = 1 });
}

static int note_until_taken(struct davy_db *mine, const struct davy_ledger_key *key)
{
	struct davy_ledger_entry delta = { .survived_s = 1, .faults = { [DAVY_CLASS_HANG] = 1 } };
	int err = -EBUSY;

	for (int i = 0; err == -EBUSY && i < 50; i++)
		err = davy_ledger_note(mine, key, &delta);
	return err;
}

static void two_writers_lose_nothing(void **state)
{
	struct davy_ledger_key key = a_key(512);
	pid_t pid[2];
	int status;

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		status = davy_db_open(DIR, DAVY_DB_MAKE, &db);
		for (int n = 0; !status && n < NOTES; n++)
			status = note_until_taken(db, &key);
		_exit(status ? 1 : 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	assert_int_equal(find_all().count, 1);
	assert_int_equal(find_all().row[0].entry.survived_s, 2 * NOTES);
	assert_int_equal(find_all().row[0].entry.faults[DAVY_CLASS_HANG], 2 * NOTES);
}

static void note_until_killed(int fd)
{
	struct davy_ledger_key key = a_key(512);
	struct davy_db *mine = NULL;

	if (davy_db_open(DIR, DAVY_DB_MAKE, &mine))
		_exit(1);
	while (!note_until_taken(mine, &key))
		report_done(fd);
}

static void killed_at_any_instant_it_knows_all_that_was_noted(void **state)
{
	unsigned int seed = 7, busy_count = 0;
	uint64_t before = 0;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		uint64_t most = (uint64_t)rand_r(&seed) % 21;
		uint64_t reported =
			kill_at_work(note_until_killed, most, (unsigned int)rand_r(&seed) % 4000);
		uint64_t now = 0;
		struct found f;

		assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
		f = find_all();
		davy_db_close(db);
		if (f.count) {
			now = f.row[0].entry.survived_s;
			assert_int_equal(f.row[0].entry.faults[DAVY_CLASS_HANG], now);
		}
		/* The reported notes, and the one during which it was killed. */
		assert_in_range(now - before, reported, reported + 1);
		before = now;
		busy_count += reported > 10;
	}
	db = NULL;
	assert_true(busy_count > KILLS / 3);
}

#define CANNOT 77

/* Fills a separate disk with notes: the refused one is not counted, the earlier ones are. */
static int fill_the_disk(const char *where)
{
	struct davy_ledger_key key = a_key(0);
	struct davy_ledger_entry delta = { .survived_s = 1, .last_s = 1 };
	struct found f = { 0 };
	int err = 0, count = 0;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", where, "tmpfs", 0, "size=200k"))
		return CANNOT;
	if (davy_db_open("/disk", DAVY_DB_MAKE, &db))
		return 10;
	for (; !err && count < 4000; count += !err) {
		key.ubatch = (uint32_t)count;
		err = davy_ledger_note(db, &key, &delta);
	}
	if (err != -ENOSPC || count < 5)
		return 11;
	if (davy_ledger_note(db, &key, &delta) != -ENOSPC)
		return 12;
	if (davy_ledger_each(db, &(struct davy_ledger_filter){ 0 }, on_row, &f) != count)
		return 13;
	davy_db_close(db);
	f.count = 0;
	if (davy_db_open("/disk", DAVY_DB_MAKE, &db) ||
	    davy_ledger_each(db, &(struct davy_ledger_filter){ 0 }, on_row, &f) != count)
		return 14;
	return 0;
}

/* A read-only one of the first schema stays so; its intents are read, a ledger it has not. */
static int only_read(const char *where)
{
	struct davy_intent intent = { 0 };
	struct davy_intents *in = NULL;
	struct found f = { 0 };
	sqlite3 *raw;
	char path[128];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", where, "tmpfs", 0, "size=1m"))
		return CANNOT;
	snprintf(path, sizeof(path), "%s/" DAVY_DB_NAME, where);
	if (sqlite3_open(path, &raw) || sqlite3_exec(raw, schema_1, NULL, NULL, NULL) ||
	    sqlite3_close(raw))
		return 20;
	if (mount("none", where, NULL, MS_REMOUNT | MS_RDONLY, NULL))
		return 21;
	if (davy_db_open("/disk", DAVY_DB_THERE, &db) || db->schema != 1)
		return 22;
	if (davy_ledger_each(db, &(struct davy_ledger_filter){ 0 }, on_row, &f) != 0)
		return 23;
	if (davy_ledger_forget(db, "", "") != -EROFS ||
	    davy_tuning_load(db, "", "", path, sizeof(path)) != -ENOENT)
		return 24;
	davy_db_close(db);
	if (davy_intents_open("/disk", &in) || davy_intents_each_open(in, on_intent, &intent) != 1)
		return 25;
	return 0;
}

static void on_disk(int (*work)(const char *where))
{
	char where[96];
	int status;
	pid_t pid;

	snprintf(where, sizeof(where), "%s/disk", root);
	assert_int_equal(mkdir(where, 0755), 0);
	pid = fork();
	if (!pid)
		_exit(work(where));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status)); /* and not by SIGBUS */
	if (WEXITSTATUS(status) == CANNOT) {
		print_message("no mount namespace can be made here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_full_disk_refuses_the_next_and_keeps_the_former(void **state)
{
	(void)state;
	on_disk(fill_the_disk);
}

static void a_read_only_database_is_not_changed(void **state)
{
	(void)state;
	on_disk(only_read);
}

static void assert_closed_to_others(void)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	char path[256];
	struct stat st;

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s" DIR "/" DAVY_DB_NAME "%s", root, parts[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

/* Its log and index hold the same rows: also in the first run, and under any umask. */
static void other_users_cannot_read_the_database(void **state)
{
	char path[256];

	(void)state;
	umask(0);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	assert_int_equal(umask(022), 0); /* it left the umask as it was */
	assert_closed_to_others();
	snprintf(path, sizeof(path), "%s" DIR "/" DAVY_DB_NAME "-wal", root);
	assert_int_equal(chmod(path, 0644), 0); /* of an agent before */
	davy_db_close(db);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	assert_int_equal(davy_ledger_note(db, &(struct davy_ledger_key){ .model = "a" },
					  &(struct davy_ledger_entry){ .survived_s = 1 }),
			 0);
	assert_closed_to_others();
}

/* Users read what is learned: the folder is readable under the agent's umask, too. */
static void the_state_directory_is_open_to_readers(void **state)
{
	char path[256];
	struct stat st;

	(void)state;
	umask(077);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	assert_int_equal(umask(022), 077);
	snprintf(path, sizeof(path), "%s" DIR, root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
}

int main(void)
{
#define WITH_DB(test) cmocka_unit_test_setup_teardown(test, open_db, close_db)
#define WITHOUT(test) cmocka_unit_test_setup_teardown(test, make_root, close_db)
	const struct CMUnitTest tests[] = {
		WITH_DB(partial_sums_are_one_row),
		WITH_DB(sums_stop_where_they_would_not_fit),
		WITH_DB(each_part_of_the_key_separates_rows),
		WITH_DB(rows_of_another_environment_count_less),
		WITH_DB(the_least_recently_seen_go),
		WITH_DB(forgotten_rows_lose_their_faults),
		WITH_DB(the_tuners_state_is_stored_unchanged),
		WITH_DB(foreign_rows_are_skipped),
		WITHOUT(a_database_of_the_first_schema_is_brought_up_to_date),
		WITHOUT(several_may_bring_it_up_to_date_at_once),
		WITH_DB(a_newer_schema_is_reported),
		WITHOUT(reading_does_not_create_a_database),
		WITH_DB(a_corrupt_database_is_reported),
		WITH_DB(users_of_a_database_learn_that_it_was_put_aside),
		WITH_DB(while_another_writes_it_is_busy_and_not_stuck),
		WITH_DB(two_writers_lose_nothing),
		WITHOUT(killed_at_any_instant_it_knows_all_that_was_noted),
		WITHOUT(a_full_disk_refuses_the_next_and_keeps_the_former),
		WITHOUT(a_read_only_database_is_not_changed),
		WITHOUT(other_users_cannot_read_the_database),
		WITHOUT(the_state_directory_is_open_to_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
