/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of intents: a started act is found again after a killed process or a disk error,
 * and the content of the file is validated.
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

#include "core/event/plan.h"
#include "store/db.h"
#include "store/intents.h"
#include "killed.h"
#include "raw_db.h"

#define DIR	  "/state"
#define KILLS	  60
#define KILL_SEED 6
#define TENTH	  10

static struct davy_intents *db;

static int open_db(void **state)
{
	int err = make_root(state);

	return err ? err : davy_intents_open(DIR, &db);
}

static int close_db(void **state)
{
	davy_intents_close(db);
	db = NULL;
	return remove_root(state);
}

static struct davy_intent a_cap(uint32_t plan)
{
	return (struct davy_intent){ .plan = plan,
				     .workload = 3,
				     .action = DAVY_ACTION_CAP,
				     .pid = 4711,
				     .start_ticks = 99,
				     .cgroup = "/system.slice/ollama.service",
				     .file = "/sys/fs/cgroup/system.slice/ollama.service/dmem.max",
				     .key = "drm/0000:03:00.0/vram0",
				     .old_value = "max",
				     .new_value = "4294967296",
				     .unit = "ollama.service",
				     .text = "exhaustion: 95 % of vram" };
}

struct found {
	size_t count;
	struct davy_intent last;
	bool close;
};

static void on_found(void *arg, const struct davy_intent *intent)
{
	struct found *f = arg;

	f->count++;
	f->last = *intent;
	if (f->close)
		assert_int_equal(davy_intent_close(db, intent->id, 0), 0);
}

static size_t open_count(void)
{
	struct found f = { 0 };
	int count = davy_intents_each_open(db, on_found, &f);

	assert_int_equal(count, f.count);
	return f.count;
}

static void an_open_intent_is_found_whole_and_a_closed_one_is_not(void **state)
{
	struct davy_intent cap = a_cap(7), other = a_cap(8);
	struct found f = { 0 };

	(void)state;
	PUT("/proc/sys/kernel/random/boot_id", "0b5b7c1e-6a3f-4a52-9d2e-6f1b5a7c9e10\n");
	assert_int_equal(open_count(), 0);
	assert_int_equal(davy_intent_begin(db, &cap), 1);
	assert_int_equal(davy_intent_begin(db, &other), 2);
	assert_string_equal(cap.boot_id, "0b5b7c1e-6a3f-4a52-9d2e-6f1b5a7c9e10");
	assert_int_equal(davy_intent_close(db, 2, -EIO), 0);
	assert_int_equal(davy_intent_close(db, 2, 0), -ENOENT);
	davy_intents_close(db);
	assert_int_equal(davy_intents_open(DIR, &db), 0);
	assert_int_equal(davy_intents_each_open(db, on_found, &f), 1);
	assert_memory_equal(&f.last, &cap, sizeof(cap));
}

static void a_found_intent_can_be_closed_at_once(void **state)
{
	struct found f = { .close = true };

	(void)state;
	for (uint32_t i = 0; i < DAVY_INTENTS_OPEN; i++) {
		struct davy_intent cap = a_cap(i);

		assert_true(davy_intent_begin(db, &cap) > 0);
	}
	f.last = a_cap(1);
	assert_int_equal(davy_intent_begin(db, &f.last), -EUSERS); /* which is never closed */
	assert_int_equal(davy_intents_each_open(db, on_found, &f), DAVY_INTENTS_OPEN);
	assert_int_equal(open_count(), 0);
}

static void foreign_rows_are_closed_and_not_shown(void **state)
{
	struct davy_intent cap = a_cap(1);

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_true(davy_intent_begin(db, &cap) > 0);
	run_sql("UPDATE intent SET file = NULL WHERE id = 1;"
		"UPDATE intent SET file = printf('/%600s', 'x') WHERE id = 2;"
		"UPDATE intent SET cgroup = CAST(x'2f610062' AS TEXT) WHERE id = 3;"
		"UPDATE intent SET pid = -1 WHERE id = 4;"
		"UPDATE intent SET workload = 4294967296 WHERE id = 5;");
	assert_int_equal(open_count(), 1);
	assert_int_equal(number_sql("SELECT count(*) FROM intent WHERE result IS NOT NULL"), 5);
	assert_int_equal(davy_intent_close(db, 1, 0), -ENOENT);
}

