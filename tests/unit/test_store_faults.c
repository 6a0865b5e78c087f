/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy layer with its history, the ledger, what was learned and what is generated for
 * others: each is changed by a child at whose n-th change of a file the call fails, the disk is
 * full from then on, or the child is killed before or within it; n = 1, 2, ... until none is left.
 * What is found afterwards is old or new; and new exactly if the change was said to be done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "faults.h"

#include "../../userspace/output/output.h"
#include "../../userspace/store/adopted.h"
#include "../../userspace/store/generated.h"
#include "../../userspace/store/intents.h"
#include "../../userspace/store/learned.h"
#include "../../userspace/store/ledger.h"
#include "../../userspace/store/tuning.h"
#include "../../userspace/store/policy_file.h"
#include "../../userspace/store/versions.h"
#include "root.h"

#define BEFORE	  "/before"
#define ONE	  "[rule one]\nbackends = vulkan, cpu\n"
#define TWO	  "[rule two]\nbackends = cpu\nubatch = 256\n"
#define THREE	  "[rule three]\nparallel = 1\n"
#define CALLS_MAX 400

/* A change that is tried; DIR is a copy of BEFORE, which "prepare" has filled. */
struct subject {
	void (*prepare)(void);
	int (*act)(void);     /* in the child: 0 or more, or -errno */
	void (*check)(void);  /* before anything is repaired: no file is torn */
	bool (*is_new)(void); /* asserts that it is old otherwise */
	bool late;	      /* it may be done and fail: the sync of the directory comes last */
};

static char dir[32]; /* below root, another for each try */

static void path_in(char *path, size_t size, const char *where, const char *name)
{
	assert_true(snprintf(path, size, "%s%s/%s", root, where, name) < (int)size);
}

static bool there(const char *name)
{
	char path[256];

	path_in(path, sizeof(path), dir, name);
	return !access(path, F_OK);
}

static const char *content(const char *name)
{
	static char text[DL_GENERATED_MAX];
	char path[256];

	path_in(path, sizeof(path), dir, name);
	return dl_read_file(path, text, sizeof(text)) < 0 ? NULL : text;
}

static bool holds(const char *name, const char *text)
{
	const char *is = content(name);

	return text ? is && !strcmp(is, text) : !is;
}

static struct dl_db *open_in(const char *where)
{
	struct dl_db *db = NULL;

	assert_int_equal(dl_db_open(where, DL_DB_MAKE, &db), 0);
	return db;
}

static void copy_file(const char *name)
{
	char from[256], to[256], text[256 * 1024];
	struct stat st;
	int in, out;
	ssize_t n;

	path_in(from, sizeof(from), BEFORE, name);
	path_in(to, sizeof(to), dir, name);
	if (stat(from, &st))
		return;
	in = open(from, O_RDONLY);
	out = open(to, O_WRONLY | O_CREAT, 0600);
	n = read(in, text, sizeof(text));
	assert_true(n >= 0 && n == st.st_size);
	assert_int_equal(dl_write_all(out, text, (size_t)n), 0);
	close(in);
	close(out);
}

/* What a closed database and the files beside it come down to. */
static void begin_try(void)
{
	static const char *const names[] = { DL_DB_NAME, DL_POLICY_NAME, DL_LEARNED_NAME, "a.env",
					     DL_ADOPTED_NAME };
	static unsigned int tries;
	char path[128];

	snprintf(dir, sizeof(dir), "/try%u", tries++);
	snprintf(path, sizeof(path), "%s%s", root, dir);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		copy_file(names[i]);
}

/* 0: it was done, 1: it was said to have failed, -1: it was killed. */
static int try_it(const struct subject *s, enum fault_mode mode, long at)
{
	int status;
	pid_t pid;

	fault_plan(FAULT_NONE, 0);
	pid = fork();
	if (!pid) {
		fault_plan(mode, at);
		status = s->act() < 0;
		fault->mode = FAULT_NONE;
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fault->mode = FAULT_NONE;
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return -1;
	}
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status);
}

