/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services: the settings in their environment, and the files that outlive the agent. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "act/unit.h"
#include "engines/environment.h"
#include "store/adopted.h"
#include "store/db.h"
#include "store/generated.h"
#include "root.h"

static int tell(const char *const *argv, const char *const *envp,
		struct davy_engine_override override, struct davy_environment *e)
{
	const struct davy_engine_look look = {
		.argv = (char *const *)argv, .envp = (char *const *)envp, .exe = "", .parent = ""
	};
	struct davy_engine_facts facts;

	davy_engine_identify(&look, &facts);
	return davy_engine_environment(&look, &facts, &override, e);
}

static const char *value_of(const struct davy_environment *e, const char *name)
{
	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->at[i].name, name))
			return e->at[i].value;
	return "(not told)";
}

static const char *const no_env[] = { NULL };

static void test_llama(void **state)
{
	static const char *const argv[] = { "llama-server", "-m", "x.gguf", "-ngl", "99", NULL };
	static const char *const layers[] = { "LLAMA_ARG_N_GPU_LAYERS=20", NULL };
	static const char *const plain[] = { "llama-server", "-m", "x.gguf", NULL };
	struct davy_environment e;

	(void)state;
	assert_int_equal(tell(argv, no_env, (struct davy_engine_override){ 0 }, &e), 0);
	assert_int_equal(e.count, 0);
	assert_int_equal(tell(argv, no_env,
			      (struct davy_engine_override){ .backend = DAVY_BACKEND_CPU }, &e),
			 0);
	assert_string_equal(value_of(&e, "LLAMA_ARG_DEVICE"), "none");
	assert_int_equal(
		tell(argv, no_env,
		     (struct davy_engine_override){ .backend = DAVY_BACKEND_ROCM,
						    .settings = { .ubatch = 64, .parallel = 1 } },
		     &e),
		0);
	assert_string_equal(value_of(&e, "LLAMA_ARG_DEVICE"), "ROCm0");
	assert_string_equal(value_of(&e, "LLAMA_ARG_UBATCH"), "64");
	assert_string_equal(value_of(&e, "LLAMA_ARG_N_PARALLEL"), "1");
	assert_string_equal(value_of(&e, "LLAMA_ARG_CTX_SIZE"), "(not told)");
	assert_int_equal(tell(argv, no_env,
			      (struct davy_engine_override){
				      .settings = { .cache_type = DAVY_TUNER_CACHE_Q8_0 } },
			      &e),
			 0);
	assert_string_equal(value_of(&e, "LLAMA_ARG_CACHE_TYPE_K"), "q8_0");
	assert_string_equal(value_of(&e, "LLAMA_ARG_CACHE_TYPE_V"), "q8_0");
	/* Fewer layers: of a number that is known, and not beaten by a flag. */
	assert_int_equal(tell(plain, layers,
			      (struct davy_engine_override){ .settings = { .gpu_layers_off = 5 } },
			      &e),
			 0);
	assert_string_equal(value_of(&e, "LLAMA_ARG_N_GPU_LAYERS"), "15");
	assert_int_equal(tell(plain, layers,
			      (struct davy_engine_override){ .settings = { .gpu_layers_off = 20 } },
			      &e),
			 -EOPNOTSUPP);
	assert_int_equal(tell(plain, no_env,
			      (struct davy_engine_override){ .settings = { .gpu_layers_off = 5 } },
			      &e),
			 -EOPNOTSUPP);
	assert_int_equal(tell(argv, no_env,
			      (struct davy_engine_override){ .settings = { .gpu_layers_off = 5 } },
			      &e),
			 -EOPNOTSUPP);
	assert_non_null(strstr(e.why, "-ngl"));
}

