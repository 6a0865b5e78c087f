/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy layer with its history, the ledger and the learned policy, with a fault at each change
 * of a file (tries.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "store/counts.h"
#include "store/generated.h"
#include "store/intents.h"
#include "store/learned.h"
#include "store/ledger.h"
#include "store/samples.h"
#include "store/tuning.h"
#include "store/policy_file.h"
#include "store/versions.h"
#include "tries.h"

#define ONE   "[rule one]\nbackends = vulkan, cpu\n"
#define TWO   "[rule two]\nbackends = cpu\nubatch = 256\n"
#define THREE "[rule three]\nparallel = 1\n"

static struct davy_db *open_in(const char *where)
{
	struct davy_db *db = NULL;

	assert_int_equal(davy_db_open(where, DAVY_DB_MAKE, &db), 0);
	return db;
}

/* The policy layer. */
static char *layer_old, *layer_new; /* NULL: there is none */
static int versions_old;

static void make_version(const char *body)
{
	struct davy_db *db = open_in(BEFORE);

	assert_true(davy_version_add(db, "prepared", "", body) > 0);
	davy_db_close(db);
}

static void expect_layer(const char *old, uint32_t old_version, const char *new,
			 uint32_t new_version)
{
	free(layer_old);
	free(layer_new);
	layer_old = layer_new = NULL;
	if (old)
		assert_int_equal(davy_generated_text(old_version, old, &layer_old), 0);
	assert_int_equal(davy_generated_text(new_version, new, &layer_new), 0);
}

static void layer_is_whole(void)
{
	assert_true(holds(DAVY_POLICY_NAME, layer_old) || holds(DAVY_POLICY_NAME, layer_new));
}

static void count_version(void *arg, const struct davy_version *v)
{
	(void)v;
	++*(int *)arg;
}

/* After the next open: file and history agree. */
static bool layer_is_new(void)
{
	struct davy_db *db = open_in(dir);
	struct davy_version v;
	char *text = NULL;
	int shown, newest, count = 0;
	bool is_new;

	assert_true(davy_versions_repair(db) >= 0);
	assert_int_equal(davy_versions_repair(db), DAVY_VERSIONS_WHOLE);
	is_new = holds(DAVY_POLICY_NAME, layer_new);
	assert_true(is_new || holds(DAVY_POLICY_NAME, layer_old));
	newest = davy_version_newest(db);
	shown = davy_versions_each(db, count_version, &count);
	assert_int_equal(shown, count);
	assert_int_equal(count, versions_old + is_new);
	assert_int_equal(newest, versions_old + is_new);
	if (newest) {
		assert_int_equal(davy_version_get(db, (uint32_t)newest, &v, &text), 0);
		assert_true(holds(DAVY_POLICY_NAME, text));
		free(text);
	}
	davy_db_close(db);
	return is_new;
}

static int on_layer(int (*work)(struct davy_db *db))
{
	struct davy_db *db = NULL;
	int err = davy_db_open(dir, DAVY_DB_MAKE, &db);

	if (!err)
		err = work(db);
	davy_db_close(db);
	return err;
}

static int add_two(struct davy_db *db)
{
	return davy_version_add(db, "a test", "seen 3 times", TWO);
}

static int act_add(void)
{
	return on_layer(add_two);
}

static void prepare_nothing(void)
{
	versions_old = 0;
	expect_layer(NULL, 0, TWO, 1);
}

static void prepare_one(void)
{
	make_version(ONE);
	versions_old = 1;
	expect_layer(ONE, 1, TWO, 2);
}

static void the_first_version_is_there_or_not(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_nothing,
					 .act = act_add,
					 .check = layer_is_whole,
					 .is_new = layer_is_new });
}

static void a_further_version_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_one,
					 .act = act_add,
					 .check = layer_is_whole,
					 .is_new = layer_is_new });
}

static int roll_back(struct davy_db *db)
{
	return davy_version_rollback(db, 1);
}

