/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stored state with a fault at each read: a failed open, read or allocation says
 * nothing about the content of a file, so that no loader may call the file bad (the agent puts bad
 * files aside for good).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "lib/file.h"
#include "store/adopted.h"
#include "store/counts.h"
#include "store/generated.h"
#include "store/intents.h"
#include "store/learned.h"
#include "store/ledger.h"
#include "store/policy_file.h"
#include "read_faults.h"

#define DIR	  "/state"
#define TRIES_MAX 20000

static char root[64];

static void path_in(char path[256], const char *name)
{
	snprintf(path, 256, "%s" DIR "/%s", root, name);
}

static void put_file(const char *name, const char *text)
{
	char path[256];

	path_in(path, name);
	assert_int_equal(davy_replace_file(path, text, strlen(text), 0644), 0);
}

static void make_all(void)
{
	struct davy_ledger_key key = { .backend = DAVY_BACKEND_VULKAN, .ubatch = 512 };
	struct davy_ledger_entry entry = { .survived_s = 1, .last_s = 1 };
	struct davy_learned learned = { 0 };
	struct davy_adopted adopted = { 0 };
	struct davy_counts counts = { .since_s = 5 };
	struct davy_db *db = NULL;
	char path[256];

	snprintf(root, sizeof(root), "/tmp/davylamp-reads-XXXXXX");
	assert_non_null(mkdtemp(root));
	davy_root_set(root);
	path_in(path, "");
	assert_int_equal(davy_make_dirs(path), 0);
	davy_learned_get(&learned, "0000:03:00.0", DAVY_BACKEND_VULKAN, "a.gguf")->state =
		DAVY_BREAKER_OPEN;
	assert_int_equal(davy_learned_save(DIR, &learned), 0);
	assert_non_null(davy_adopted_add(&adopted, "ollama.service"));
	assert_int_equal(davy_adopted_save(DIR, &adopted), 0);
	assert_int_equal(davy_counts_save(DIR, &counts), 0);
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	davy_copy_name(key.device, sizeof(key.device), "0000:03:00.0");
	for (uint32_t i = 0; i < 300; i++) {
		key.ubatch = i;
		assert_int_equal(davy_ledger_note(db, &key, &entry), 0);
	}
	davy_db_close(db);
}

static int read_learned(void)
{
	struct davy_learned learned = { 0 };
	int line, err = davy_learned_load(DIR, &learned, &line);

	assert_true(err || learned.count == 1);
	return err;
}

static int read_adopted(void)
{
	struct davy_adopted adopted;
	int err = davy_adopted_load(DIR, &adopted);

	assert_true(err || adopted.count == 1);
	return err;
}

static int read_counts(void)
{
	struct davy_counts counts = { 0 };
	int err = davy_counts_load(DIR, &counts);

	assert_true(err || counts.since_s == 5);
	return err;
}

/* Both files of before schema 3, each time anew. */
static int import_old(int (*load)(void), const char *name, const char *text)
{
	enum read_fault_mode mode = read_fault.mode;
	char path[256], bad[264];
	int err;

	read_fault.mode = READ_FAULT_NONE;
	put_file(name, text);
	read_fault.mode = mode;
	err = load();
	read_fault.mode = READ_FAULT_NONE;
	path_in(path, name);
	snprintf(bad, sizeof(bad), "%s.bad", path);
	assert_int_not_equal(err, -EUCLEAN);
	assert_int_not_equal(access(bad, F_OK), 0);
	assert_true(err || access(path, F_OK));
	return err;
}

static int import_adopted(void)
{
	return import_old(read_adopted, DAVY_ADOPTED_OLD_NAME, "[unit 1]\nunit = ollama.service\n");
}

static const char old_counts[] =
	"{\"format\":1,\"since\":5,"
	"\"classes\":{\"hang\":{\"failures\":3,\"missed\":3}},\"hazards\":{}}";

static int import_counts(void)
{
	return import_old(read_counts, DAVY_COUNTS_OLD_NAME, old_counts);
}

static int parse_counts(void)
{
	struct davy_counts counts;
	int err = davy_counts_parse(&counts, old_counts);

	assert_true(err || counts.seen.class[DAVY_CLASS_HANG].missed == 3);
	return err;
}

static int open_database(void)
{
	struct davy_db *db = NULL;
	int err = davy_db_open(DIR, DAVY_DB_MAKE, &db);

	davy_db_close(db);
	return err;
}