static void test_llama_refuses(void **state)
{
	static const struct {
		const char *argv[8];
		const char *envp[2];
		struct davy_engine_override override;
		const char *why;
	} cases[] = {
		{ { "llama-server", "-m", "x", "-dev", "Vulkan0" },
		  { 0 },
		  { .backend = DAVY_BACKEND_CPU },
		  "-dev" },
		{ { "llama-server", "-m", "x", "--device=Vulkan0" },
		  { 0 },
		  { .backend = DAVY_BACKEND_CPU },
		  "-dev" },
		{ { "llama-server", "-m", "x", "-ot", "a=Vulkan0" },
		  { 0 },
		  { .backend = DAVY_BACKEND_CPU },
		  "places" },
		{ { "llama-server", "-m", "x", "-md", "y" },
		  { 0 },
		  { .backend = DAVY_BACKEND_CPU },
		  "second" },
		{ { "llama-server", "-m", "x" },
		  { "LLAMA_ARG_OVERRIDE_TENSOR=a=Vulkan0" },
		  { .backend = DAVY_BACKEND_CPU },
		  "unset" },
		{ { "llama-server", "-m", "x", "-dev", "none" },
		  { 0 },
		  { .backend = DAVY_BACKEND_VULKAN },
		  "-dev" },
		{ { "llama-server", "-m", "x", "--ubatch-size", "256" },
		  { 0 },
		  { .settings = { .ubatch = 64 } },
		  "-ub" },
		{ { "llama-server", "-m", "x", "-c", "512" },
		  { 0 },
		  { .settings = { .context = 256 } },
		  "-c" },
		{ { "vllm", "serve", "m" }, { 0 }, { .backend = DAVY_BACKEND_CPU }, "vllm" },
	};
	struct davy_environment e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(tell(cases[i].argv, cases[i].envp, cases[i].override, &e),
				 -EOPNOTSUPP);
		assert_non_null(strstr(e.why, cases[i].why));
	}
}

static void test_ollama(void **state)
{
	static const char *const argv[] = { "ollama", "serve", NULL };
	static const char *const envp[] = { "OLLAMA_NUM_PARALLEL=4", NULL };
	struct davy_environment e;

	(void)state;
	assert_int_equal(
		tell(argv, envp, (struct davy_engine_override){ .backend = DAVY_BACKEND_CPU }, &e),
		0);
	assert_string_equal(value_of(&e, "OLLAMA_LLM_LIBRARY"), "cpu");
	assert_string_equal(value_of(&e, "LLAMA_ARG_DEVICE"), "none");
	/* The context of all slots is ours, of one is Ollama's. */
	assert_int_equal(tell(argv, envp,
			      (struct davy_engine_override){ .settings = { .context = 8192 } }, &e),
			 0);
	assert_string_equal(value_of(&e, "OLLAMA_CONTEXT_LENGTH"), "2048");
	assert_int_equal(tell(argv, envp,
			      (struct davy_engine_override){
				      .settings = { .context = 8192, .parallel = 2 } },
			      &e),
			 0);
	assert_string_equal(value_of(&e, "OLLAMA_CONTEXT_LENGTH"), "4096");
	assert_string_equal(value_of(&e, "OLLAMA_NUM_PARALLEL"), "2");
	assert_int_equal(
		tell(argv, envp, (struct davy_engine_override){ .backend = DAVY_BACKEND_ROCM }, &e),
		-EOPNOTSUPP);
	assert_int_equal(
		tell(argv, envp, (struct davy_engine_override){ .settings = { .ubatch = 64 } }, &e),
		-EOPNOTSUPP);
}

static void test_names(void **state)
{
	char longest[DAVY_UNIT_LEN + 8];

	(void)state;
	assert_true(davy_unit_name_valid("ollama.service"));
	assert_true(davy_unit_name_valid("llm@7b.service"));
	assert_true(davy_unit_name_valid("a\\x2db.service"));
	assert_false(davy_unit_name_valid(""));
	assert_false(davy_unit_name_valid(".service"));
	assert_false(davy_unit_name_valid("llm@.service")); /* a template */
	assert_false(davy_unit_name_valid("ollama.socket"));
	assert_false(davy_unit_name_valid("../x.service"));
	assert_false(davy_unit_name_valid("a/b.service"));
	assert_false(davy_unit_name_valid("a b.service"));
	assert_false(davy_unit_name_valid("a%n.service"));
	assert_false(davy_unit_name_valid("a\n.service"));
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + DAVY_UNIT_LEN - 9,
	       ".service"); /* with its NUL just what there is room for */
	assert_true(davy_unit_name_valid(longest));
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + DAVY_UNIT_LEN - 8, ".service");
	assert_false(davy_unit_name_valid(longest));
}

static void read_back(const char *path, char *text, size_t size)
{
	assert_true(davy_read_file(path, text, size) > 0);
}