static void remove_try(void)
{
	static const char *const names[] = {
		DL_DB_NAME,	DL_DB_NAME "-wal",	DL_DB_NAME "-shm",
		DL_POLICY_NAME, DL_POLICY_NAME ".hand", DL_LEARNED_NAME,
		"a.env",	"a.env.hand",		DL_ADOPTED_NAME
	};
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(path, sizeof(path), dir, names[i]);
		unlink(path);
	}
	path_in(path, sizeof(path), dir, "");
	rmdir(path); /* not where a temporary file of a killed one lies */
}

static void at_every_call(const struct subject *s)
{
	char path[128];
	long calls = 0;

	fault_plan(FAULT_NONE, 0);
	snprintf(path, sizeof(path), "%s" BEFORE, root);
	assert_int_equal(mkdir(path, 0755), 0);
	s->prepare();
	for (int mode = FAULT_FAILS; mode < FAULT_MODES; mode++) {
		for (long at = 1; at < CALLS_MAX; at++) {
			int ended;
			bool is_new;

			begin_try();
			ended = try_it(s, (enum fault_mode)mode, at);
			calls = fault->calls;
			s->check();
			is_new = s->is_new();
			if (!ended || (ended > 0 && !s->late))
				assert_int_equal(is_new, !ended);
			remove_try();
			if (calls < at) {
				assert_int_equal(ended, 0);
				break;
			}
		}
		assert_in_range(calls, 4, CALLS_MAX - 2);
	}
	print_message("%ld calls\n", calls);
}

/* The policy layer. */
static char *layer_old, *layer_new; /* NULL: there is none */
static int versions_old;

static void make_version(const char *body)
{
	struct dl_db *db = open_in(BEFORE);

	assert_true(dl_version_add(db, "prepared", "", body) > 0);
	dl_db_close(db);
}

static void expect_layer(const char *old, uint32_t old_version, const char *new,
			 uint32_t new_version)
{
	free(layer_old);
	free(layer_new);
	layer_old = layer_new = NULL;
	if (old)
		assert_int_equal(dl_generated_text(old_version, old, &layer_old), 0);
	assert_int_equal(dl_generated_text(new_version, new, &layer_new), 0);
}

static void layer_is_whole(void)
{
	assert_true(holds(DL_POLICY_NAME, layer_old) || holds(DL_POLICY_NAME, layer_new));
}

static void count_version(void *arg, const struct dl_version *v)
{
	(void)v;
	++*(int *)arg;
}

/* After the next open: file and history agree. */
static bool layer_is_new(void)
{
	struct dl_db *db = open_in(dir);
	struct dl_version v;
	char *text = NULL;
	int shown, newest, count = 0;
	bool is_new;

	assert_true(dl_versions_repair(db) >= 0);
	assert_int_equal(dl_versions_repair(db), DL_VERSIONS_WHOLE);
	is_new = holds(DL_POLICY_NAME, layer_new);
	assert_true(is_new || holds(DL_POLICY_NAME, layer_old));
	newest = dl_version_newest(db);
	shown = dl_versions_each(db, count_version, &count);
	assert_int_equal(shown, count);
	assert_int_equal(count, versions_old + is_new);
	assert_int_equal(newest, versions_old + is_new);
	if (newest) {
		assert_int_equal(dl_version_get(db, (uint32_t)newest, &v, &text), 0);
		assert_true(holds(DL_POLICY_NAME, text));
		free(text);
	}
	dl_db_close(db);
	return is_new;
}

static int on_layer(int (*work)(struct dl_db *db))
{
	struct dl_db *db = NULL;
	int err = dl_db_open(dir, DL_DB_MAKE, &db);

	if (!err)
		err = work(db);
	dl_db_close(db);
	return err;
}

static int add_two(struct dl_db *db)
{
	return dl_version_add(db, "a test", "seen 3 times", TWO);
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

static int roll_back(struct dl_db *db)
{
	return dl_version_rollback(db, 1);
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
	PUT(BEFORE "/" DL_POLICY_NAME, BY_HAND);
	expect_layer(NULL, 0, ONE, 1);
}

static int act_repair(void)
{
	return on_layer(dl_versions_repair);
}

static void nothing_by_hand_is_lost(void)
{
	assert_true(holds(DL_POLICY_NAME, BY_HAND) || holds(DL_POLICY_NAME ".hand", BY_HAND));
	assert_true(holds(DL_POLICY_NAME, BY_HAND) || holds(DL_POLICY_NAME, layer_new) ||
		    !there(DL_POLICY_NAME));
}

static bool hand_is_aside(void)
{
	bool done = holds(DL_POLICY_NAME, layer_new);
	struct dl_db *db = open_in(dir);

	assert_true(dl_versions_repair(db) >= 0);
	dl_db_close(db);
	assert_true(holds(DL_POLICY_NAME, layer_new) && holds(DL_POLICY_NAME ".hand", BY_HAND));
	return done;
}

static void a_repair_can_be_cut_short_itself(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_by_hand,
					 .act = act_repair,
					 .check = nothing_by_hand_is_lost,
					 .is_new = hand_is_aside,
					 .late = true });
}