static void old_ones_are_forgotten_and_open_ones_are_not(void **state)
{
	struct davy_intent kept = a_cap(1);

	(void)state;
	assert_int_equal(davy_intent_begin(db, &kept), 1);
	for (int i = 0; i < DAVY_INTENTS_KEPT + 50; i++) {
		struct davy_intent cap = a_cap(2);

		assert_true(davy_intent_begin(db, &cap) > 0);
		assert_int_equal(davy_intent_close(db, cap.id, 0), 0);
	}
	assert_int_equal(open_count(), 1);
	assert_int_equal(number_sql("SELECT count(*) FROM intent"), DAVY_INTENTS_KEPT + 1);
}

static void spoil(const char *text, size_t size)
{
	davy_intents_close(db);
	db = NULL;
	put(DIR "/" DAVY_DB_NAME, text, size);
}

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s" DIR "/%s", root, name);
	return !access(path, F_OK);
}

static void a_corrupt_database_is_reported_and_can_be_put_aside(void **state)
{
	static const char garbage[8192] = "SQLite format 3";
	char path[128];

	(void)state;
	spoil("what is this", 12);
	assert_int_equal(davy_intents_open(DIR, &db), -EBADMSG);
	spoil(garbage, sizeof(garbage));
	assert_int_equal(davy_intents_open(DIR, &db), -EBADMSG);
	assert_int_equal(davy_db_set_aside(DIR), 0);
	assert_true(is_there(DAVY_DB_NAME ".bad"));
	assert_false(is_there(DAVY_DB_NAME));
	assert_int_equal(davy_intents_open(DIR, &db), 0);
	run_sql("DROP TABLE intent");
	davy_intents_close(db);
	db = NULL;
	assert_int_equal(davy_intents_open(DIR, &db), -EBADMSG);
	assert_int_equal(davy_db_set_aside(DIR), 0);
	assert_int_equal(davy_intents_open(DIR, &db), 0);
	for (int i = 0; i < 200; i++) {
		struct davy_intent cap = a_cap(1);

		assert_true(davy_intent_begin(db, &cap) > 0);
	}
	davy_intents_close(db); /* all is in the one file now */
	db = NULL;
	snprintf(path, sizeof(path), "%s" DIR "/" DAVY_DB_NAME, root);
	assert_int_equal(truncate(path, 20000), 0);
	assert_int_equal(davy_intents_open(DIR, &db), -EBADMSG);
}

static void a_database_of_a_newer_program_is_not_changed(void **state)
{
	(void)state;
	run_sql("PRAGMA user_version = 1000");
	davy_intents_close(db);
	db = NULL;
	assert_int_equal(davy_intents_open(DIR, &db), -ENOTSUP);
}

static void while_another_writes_it_is_busy_and_not_stuck(void **state)
{
	struct davy_intent cap = a_cap(1);
	sqlite3 *raw = open_raw();

	(void)state;
	assert_int_equal(sqlite3_exec(raw, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(davy_intent_begin(db, &cap), -EBUSY);
	assert_int_equal(open_count(), 0); /* reading goes on */
	sqlite3_close(raw);
	assert_int_equal(davy_intent_begin(db, &cap), 1);
}

/* Its own mount namespace; false where none can be made. */
static bool mount_small(const char *where, const char *options)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", where, "tmpfs", 0, options);
}

#define CANNOT 77

static int in_child(int (*work)(const char *where))
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
	return WEXITSTATUS(status);
}

/* Fills the disk with intents; the one refused is no intent, those before it are. */
static int fill_the_disk(const char *where)
{
	struct davy_intents *small = NULL;
	struct found f = { 0 };
	int64_t id = 0;
	int count = 0, err;

	if (!mount_small(where, "size=120k"))
		return CANNOT;
	err = davy_intents_open("/disk", &small);
	if (err)
		return err == -ENOSPC ? 10 : 11;
	for (; count < DAVY_INTENTS_OPEN; count++) {
		struct davy_intent cap = a_cap(1);

		id = davy_intent_begin(small, &cap);
		if (id < 0)
			break;
	}
	if (id != -ENOSPC)
		return 12;
	if (davy_intents_each_open(small, on_found, &f) != count)
		return 13;
	davy_intents_close(small);
	f.count = 0;
	if (davy_intents_open("/disk", &small) ||
	    davy_intents_each_open(small, on_found, &f) != count)
		return 14;
	return 0;
}

static int none_fits(const char *where)
{
	struct davy_intents *small = NULL;
	struct davy_intent cap = a_cap(1);
	int err;

	if (!mount_small(where, "size=8k"))
		return CANNOT;
	err = davy_intents_open("/disk", &small);
	if (!err)
		err = (int)davy_intent_begin(small, &cap);
	return err == -ENOSPC ? 0 : 20;
}