static void test_generated(void **state)
{
	char path[256], aside[264], text[512];
	enum davy_generated what;
	struct stat st;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/g.env", root);
	snprintf(aside, sizeof(aside), "%s.hand", path);
	assert_int_equal(davy_generated_look(path, &what), 0);
	assert_int_equal(what, DAVY_GENERATED_ABSENT);
	assert_int_equal(davy_generated_write(path, 3, "A=1\n"), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	read_back(path, text, sizeof(text));
	assert_non_null(strstr(text, ", version 3, sum "));
	assert_non_null(strstr(text, "\nA=1\n"));
	assert_int_equal(davy_generated_write(path, 4, "A=2\n"), 0);
	assert_int_equal(access(aside, F_OK), -1);
	/* Changed by hand: kept, and reported. */
	file = fopen(path, "a");
	fputs("B=1\n", file);
	fclose(file);
	assert_int_equal(davy_generated_look(path, &what), 0);
	assert_int_equal(what, DAVY_GENERATED_EDITED);
	assert_int_equal(davy_generated_write(path, 5, "A=3\n"), 1);
	read_back(aside, text, sizeof(text));
	assert_non_null(strstr(text, "A=2\nB=1\n"));
	assert_int_equal(davy_generated_remove(path), 0);
	assert_int_equal(davy_generated_remove(path), 0);
	/* Never ours: it stays. */
	PUT("/g.env", "A=4\n");
	assert_int_equal(davy_generated_write(path, 6, "A=5\n"), -EEXIST);
	assert_int_equal(davy_generated_remove(path), -EEXIST);
	read_back(path, text, sizeof(text));
	assert_string_equal(text, "A=4\n");
}

static void test_adopted(void **state)
{
	struct davy_adopted list = { 0 }, again;
	struct davy_adopted_unit *u;
	char name[32];

	(void)state;
	assert_int_equal(davy_adopted_load("/state", &again), 0);
	assert_int_equal(again.count, 0);
	for (int i = 0; i < DAVY_ADOPTED_MAX; i++) {
		snprintf(name, sizeof(name), "u%d.service", i);
		assert_non_null(davy_adopted_add(&list, name));
	}
	assert_null(davy_adopted_add(&list, "one-more.service"));
	u = davy_adopted_find(&list, "u7.service");
	u->version = 9;
	u->made_dir = u->stopped = u->capped = true;
	u->memory_high = UINT64_MAX;
	u->cpu_quota = 1500000;
	u->backend = DAVY_BACKEND_CPU;
	u->settings = (struct davy_start_settings){ 64, 2048, 2, 3, 0 };
	u->unproven = true;
	u->was_backend = DAVY_BACKEND_VULKAN;
	u->was_settings = (struct davy_start_settings){ 128, 4096, 4, 1, 0 };
	davy_copy_name(u->derived, sizeof(u->derived), "llama3:8b");
	u->shrunk_for = DAVY_HZ_JOB_HEADROOM;
	u->moved_for = DAVY_HZ_RESET;
	u->moved_from = DAVY_BACKEND_ROCM;
	u->before_cpu = DAVY_BACKEND_VULKAN;
	davy_copy_name(u->moved_off, sizeof(u->moved_off), "0000:03:00.0");
	davy_adopted_remove(&list, "u0.service");
	assert_int_equal(davy_adopted_save("/state", &list), 0);
	assert_int_equal(davy_adopted_load("/state", &again), 0);
	assert_int_equal(again.count, DAVY_ADOPTED_MAX - 1);
	for (size_t i = 0; i < list.count; i++) {
		u = davy_adopted_find(&again, list.unit[i].unit);
		assert_non_null(u);
		assert_memory_equal(u, &list.unit[i], sizeof(*u));
	}
	assert_int_equal(davy_adopted_uncapped("/state", "u7.service"), 0);
	assert_int_equal(davy_adopted_load("/state", &again), 0);
	davy_adopted_find(&list, "u7.service")->capped = false;
	assert_memory_equal(davy_adopted_find(&again, "u7.service"),
			    davy_adopted_find(&list, "u7.service"), sizeof(*u));
}

static void test_adopted_torn(void **state)
{
	static const char *const bad[] = {
		"[unit 1]\nversion = 1\n",			      /* before its name */
		"[unit 1]\nunit = a.service\nversion = -1\n",	      /* no number */
		"[unit 1]\nunit = a.service\nversion = 4294967296\n", /* too large */
		"[unit 1]\nunit = a.service\nmade_dir = 2\n",
		"[unit 1]\nunit = a.service\nbackend = tpu\n",
		"[unit 1]\nunit = a.service\nshrunk_for = boredom\n",
		"[unit 1]\nunit = a.service\n[unit 2]\nunit = a.service\n", /* twice */
		"[other]\nunit = a.service\n",
		"[unit 1]\nunit = a.service\nnot-a-key\n",
	};
	struct davy_adopted list;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/state/units.conf.bad", root);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put("/state/units.conf", bad[i], strlen(bad[i]));
		assert_int_equal(davy_adopted_load("/state", &list), -EUCLEAN);
		assert_int_equal(list.count, 0);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(davy_adopted_load("/state", &list), 0);
	assert_int_equal(list.count, 0);
}

/* As davylamp 0.1 has written it. */
static const char written_before[] =
	"# Written by davylamp: services in its care, and what each is told.\n\n"
	"[unit 1]\nunit = a.service\nversion = 3\nmade_dir = 1\nstopped = 0\n"
	"backend = vulkan\nubatch = 64\ncontext = 0\nparallel = 0\ncache_type = 1\n"
	"gpu_layers_off = 2\nderived = llama3:8b\ncapped = 1\n"
	"memory_high = 18446744073709551615\ncpu_quota = 1500000\n"
	"shrunk_for = job_headroom\nmoved_for = none\nmoved_from = unknown\n"
	"before_cpu = unknown\nmoved_off = \nunproven = 1\n"
	"was_backend = rocm\nwas_ubatch = 128\n"
	"\n[unit 2]\nunit = b.service\nversion = 1\n";

static void test_adopted_before(void **state)
{
	struct davy_adopted list;
	struct davy_adopted_unit *u;

	(void)state;
	PUT("/state/units.conf", written_before);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(davy_adopted_load("/state", &list), 0);
		assert_int_equal(list.count, 2);
		u = davy_adopted_find(&list, "a.service");
		assert_true(u && u->version == 3 && u->made_dir && !u->stopped && u->capped);
		assert_int_equal(u->backend, DAVY_BACKEND_VULKAN);
		assert_int_equal(u->settings.ubatch, 64);
		assert_int_equal(u->settings.cache_type, 1);
		assert_int_equal(u->settings.gpu_layers_off, 2);
		assert_string_equal(u->derived, "llama3:8b");
		assert_true(u->memory_high == UINT64_MAX && u->cpu_quota == 1500000);
		assert_int_equal(u->shrunk_for, DAVY_HZ_JOB_HEADROOM);
		assert_true(u->unproven && u->was_backend == DAVY_BACKEND_ROCM);
		assert_int_equal(u->was_settings.ubatch, 128);
	}
	davy_adopted_remove(&list, "a.service");
	assert_int_equal(davy_adopted_save("/state", &list), 0);
	assert_int_equal(davy_adopted_load("/state", &list), 0);
	assert_int_equal(list.count, 1);
}

/* A value that this davylamp does not know leaves the rows as they are. */
static void test_adopted_wrong_row(void **state)
{
	struct davy_adopted list = { 0 };
	struct davy_db *db = NULL;

	(void)state;
	assert_non_null(davy_adopted_add(&list, "a.service"));
	assert_int_equal(davy_adopted_save("/state", &list), 0);
	assert_int_equal(davy_db_open("/state", DAVY_DB_THERE, &db), 0);
	assert_int_equal(
		davy_db_run(db, "UPDATE unit_setting SET value = 'tpu' WHERE setting = 'backend'"),
		0);
	assert_int_equal(davy_adopted_load("/state", &list), -EBADMSG);
	assert_int_equal(list.count, 0);
	assert_int_equal(
		davy_db_run(db, "UPDATE unit_setting SET value = 'cpu' WHERE setting = 'backend'"),
		0);
	davy_db_close(db);
	assert_int_equal(davy_adopted_load("/state", &list), 0);
	assert_int_equal(list.unit[0].backend, DAVY_BACKEND_CPU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llama),
		cmocka_unit_test(test_llama_refuses),
		cmocka_unit_test(test_ollama),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_generated, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_adopted, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_adopted_torn, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_adopted_before, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_adopted_wrong_row, make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