/* The ledger. */
static const struct dl_ledger_key key = { .device = "0000:03:00.0",
					  .model = "a.gguf",
					  .backend = DL_BACKEND_VULKAN,
					  .ubatch = 512,
					  .context = 8192 };

static int note(const char *where)
{
	struct dl_ledger_entry delta = { .survived_s = 3600,
					 .deepest = 4000,
					 .faults = { [DL_CLASS_HANG] = 1, [DL_CLASS_OTHER] = 2 },
					 .outcome = DL_CLASS_HANG };
	struct dl_db *db = NULL;
	int err = dl_db_open(where, DL_DB_MAKE, &db);

	if (!err)
		err = dl_ledger_note(db, &key, &delta);
	dl_db_close(db);
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

static void no_check(void)
{
}

static void take_row(void *arg, const struct dl_ledger_row *row)
{
	*(struct dl_ledger_row *)arg = *row;
}

static bool ledger_is_new(void)
{
	struct dl_db *db = open_in(dir);
	struct dl_ledger_row row;
	uint32_t times;

	assert_int_equal(dl_ledger_each(db, &(struct dl_ledger_filter){ 0 }, take_row, &row), 1);
	dl_db_close(db);
	times = (uint32_t)(row.entry.survived_s / 3600);
	assert_in_range(times, 1, 2);
	assert_int_equal(row.entry.faults[DL_CLASS_HANG], times);
	assert_int_equal(row.entry.faults[DL_CLASS_OTHER], 2 * times);
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
	struct dl_db *db = NULL;
	char state[DL_TUNING_MAX];
	int err = dl_db_open(where, DL_DB_MAKE, &db);

	memset(state, letter, sizeof(state));
	if (!err)
		err = dl_tuning_save(db, key.device, key.model, state, sizeof(state));
	dl_db_close(db);
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
	struct dl_db *db = open_in(dir);
	char state[DL_TUNING_MAX];

	assert_int_equal(dl_tuning_load(db, key.device, key.model, state, sizeof(state)), 0);
	dl_db_close(db);
	assert_true(state[0] == 'o' || state[0] == 'n');
	for (size_t i = 1; i < sizeof(state); i++)
		assert_int_equal(state[i], state[0]);
	return state[0] == 'n';
}

static void what_the_tuner_knows_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_tuning,
					 .act = act_tune,
					 .check = no_check,
					 .is_new = tuning_is_new });
}

/* A database of the first schema, with an open intent. */
static void prepare_schema_1(void)
{
	struct dl_intent intent = { .rung = 1, .text = "open" };
	struct dl_intents *in;
	struct dl_db *db;

	assert_int_equal(dl_intents_open(BEFORE, &in), 0);
	assert_int_equal(dl_intent_begin(in, &intent), 1);
	dl_intents_close(in);
	db = open_in(BEFORE);
	assert_int_equal(
		dl_db_run(db, "DROP TABLE ledger; DROP TABLE ledger_fault; "
			      "DROP TABLE version; DROP TABLE tuning; PRAGMA user_version = 1"),
		0);
	dl_db_close(db);
}

static void count_intent(void *arg, const struct dl_intent *intent)
{
	assert_string_equal(intent->text, "open");
	++*(int *)arg;
}

static bool migrated(void)
{
	struct dl_intents *in = NULL;
	int count = 0;
	bool done = ledger_is_new();

	assert_int_equal(dl_intents_open(dir, &in), 0);
	assert_int_equal(dl_intents_each_open(in, count_intent, &count), 1);
	dl_intents_close(in);
	return done;
}