/* One whose writer was killed: its write-ahead log has what the file lacks. */
static int open_killed(void)
{
	char from[256], to[256];
	static const char *const parts[] = { "", "-wal" };

	for (size_t i = 0; i < 2; i++) {
		enum read_fault_mode mode = read_fault.mode;

		read_fault.mode = READ_FAULT_NONE;
		snprintf(from, sizeof(from), "%s" DIR "/killed%s", root, parts[i]);
		snprintf(to, sizeof(to), "%s" DIR "/" DAVY_DB_NAME "%s", root, parts[i]);
		read_fault_copy(from, to);
		read_fault.mode = mode;
	}
	return open_database();
}

/* Each "step"-th call fails in turn, alone and with all that follow. */
static void at_reads(int (*load)(void), long step)
{
	for (int mode = READ_FAULT_ONCE; mode < READ_FAULT_MODES; mode++) {
		for (int kind = 0; kind < READ_FAULT_KINDS; kind++) {
			long at = 1;
			bool reached = true;

			for (; reached && at < TRIES_MAX; at += step) {
				int err;

				read_fault_plan((enum read_fault_mode)mode,
						(enum read_fault_kind)kind, at);
				err = load();
				reached = read_fault.calls >= at;
				read_fault.mode = READ_FAULT_NONE;
				if (err == -EBADMSG || (!reached && err))
					print_message("mode %d, kind %d, call %ld: %d\n", mode,
						      kind, at, err);
				assert_int_not_equal(err, -EBADMSG);
				assert_true(reached || !err);
			}
			assert_in_range(at, 1, TRIES_MAX - 1);
		}
	}
}

static void at_every_read(int (*load)(void))
{
	at_reads(load, 1);
}

static void a_failed_read_does_not_put_learned_conf_aside(void **state)
{
	(void)state;
	at_every_read(read_learned);
}

static void a_failed_read_does_not_put_the_units_aside(void **state)
{
	(void)state;
	at_every_read(read_adopted);
}

static void a_failed_read_does_not_put_the_counters_aside(void **state)
{
	(void)state;
	at_every_read(read_counts);
}

static void a_failed_read_does_not_put_older_files_aside(void **state)
{
	(void)state;
	at_every_read(parse_counts);
	at_reads(import_adopted, 53); /* what it consists of was tried at every call */
	at_reads(import_counts, 53);
}

/* Every allocation fails in turn: what is saved then is the old or the new. */
static void a_save_without_memory_is_done_or_not(void **state)
{
	struct davy_counts counts = { .since_s = 5 };
	bool reached = true;

	(void)state;
	for (long at = 1; reached && at < TRIES_MAX; at++) {
		struct davy_counts is;
		int err;

		counts.seen.class[DAVY_CLASS_HANG].failures = (uint64_t)at;
		counts.seen.class[DAVY_CLASS_HANG].missed = (uint64_t)at;
		read_fault_plan(READ_FAULT_ONCE, READ_FAULT_MEMORY, at);
		err = davy_counts_save(DIR, &counts);
		reached = read_fault.calls >= at;
		read_fault.mode = READ_FAULT_NONE;
		assert_true(reached || !err);
		assert_int_equal(davy_counts_load(DIR, &is), 0);
		assert_int_equal(is.since_s, 5);
		if (!err)
			assert_int_equal(is.seen.class[DAVY_CLASS_HANG].failures, at);
		assert_int_equal(is.seen.class[DAVY_CLASS_HANG].failures,
				 is.seen.class[DAVY_CLASS_HANG].missed);
	}
	assert_false(reached);
}

static void a_failed_read_does_not_put_the_database_aside(void **state)
{
	(void)state;
	at_every_read(open_database);
}