/* One open intent, by a program that ends properly or as one that is killed. */
static int write_one(bool killed)
{
	struct davy_intents *in = NULL;
	struct davy_intent cap = a_cap(1);
	pid_t pid = fork();

	if (pid)
		return waitpid(pid, NULL, 0) == pid ? 0 : -1;
	if (!davy_intents_open("/disk", &in) && davy_intent_begin(in, &cap) > 0 && !killed)
		davy_intents_close(in);
	_exit(0);
}

static int only_read(const char *where)
{
	struct davy_intent cap = a_cap(1);
	struct davy_intents *in = NULL;

	if (!mount_small(where, "size=1m"))
		return CANNOT;
	if (mount("none", where, NULL, MS_REMOUNT | MS_RDONLY, NULL))
		return 30;
	if (davy_intents_open("/disk", &in) != -EROFS)
		return 31;
	for (int killed = 0; killed < 2; killed++) {
		struct found f = { 0 };

		mount("none", where, NULL, MS_REMOUNT, NULL);
		write_one(killed);
		mount("none", where, NULL, MS_REMOUNT | MS_RDONLY, NULL);
		if (davy_intents_open("/disk", &in))
			return 32;
		if (davy_intents_each_open(in, on_found, &f) != killed + 1)
			return 33;
		if (davy_intent_begin(in, &cap) != -EROFS || davy_intent_close(in, 1, 0) != -EROFS)
			return 34;
		davy_intents_close(in);
	}
	return 0;
}

static void on_disk(int (*work)(const char *where))
{
	int status = in_child(work);

	if (status == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

static void a_full_disk_refuses_the_next_and_keeps_the_former(void **state)
{
	(void)state;
	on_disk(fill_the_disk);
}

static void a_disk_without_room_refuses_the_first(void **state)
{
	(void)state;
	on_disk(none_fits);
}

static void a_read_only_directory_is_read_and_refuses(void **state)
{
	(void)state;
	on_disk(only_read);
}

/* Begins, reports, and closes all but every tenth. */
static void work_until_killed(int fd)
{
	struct davy_intents *mine;

	if (davy_intents_open(DIR, &mine))
		_exit(1);
	for (uint32_t i = 1;; i++) {
		struct davy_intent cap = a_cap(i);
		int64_t id = davy_intent_begin(mine, &cap);

		if (id < 0)
			_exit(1);
		report_done(fd);
		if (i % TENTH && davy_intent_close(mine, id, 0))
			_exit(3);
	}
}

static void killed_at_any_instant_it_knows_all_that_was_begun(void **state)
{
	unsigned int seed = KILL_SEED, busy_count = 0;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		uint64_t most = (uint64_t)rand_r(&seed) % (4 * TENTH);
		uint64_t begun =
			kill_at_work(work_until_killed, most, (unsigned int)rand_r(&seed) % 4000);
		struct found f = { .close = true };

		assert_int_equal(davy_intents_open(DIR, &db), 0);
		assert_true(davy_intents_each_open(db, on_found, &f) >= 0);
		/* Those left open, and the one at which it was killed. */
		assert_in_range(f.count, begun / TENTH, begun / TENTH + 1);
		assert_int_equal(open_count(), 0);
		davy_intents_close(db);
		busy_count += begun > TENTH;
	}
	db = NULL;
	assert_true(busy_count > KILLS / 3);
}

int main(void)
{
#define WITH_DB(test) cmocka_unit_test_setup_teardown(test, open_db, close_db)
#define WITHOUT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)
	const struct CMUnitTest tests[] = {
		WITH_DB(an_open_intent_is_found_whole_and_a_closed_one_is_not),
		WITH_DB(a_found_intent_can_be_closed_at_once),
		WITH_DB(foreign_rows_are_closed_and_not_shown),
		WITH_DB(old_ones_are_forgotten_and_open_ones_are_not),
		WITH_DB(a_corrupt_database_is_reported_and_can_be_put_aside),
		WITH_DB(a_database_of_a_newer_program_is_not_changed),
		WITH_DB(while_another_writes_it_is_busy_and_not_stuck),
		WITHOUT(a_full_disk_refuses_the_next_and_keeps_the_former),
		WITHOUT(a_disk_without_room_refuses_the_first),
		WITHOUT(a_read_only_directory_is_read_and_refuses),
		WITHOUT(killed_at_any_instant_it_knows_all_that_was_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