static int act_rollback(void)
{
	return on_layer(roll_back);
}

static void prepare_two(void)
{
	make_version(ONE);
	make_version(THREE);
	versions_old = 2;
	expect_layer(THREE, 2, ONE, 1);
}

static void a_rollback_is_done_or_not(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_two,
					 .act = act_rollback,
					 .check = layer_is_whole,
					 .is_new = layer_is_new });
}

/* The repair itself. */
#define BY_HAND "[rule mine]\nbackends = cpu\n"

static void prepare_by_hand(void)
{
	make_version(ONE);
	PUT(BEFORE "/" DAVY_POLICY_NAME, BY_HAND);
	expect_layer(NULL, 0, ONE, 1);
}

static int act_repair(void)
{
	return on_layer(davy_versions_repair);
}

static void nothing_by_hand_is_lost(void)
{
	assert_true(holds(DAVY_POLICY_NAME, BY_HAND) || holds(DAVY_POLICY_NAME ".hand", BY_HAND));
	assert_true(holds(DAVY_POLICY_NAME, BY_HAND) || holds(DAVY_POLICY_NAME, layer_new) ||
		    !there(DAVY_POLICY_NAME));
}

static bool hand_is_aside(void)
{
	bool done = holds(DAVY_POLICY_NAME, layer_new);
	struct davy_db *db = open_in(dir);

	assert_true(davy_versions_repair(db) >= 0);
	davy_db_close(db);
	assert_true(holds(DAVY_POLICY_NAME, layer_new) && holds(DAVY_POLICY_NAME ".hand", BY_HAND));
	return done;
}

static void an_interrupted_repair_can_be_repeated(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_by_hand,
					 .act = act_repair,
					 .check = nothing_by_hand_is_lost,
					 .is_new = hand_is_aside,
					 .late = true });
}

/* The ledger. */
static const struct davy_ledger_key key = { .device = "0000:03:00.0",
					    .model = "a.gguf",
					    .backend = DAVY_BACKEND_VULKAN,
					    .ubatch = 512,
					    .context = 8192 };

static int note(const char *where)
{
	struct davy_ledger_entry delta = {
		.survived_s = 3600,
		.deepest = 4000,
		.faults = { [DAVY_CLASS_HANG] = 1, [DAVY_CLASS_OTHER] = 2 },
		.outcome = DAVY_CLASS_HANG
	};
	struct davy_db *db = NULL;
	int err = davy_db_open(where, DAVY_DB_MAKE, &db);

	if (!err)
		err = davy_ledger_note(db, &key, &delta);
	davy_db_close(db);
	return err;
}

static void prepare_ledger(void)
{
	assert_int_equal(note(BEFORE), 0);
}

static int act_note(void)
{
	return note(dir);
}

static void take_row(void *arg, const struct davy_ledger_row *row)
{
	*(struct davy_ledger_row *)arg = *row;
}

static bool ledger_is_new(void)
{
	struct davy_db *db = open_in(dir);
	struct davy_ledger_row row;
	uint32_t times;

	assert_int_equal(davy_ledger_each(db, &(struct davy_ledger_filter){ 0 }, take_row, &row),
			 1);
	davy_db_close(db);
	times = (uint32_t)(row.entry.survived_s / 3600);
	assert_in_range(times, 1, 2);
	assert_int_equal(row.entry.faults[DAVY_CLASS_HANG], times);
	assert_int_equal(row.entry.faults[DAVY_CLASS_OTHER], 2 * times);
	return times == 2;
}

static void a_note_in_the_ledger_counts_wholly_or_not(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_ledger,
					 .act = act_note,
					 .check = no_check,
					 .is_new = ledger_is_new });
}

/* What the tuner knows: a state of several pages, all of one letter. */
static int tune(const char *where, char letter)
{
	struct davy_db *db = NULL;
	char state[DAVY_TUNING_MAX];
	int err = davy_db_open(where, DAVY_DB_MAKE, &db);

	memset(state, letter, sizeof(state));
	if (!err)
		err = davy_tuning_save(db, key.device, key.model, state, sizeof(state));
	davy_db_close(db);
	return err;
}