static void a_failed_read_does_not_put_a_killed_writers_database_aside(void **state)
{
	struct davy_ledger_key key = { .backend = DAVY_BACKEND_CPU };
	struct davy_ledger_entry entry = { .survived_s = 1, .last_s = 1 };
	static const char *const parts[] = { "", "-wal" };
	struct davy_db *db = NULL;
	char from[256], to[256];

	(void)state;
	assert_int_equal(davy_db_open(DIR, DAVY_DB_MAKE, &db), 0);
	for (uint32_t i = 0; i < 100; i++) {
		key.ubatch = 1000 + i;
		assert_int_equal(davy_ledger_note(db, &key, &entry), 0);
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s" DIR "/" DAVY_DB_NAME "%s", root, parts[i]);
		snprintf(to, sizeof(to), "%s" DIR "/killed%s", root, parts[i]);
		read_fault_copy(from, to);
	}
	davy_db_close(db);
	at_every_read(open_killed);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
	char path[256], text[8];

	(void)state;
	path_in(path, "seven");
	put_file("seven", "1234567");
	assert_int_equal(davy_read_whole(path, text, sizeof(text)), 7);
	assert_string_equal(text, "1234567");
	put_file("seven", "12345678");
	assert_int_equal(davy_read_whole(path, text, sizeof(text)), -EFBIG);
	assert_string_equal(text, "");
	put_file("seven", "");
	assert_int_equal(davy_read_whole(path, text, sizeof(text)), 0);
}

/* 256 KiB of comments before what counts. */
static void a_file_that_is_too_long_is_not_truncated(void **state)
{
	static char text[300 * 1024];
	struct davy_learned learned = { 0 };
	struct davy_adopted adopted;
	int line;

	(void)state;
	for (size_t i = 0; i + 100 < sizeof(text); i += 100) {
		memset(text + i, '#', 99);
		text[i + 99] = '\n';
	}
	snprintf(text + 299 * 1024, 100, "\n[unit 1]\nunit = ollama.service\n");
	put_file(DAVY_ADOPTED_OLD_NAME, text);
	put_file(DAVY_LEARNED_NAME, text);
	assert_int_equal(davy_adopted_load(DIR, &adopted), -EFBIG);
	assert_int_equal(davy_learned_load(DIR, &learned, &line), -EFBIG);
}

static void a_generated_file_with_additions_is_the_operators(void **state)
{
	static char text[DAVY_GENERATED_MAX + 16];
	enum davy_generated is;
	uint32_t version = 0;
	char path[256];
	ssize_t n;
	FILE *file;

	(void)state;
	path_in(path, "a.env");
	assert_int_equal(davy_generated_renew(path, DAVY_GENERATED_COMMENT, "A=1\n", &version), 0);
	assert_int_equal(davy_generated_look(path, &is), 0);
	assert_int_equal(is, DAVY_GENERATED_OURS);
	n = davy_read_file(path, text, sizeof(text));
	assert_true(n > 0);
	file = fopen(path, "ae");
	assert_non_null(file);
	assert_int_equal(fwrite("\0B=2\n", 1, 5, file), 5); /* behind a NUL */
	assert_int_equal(fclose(file), 0);
	assert_int_equal(davy_generated_look(path, &is), 0);
	assert_int_equal(is, DAVY_GENERATED_EDITED);
}

static int setup(void **state)
{
	(void)state;
	read_fault_setup(); /* before SQLite is used */
	make_all();
	return 0;
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void a_kept_descriptor_lets_a_full_process_read(void **state)
{
	struct rlimit before, full;
	char text[64];
	ssize_t n[3];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	full = (struct rlimit){ (rlim_t)lowest_free(), before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	n[0] = davy_read_file("/proc/self/stat", text, sizeof(text));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(davy_spare_fd_keep(), 0);
	full.rlim_cur = (rlim_t)lowest_free();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	n[1] = davy_read_file("/proc/self/stat", text, sizeof(text));
	n[2] = davy_read_file("/proc/self/stat", text, sizeof(text)); /* it is kept again */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(n[0], -EMFILE);
	assert_true(n[1] > 0);
	assert_true(n[2] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_read_does_not_put_learned_conf_aside),
		cmocka_unit_test(a_failed_read_does_not_put_the_units_aside),
		cmocka_unit_test(a_failed_read_does_not_put_the_counters_aside),
		cmocka_unit_test(a_failed_read_does_not_put_older_files_aside),
		cmocka_unit_test(a_save_without_memory_is_done_or_not),
		cmocka_unit_test(a_failed_read_does_not_put_the_database_aside),
		cmocka_unit_test(a_failed_read_does_not_put_a_killed_writers_database_aside),
		cmocka_unit_test(a_file_is_read_whole_or_not_at_all),
		cmocka_unit_test(a_file_that_is_too_long_is_not_truncated),
		cmocka_unit_test(a_generated_file_with_additions_is_the_operators),
		cmocka_unit_test(a_kept_descriptor_lets_a_full_process_read),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