/* Opened, which migrates it, and one note; here a note that was not made leaves no row. */
static bool migrated_and_noted(void)
{
	struct dl_db *db = open_in(dir);
	struct dl_ledger_row row;
	int count = dl_ledger_each(db, &(struct dl_ledger_filter){ 0 }, take_row, &row);

	assert_in_range(count, 0, 1);
	dl_db_close(db);
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

/* What was learned. */
static int learn(const char *where, uint16_t count)
{
	struct dl_learned learned;
	int line, err = dl_learned_load(where, &learned, &line);

	if (err)
		return err;
	dl_learned_get(&learned, key.device, key.backend, key.model)->open_count = count;
	return dl_learned_save(where, &learned);
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
	struct dl_learned learned;
	int line;

	assert_int_equal(dl_learned_load(dir, &learned, &line), 0);
	assert_int_equal(learned.count, 1);
	assert_in_range(learned.entry[0].open_count, 1, 2);
	assert_int_equal(learned.version, learned.entry[0].open_count);
	return learned.version == 2;
}

static void what_was_learned_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_learned,
					 .act = act_learn,
					 .check = no_check,
					 .is_new = learned_is_new,
					 .late = true });
}

/* What is generated for others. */
static char *output_old, *output_new;

static int generate(const char *where, uint32_t version, const char *body)
{
	char path[256];

	path_in(path, sizeof(path), where, "a.env");
	return dl_generated_write(path, version, body);
}

static void prepare_output(void)
{
	assert_int_equal(generate(BEFORE, 1, "LLAMA_ARG_UBATCH=512\n"), 0);
	assert_int_equal(dl_generated_text(1, "LLAMA_ARG_UBATCH=512\n", &output_old), 0);
	assert_int_equal(dl_generated_text(2, "LLAMA_ARG_UBATCH=256\n", &output_new), 0);
}

static int act_generate(void)
{
	return generate(dir, 2, "LLAMA_ARG_UBATCH=256\n");
}

static bool output_is_new(void)
{
	assert_true(holds("a.env", output_old) || holds("a.env", output_new));
	return holds("a.env", output_new);
}

static void an_output_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_output,
					 .act = act_generate,
					 .check = no_check,
					 .is_new = output_is_new,
					 .late = true });
	free(output_old);
	free(output_new);
}

static void prepare_edited_output(void)
{
	prepare_output();
	PUT(BEFORE "/a.env", "# Generated by davylamp 0.1, version 1, sum 0\nMINE=1\n");
}

static bool edited_output_is_kept(void)
{
	const char *mine = "# Generated by davylamp 0.1, version 1, sum 0\nMINE=1\n";

	assert_true(holds("a.env", mine) || holds("a.env.hand", mine));
	assert_true(holds("a.env", mine) || holds("a.env", output_new) || !there("a.env"));
	return holds("a.env", output_new);
}

static void an_edited_output_is_never_lost(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_edited_output,
					 .act = act_generate,
					 .check = no_check,
					 .is_new = edited_output_is_kept,
					 .late = true });
	free(output_old);
	free(output_new);
}

/* What 'davylamp policy write --out' and an adopted unit's rules do: made from rules, renewed. */
static const char *output_format;

static char *make_output(const char *rules, uint32_t version, char **ret_text)
{
	const struct dl_output_model model = { "a", "/m/a.gguf" };
	const struct dl_output_format *f = dl_output_format_named(output_format);
	struct dl_policy_layer *layer = calloc(1, sizeof(*layer));
	struct dl_output_result *made = calloc(1, sizeof(*made));
	struct dl_output_request r = { .server = "llama-server",
				       .models = &model,
				       .model_count = f->no_model ? 0 : 1 };
	char error[DL_CONFIG_ERROR_LEN], *body;

	assert_non_null(layer);
	assert_non_null(made);
	assert_int_equal(
		dl_policy_text_read(rules, strlen(rules), "r", DL_LAYER_PEOPLE, layer, error), 0);
	r.set.layer[DL_LAYER_PEOPLE] = layer;
	assert_int_equal(dl_output_make(f, &r, made), 0);
	assert_int_equal(dl_generated_text_as(f->style, version, made->body, ret_text), 0);
	body = made->body;
	free(made);
	free(layer);
	return body;
}