static void prepare_tuning(void)
{
	assert_int_equal(tune(BEFORE, 'o'), 0);
}

static int act_tune(void)
{
	return tune(dir, 'n');
}

static bool tuning_is_new(void)
{
	struct davy_db *db = open_in(dir);
	char state[DAVY_TUNING_MAX];

	assert_int_equal(davy_tuning_load(db, key.device, key.model, state, sizeof(state)), 0);
	davy_db_close(db);
	assert_true(state[0] == 'o' || state[0] == 'n');
	for (size_t i = 1; i < sizeof(state); i++)
		assert_int_equal(state[i], state[0]);
	return state[0] == 'n';
}

static void the_tuners_state_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_tuning,
					 .act = act_tune,
					 .check = no_check,
					 .is_new = tuning_is_new });
}

/* The result of an alarm. */
static int add_sample(const char *where, uint64_t value)
{
	const struct davy_sample s = { .key = DAVY_CFG_STALL_LEVEL2,
				       .result = DAVY_SAMPLE_FALSE,
				       .value = value,
				       .device = "0000:03:00.0",
				       .model = "m" };
	struct davy_db *db = NULL;
	int err = davy_db_open(where, DAVY_DB_MAKE, &db);

	if (!err)
		err = davy_sample_add(db, &s);
	davy_db_close(db);
	return err;
}

/* A full table: the new sample replaces the oldest. */
static void prepare_samples(void)
{
	struct davy_db *db;

	assert_int_equal(add_sample(BEFORE, 1), 0);
	db = open_in(BEFORE);
	assert_int_equal(davy_db_run(db, "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 "
					 "FROM n WHERE i < 1024) INSERT INTO sample SELECT i, key, "
					 "result, at_s, i, device, driver, model FROM sample, n"),
			 0);
	davy_db_close(db);
}

static int act_sample(void)
{
	return add_sample(dir, 2000);
}

static bool samples_are_new(void)
{
	static struct davy_sample samples[DAVY_SAMPLES_KEPT];
	const struct davy_sample like = { .key = DAVY_CFG_STALL_LEVEL2, .model = "m" };
	struct davy_db *db = open_in(dir);
	uint64_t first, last;

	assert_int_equal(davy_samples_load(db, &like, samples), DAVY_SAMPLES_KEPT);
	davy_db_close(db);
	first = samples[0].value;
	last = samples[DAVY_SAMPLES_KEPT - 1].value;
	assert_true((first == 1 && last == 1024) || (first == 2 && last == 2000) ||
		    (first == 3 && last == 2000)); /* added again after an error */
	return last == 2000;
}

static void a_sample_is_added_or_not(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_samples,
					 .act = act_sample,
					 .check = no_check,
					 .is_new = samples_are_new });
}

/* A database of the first schema, with an open intent. */
static void prepare_schema_1(void)
{
	struct davy_intent intent = { .action = 1, .text = "open" };
	struct davy_intents *in;
	struct davy_db *db;

	assert_int_equal(davy_intents_open(BEFORE, &in), 0);
	assert_int_equal(davy_intent_begin(in, &intent), 1);
	davy_intents_close(in);
	db = open_in(BEFORE);
	assert_int_equal(
		davy_db_run(db, "DROP TABLE ledger; DROP TABLE ledger_fault; "
				"DROP TABLE version; DROP TABLE tuning; DROP TABLE unit_setting; "
				"DROP TABLE foresight; DROP TABLE sample; PRAGMA user_version = 1"),
		0);
	davy_db_close(db);
}

static void count_intent(void *arg, const struct davy_intent *intent)
{
	assert_string_equal(intent->text, "open");
	++*(int *)arg;
}

static bool migrated(void)
{
	struct davy_intents *in = NULL;
	int count = 0;
	bool done = ledger_is_new();

	assert_int_equal(davy_intents_open(dir, &in), 0);
	assert_int_equal(davy_intents_each_open(in, count_intent, &count), 1);
	davy_intents_close(in);
	return done;
}

/* Opened, which migrates it, and one note; here a note that was not made leaves no row. */
static bool migrated_and_noted(void)
{
	struct davy_db *db = open_in(dir);
	struct davy_ledger_row row;
	int count = davy_ledger_each(db, &(struct davy_ledger_filter){ 0 }, take_row, &row);

	assert_in_range(count, 0, 1);
	davy_db_close(db);
	if (!count)
		assert_int_equal(note(dir), 0);
	assert_int_equal(note(dir), 0);
	assert_true(migrated());
	return count == 1;
}

static void a_migration_is_done_or_done_again(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_schema_1,
					 .act = act_note,
					 .check = no_check,
					 .is_new = migrated_and_noted });
}

/* What was foreseen: two counters that belong together. */
static int count(const char *where, uint64_t failures)
{
	static struct davy_counts counts = { .since_s = 7 };

	counts.seen.class[DAVY_CLASS_HANG].failures = failures;
	counts.seen.class[DAVY_CLASS_HANG].missed = failures;
	return davy_counts_save(where, &counts);
}

static void prepare_counts(void)
{
	assert_int_equal(count(BEFORE, 1), 0);
}

static int act_count(void)
{
	return count(dir, 2);
}

static bool counts_are_new(void)
{
	static struct davy_counts counts;
	const struct davy_class_score *score = &counts.seen.class[DAVY_CLASS_HANG];

	assert_int_equal(davy_counts_load(dir, &counts), 0);
	assert_int_equal(counts.since_s, 7);
	assert_in_range(score->failures, 1, 2);
	assert_int_equal(score->failures, score->missed);
	return score->failures == 2;
}

static void the_counters_are_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_counts,
					 .act = act_count,
					 .check = no_check,
					 .is_new = counts_are_new });
}

/* What was learned. */
static int learn(const char *where, uint16_t count)
{
	struct davy_learned learned;
	int line, err = davy_learned_load(where, &learned, &line);

	if (err)
		return err;
	davy_learned_get(&learned, key.device, key.backend, key.model)->open_count = count;
	return davy_learned_save(where, &learned);
}

static void prepare_learned(void)
{
	assert_int_equal(learn(BEFORE, 1), 0);
}

static int act_learn(void)
{
	return learn(dir, 2);
}

static bool learned_is_new(void)
{
	struct davy_learned learned;
	int line;

	assert_int_equal(davy_learned_load(dir, &learned, &line), 0);
	assert_int_equal(learned.count, 1);
	assert_in_range(learned.entry[0].open_count, 1, 2);
	assert_int_equal(learned.version, learned.entry[0].open_count);
	return learned.version == 2;
}

static void the_learned_policy_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_learned,
					 .act = act_learn,
					 .check = no_check,
					 .is_new = learned_is_new,
					 .late = true });
}

static int teardown(void **state)
{
	free(layer_old);
	free(layer_new);
	layer_old = layer_new = NULL;
	return remove_root(state);
}

int main(void)
{
#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, teardown)
	const struct CMUnitTest tests[] = {
		WITH_ROOT(the_first_version_is_there_or_not),
		WITH_ROOT(a_further_version_is_the_old_or_the_new),
		WITH_ROOT(a_rollback_is_done_or_not),
		WITH_ROOT(an_interrupted_repair_can_be_repeated),
		WITH_ROOT(a_note_in_the_ledger_counts_wholly_or_not),
		WITH_ROOT(the_tuners_state_is_the_old_or_the_new),
		WITH_ROOT(a_sample_is_added_or_not),
		WITH_ROOT(a_migration_is_done_or_done_again),
		WITH_ROOT(the_counters_are_the_old_or_the_new),
		WITH_ROOT(the_learned_policy_is_the_old_or_the_new),
	};

	fault_setup();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