static char *body_old, *body_new;

static void prepare_renewal(void)
{
	char path[256];
	uint32_t version = 0;

	body_old = make_output("[rule r]\nubatch = 256\n", 1, &output_old);
	body_new = make_output("[rule r]\nubatch = 128\nenvironment X = 1\n", 2, &output_new);
	path_in(path, sizeof(path), BEFORE, "a.env");
	assert_int_equal(dl_generated_renew(path, dl_output_format_named(output_format)->style,
					    body_old, &version),
			 0);
}

static int act_renew(void)
{
	char path[256];
	uint32_t version = 0;

	path_in(path, sizeof(path), dir, "a.env");
	return dl_generated_renew(path, dl_output_format_named(output_format)->style, body_new,
				  &version);
}

static void every_format_is_the_old_or_the_new(void **state)
{
	output_format = *state;
	at_every_call(&(struct subject){ .prepare = prepare_renewal,
					 .act = act_renew,
					 .check = no_check,
					 .is_new = output_is_new,
					 .late = true });
	free(output_old);
	free(output_new);
	free(body_old);
	free(body_new);
}

static int with_format(void **state, const char *format)
{
	*state = (void *)format;
	return make_root(state);
}

#define FORMAT(id, name)                                                                           \
	static int set_##id(void **state)                                                          \
	{                                                                                          \
		return with_format(state, name);                                                   \
	}
FORMAT(env, "env")
FORMAT(router_preset, "router-preset")
FORMAT(ollama, "ollama")
FORMAT(llama_swap, "llama-swap")
FORMAT(lemonade, "lemonade")

/* The list of adopted units, with which each of their files is written. */
static int adopt(const char *where, uint32_t version)
{
	struct dl_adopted adopted;
	struct dl_adopted_unit *u;
	int line, err = dl_adopted_load(where, &adopted, &line);

	if (err)
		return err;
	u = dl_adopted_find(&adopted, "a.service");
	u = u ? u : dl_adopted_add(&adopted, "a.service");
	u->version = u->knobs.ubatch = version;
	return dl_adopted_save(where, &adopted);
}

static void prepare_adopted(void)
{
	assert_int_equal(adopt(BEFORE, 1), 0);
}

static int act_adopt(void)
{
	return adopt(dir, 2);
}

static bool adopted_is_new(void)
{
	struct dl_adopted adopted;
	int line;

	assert_int_equal(dl_adopted_load(dir, &adopted, &line), 0);
	assert_int_equal(adopted.count, 1);
	assert_in_range(adopted.unit[0].version, 1, 2);
	assert_int_equal(adopted.unit[0].knobs.ubatch, adopted.unit[0].version);
	return adopted.unit[0].version == 2;
}

static void the_list_of_units_is_the_old_or_the_new(void **state)
{
	(void)state;
	at_every_call(&(struct subject){ .prepare = prepare_adopted,
					 .act = act_adopt,
					 .check = no_check,
					 .is_new = adopted_is_new,
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
#define OF_FORMAT(id)                                                                              \
	cmocka_unit_test_setup_teardown(every_format_is_the_old_or_the_new, set_##id, teardown)
	const struct CMUnitTest tests[] = {
		WITH_ROOT(the_first_version_is_there_or_not),
		WITH_ROOT(a_further_version_is_the_old_or_the_new),
		WITH_ROOT(a_rollback_is_done_or_not),
		WITH_ROOT(a_repair_can_be_cut_short_itself),
		WITH_ROOT(a_note_in_the_ledger_counts_wholly_or_not),
		WITH_ROOT(what_the_tuner_knows_is_the_old_or_the_new),
		WITH_ROOT(a_migration_is_done_or_done_again),
		WITH_ROOT(what_was_learned_is_the_old_or_the_new),
		WITH_ROOT(an_output_is_the_old_or_the_new),
		WITH_ROOT(an_edited_output_is_never_lost),
		WITH_ROOT(the_list_of_units_is_the_old_or_the_new),
		OF_FORMAT(env),
		OF_FORMAT(router_preset),
		OF_FORMAT(ollama),
		OF_FORMAT(llama_swap),
		OF_FORMAT(lemonade),
	};

	fault_setup();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
