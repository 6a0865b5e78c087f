/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read from outside: process folders with hostile names, command lines, probe answers, ELF.
 */
#include "history.h"
#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/check.h"
#include "engines/engine.h"
#include "lib/file.h"
#include "lib/text.h"
#include "report/plan_text.h"
#include "sensors/proc/elf_site.h"
#include "sensors/proc/process_info.h"

/* Some tests read the real system: each sets its root. */
static int make_bare_root(void **state)
{
	int err = make_root(state);

	davy_root_set("");
	return err;
}

/* A comm with brackets, blanks and a newline: the fields must not shift. */
static void a_hostile_comm_does_not_shift_the_fields(void **state)
{
	struct davy_process_info info;

	(void)state;
	PUT("/proc/77/stat",
	    "77 (a) R 1 (\n)) S 42 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2\n");
	PUT("/proc/77/comm", "a) R 1 (\n)\n");
	PUT("/proc/77/cmdline", "");
	PUT("/proc/77/cgroup", "1:cpu:/x\n0::/davylamp-exec-5\n");
	davy_root_set(root);
	assert_int_equal(davy_process_info_read(77, &info), 0);
	davy_root_set("");
	assert_int_equal(info.ev.ppid, 42);
	assert_int_equal(info.ev.start_ticks, 987654);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_NONE);
	assert_string_equal(info.cgroup, "/davylamp-exec-5");
}

static void an_engine_on_lavapipe_differs_from_one_that_only_maps_vulkan(void **state)
{
	struct davy_process_info info;

	(void)state;
	PUT("/proc/78/stat",
	    "78 (llama-server) S 42 77 77 0 -1 1 1 2 3 4 5 6 7 8 20 0 1 0 5 1 2\n");
	PUT("/proc/78/comm", "llama-server\n");
	PUT("/proc/78/cmdline", "/usr/bin/llama-server\0-m\0/m/big model.gguf\0--port\0"
				"9931\0");
	PUT("/proc/78/maps", "1-2 r-xp 0 08:01 5 /usr/lib/libggml-vulkan.so\n"
			     "2-3 r-xp 0 08:01 6 /usr/lib/libvulkan_lvp.so\n"
			     "3-4 r-xp 0 08:01 7 /usr/lib/libggml-base.so.0.27\n"
			     "4-5 r-xp 0 08:01 8 /usr/lib/libstdc++.so.6\n");
	PUT("/proc/78/task/78/comm", "llama-server\n");
	davy_root_set(root);
	assert_int_equal(davy_process_info_read(78, &info), 0);
	assert_int_equal(info.ev.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_UNKNOWN);
	assert_int_equal(info.ev.port, 9931);
	assert_string_equal(info.ev.model, "big model.gguf");
	assert_non_null(strstr(info.ggml_library, "/proc/78/root/usr/lib/libggml-base.so.0.27"));
	PUT("/proc/78/task/80/comm", "llvmpipe-0\n");
	assert_int_equal(davy_process_info_read(78, &info), 0);
	assert_int_equal(info.ev.backend, DAVY_BACKEND_VULKAN);
	assert_string_equal(info.ev.device, "llvmpipe");
	davy_root_set("");
}

static void a_vanished_process_is_an_error(void **state)
{
	struct davy_process_info info;

	(void)state;
	davy_root_set(root);
	assert_int_equal(davy_process_info_read(4000000, &info), -ESRCH);
	PUT("/proc/79/stat", "garbage");
	assert_int_equal(davy_process_info_read(79, &info), -EBADMSG);
	davy_root_set("");
}

static void recognise(char *const argv[], struct davy_engine_facts *f)
{
	const struct davy_engine_look look = { .argv = argv, .exe = "", .parent = "" };

	davy_engine_identify(&look, f);
}

static void command_lines_are_recognised(void **state)
{
	struct davy_engine_facts f;

	(void)state;
	recognise((char *[]){ "/opt/x/llama-server", "-m", "/a/b.gguf", NULL }, &f);
	assert_int_equal(f.engine, DAVY_ENGINE_LLAMA_SERVER);
	assert_string_equal(f.model, "b.gguf");
	assert_int_equal(f.port, 8080);
	recognise((char *[]){ "llama-server", "-m", "/a/b.gguf", "--alias", "Bee", "--port", "x",
			      NULL },
		  &f);
	assert_string_equal(f.model, "Bee");
	assert_int_equal(f.port, 0);
	recognise((char *[]){ "llama-server", "--device", "none", "-m", NULL }, &f);
	assert_int_equal(f.backend, DAVY_BACKEND_CPU);
	assert_false(f.loads_model);
	recognise((char *[]){ "bash", "llama-server", NULL }, &f);
	assert_int_equal(f.engine, DAVY_ENGINE_NONE);
	recognise((char *[]){ NULL }, &f);
	assert_int_equal(f.engine, DAVY_ENGINE_NONE);
}

static bool has(const struct davy_args *args, const char *text)
{
	for (size_t i = 0; i < args->count; i++)
		if (!strcmp(args->at[i], text))
			return true;
	return false;
}

static const struct davy_engine_facts server = { .engine = DAVY_ENGINE_LLAMA_SERVER,
						 .gpu_layers = DAVY_LAYERS_AUTO };
static const struct davy_engine_facts nobody = { .engine = DAVY_ENGINE_NONE };
static const struct davy_engine_override cpu = { .backend = DAVY_BACKEND_CPU };

static void strict_cpu_leaves_no_device_flag(void **state)
{
	/* clang-format off */
	char *argv[] = { "llama-server", "-ngl", "99", "-dev", "Vulkan0", "-m", "x.gguf", "-ot",
			 "blk=Vulkan0", "--kv-offload", "-sm", "tensor", "--port", "81", "-devd",
			 "Vulkan0", NULL };
	/* clang-format on */
	struct davy_args args;

	(void)state;
	assert_int_equal(davy_engine_command(&server, argv, &cpu, &args), 0);
	assert_false(has(&args, "Vulkan0"));
	assert_false(has(&args, "blk=Vulkan0"));
	assert_false(has(&args, "99"));
	assert_false(has(&args, "tensor"));
	assert_true(has(&args, "x.gguf"));
	assert_true(has(&args, "81"));
	assert_true(has(&args, "none"));
	assert_true(has(&args, "--no-op-offload"));
	davy_args_done(&args);
	assert_int_equal(davy_engine_command(&nobody, argv, &cpu, &args), -EOPNOTSUPP);
}

static const char *value_behind(const struct davy_args *args, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i + 1 < args->count; i++)
		if (!strcmp(args->at[i], name))
			value = args->at[i + 1];
	return value ? value : "";
}

static void settings_replace_values_of_the_command(void **state)
{
	/* clang-format off */
	char *argv[] = { "llama-server", "-ub", "512", "-c", "4096", "-np", "4", "-m", "x.gguf",
			 "--ubatch-size=256", NULL };
	/* clang-format on */
	struct davy_engine_override override = {
		.settings = { .ubatch = 128, .context = 2048, .parallel = 2 }
	};
	struct davy_engine_facts facts = server;
	struct davy_args args;

	(void)state;
	assert_int_equal(davy_engine_command(&facts, argv, &override, &args), 0);
	assert_string_equal(value_behind(&args, "--ubatch-size"), "128");
	assert_string_equal(value_behind(&args, "--ctx-size"), "2048");
	assert_string_equal(value_behind(&args, "--parallel"), "2");
	assert_false(has(&args, "-ub") || has(&args, "512") || has(&args, "--ubatch-size=256"));
	assert_string_equal(value_behind(&args, "-m"), "x.gguf");
	davy_args_done(&args);

	override = (struct davy_engine_override){ .settings = { .cache_type =
									DAVY_TUNER_CACHE_Q8_0 } };
	assert_int_equal(davy_engine_command(&facts, argv, &override, &args), 0);
	assert_string_equal(value_behind(&args, "--cache-type-k"), "q8_0");
	assert_string_equal(value_behind(&args, "--cache-type-v"), "q8_0");
	davy_args_done(&args);

	override = (struct davy_engine_override){ .settings = { .gpu_layers_off = 3 } };
	assert_int_equal(davy_engine_command(&facts, argv, &override, &args), -EOPNOTSUPP);
	override.layers = 28;
	assert_int_equal(davy_engine_command(&facts, argv, &override, &args), 0);
	assert_string_equal(value_behind(&args, "--gpu-layers"), "26");
	davy_args_done(&args);
	facts.gpu_layers = 3;
	assert_int_equal(davy_engine_command(&facts, argv, &override, &args), -ERANGE);

	override = (struct davy_engine_override){ 0 };
	assert_int_equal(davy_engine_command(&nobody, argv, &override, &args), 0);
	assert_int_equal(args.count, 10);
	davy_args_done(&args);
	override.settings.ubatch = 1;
	assert_int_equal(davy_engine_command(&nobody, argv, &override, &args), -EOPNOTSUPP);
}

static void another_backend_is_another_device(void **state)
{
	char *argv[] = { "llama-server", "-dev", "Vulkan1", "-ngl", "9", NULL };
	struct davy_engine_override override = { .backend = DAVY_BACKEND_ROCM };
	struct davy_args args;

	(void)state;
	assert_int_equal(davy_engine_command(&server, argv, &override, &args), 0);
	assert_string_equal(value_behind(&args, "--device"), "ROCm0");
	assert_false(has(&args, "Vulkan1"));
	assert_string_equal(value_behind(&args, "-ngl"), "9");
	davy_args_done(&args);
	override.backend = DAVY_BACKEND_UNKNOWN;
	assert_int_equal(davy_engine_command(&server, argv, &override, &args), 0);
	assert_string_equal(value_behind(&args, "-dev"), "Vulkan1");
	davy_args_done(&args);
	assert_int_equal(davy_engine_can(DAVY_ENGINE_LLAMA_SERVER),
			 DAVY_CAN_SHRINK | DAVY_CAN_SWITCH | DAVY_CAN_KEEP);
	assert_int_equal(davy_engine_can(DAVY_ENGINE_VLLM), DAVY_CAN_SHRINK);
	assert_int_equal(davy_engine_can(DAVY_ENGINE_NONE), 0);
}

static void too_many_arguments_are_an_error(void **state)
{
	static char *argv[DAVY_ARGS_MAX + 10];
	struct davy_args args;

	(void)state;
	for (size_t i = 0; i < DAVY_ARGS_MAX + 9; i++)
		argv[i] = (char *)"llama-server";
	assert_int_equal(davy_engine_command(&server, argv, &cpu, &args), -E2BIG);
	assert_int_equal(args.count, 0);
}

static void only_the_probes_own_words_are_an_answer(void **state)
{
	static const char *const wrong[] = {
		"",
		"{}",
		"[1]",
		"{\"health\":200,\"completion\":200,\"tokens\":-1,\"ms\":2}",
		"{\"health\":\"200\",\"completion\":200,\"tokens\":1,\"ms\":2}",
		"{\"health\":200000,\"completion\":200,\"tokens\":1,\"ms\":2}",
		"Segmentation fault",
	};
	static const char right[] = "{\"health\":200,\"completion\":500,\"tokens\":0,\"ms\":2}\n";
	struct davy_check_result r;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(davy_check_parse(wrong[i], strlen(wrong[i]), &r), -EBADMSG);
	assert_int_equal(davy_check_parse(right, strlen(right), &r), 0);
	assert_int_equal(r.completion_status, 500);
}

static void text_is_shown_not_obeyed(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(davy_text_safe(buf, sizeof(buf), "a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
	assert_string_equal(davy_text_safe(buf, sizeof(buf), "\xc3\xa4\xff\\"),
			    "\xc3\xa4\\xff\\\\");
	assert_string_equal(davy_text_safe(buf, sizeof(buf),
					   "\xc2\x9b"
					   "31m"),
			    "\\xc2\\x9b31m");
	assert_string_equal(davy_text_safe(buf, sizeof(buf), "\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_string_equal(davy_text_safe(buf, 4, "ab\xc3\xa4"), "ab");
	assert_string_equal(davy_text_safe(buf, 1, "ab"), "");
}

static void type_names_are_spelled_out(void **state)
{
	char buf[DAVY_TYPE_NAME_LEN];

	(void)state;
	davy_type_text(LOST, buf, sizeof(buf));
	assert_string_equal(buf, "vk::DeviceLostError");
	davy_type_text("N2vk99999999999999999999E", buf, sizeof(buf));
	assert_string_equal(buf, "N2vk99999999999999999999E");
	davy_type_text("", buf, sizeof(buf));
	assert_string_equal(buf, "");
}

static void a_hostile_name_keeps_a_plan_one_line(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	struct davy_plan plan;

	(void)state;
	memset(&plan, 0, sizeof(plan));
	plan.kind = DAVY_PLAN_ACTION;
	plan.action = DAVY_ACTION_MIGRATE_CPU;
	plan.hazard = DAVY_HZ_RUNNER_CRASH;
	plan.engine = DAVY_ENGINE_LLAMA_SERVER;
	memset(plan.model, '\n', sizeof(plan.model) - 1);
	memset(plan.device, '\x1b', sizeof(plan.device) - 1);
	davy_plan_text(&plan, text, sizeof(text));
	assert_null(strchr(text, '\n'));
	assert_null(strchr(text, '\x1b'));
}

/* This test's own program: a function, and one that is not there. */
__attribute__((noinline, used)) int two_ways(volatile int x);
int two_ways(volatile int x)
{
	if (x > 3)
		return x + 1;
	return x - 1;
}

static void a_probes_site_is_found_and_lies_in_the_prologue(void **state)
{
	uint64_t entry, cheap;

	(void)state;
	assert_int_equal(davy_elf_site("/proc/self/exe", "two_ways", true, &entry), 0);
	assert_int_equal(davy_elf_site("/proc/self/exe", "two_ways", false, &cheap), 0);
	assert_true(cheap >= entry && cheap < entry + 256);
	assert_int_equal(davy_elf_site("/proc/self/exe", "no_such_function", true, &entry),
			 -ENOENT);
	assert_int_equal(davy_elf_site("/etc/passwd", "two_ways", true, &entry), -ENOEXEC);
	assert_int_equal(davy_elf_site("/nonexistent", "two_ways", true, &entry), -ENOENT);
}

static void files_are_replaced_whole(void **state)
{
	char path[128], text[16];

	(void)state;
	snprintf(path, sizeof(path), "%s/file", root);
	assert_int_equal(davy_replace_file(path, "old", 3, 0644), 0);
	assert_int_equal(davy_replace_file(path, "new!", 4, 0600), 0);
	assert_int_equal(davy_read_file(path, text, sizeof(text)), 4);
	assert_string_equal(text, "new!");
	assert_int_equal(davy_read_file(path, text, 3), 2);
	snprintf(path, sizeof(path), "%s/none/file", root);
	assert_int_equal(davy_replace_file(path, "x", 1, 0644), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hostile_comm_does_not_shift_the_fields),
		cmocka_unit_test(an_engine_on_lavapipe_differs_from_one_that_only_maps_vulkan),
		cmocka_unit_test(a_vanished_process_is_an_error),
		cmocka_unit_test(command_lines_are_recognised),
		cmocka_unit_test(strict_cpu_leaves_no_device_flag),
		cmocka_unit_test(settings_replace_values_of_the_command),
		cmocka_unit_test(another_backend_is_another_device),
		cmocka_unit_test(too_many_arguments_are_an_error),
		cmocka_unit_test(only_the_probes_own_words_are_an_answer),
		cmocka_unit_test(text_is_shown_not_obeyed),
		cmocka_unit_test(type_names_are_spelled_out),
		cmocka_unit_test(a_hostile_name_keeps_a_plan_one_line),
		cmocka_unit_test(a_probes_site_is_found_and_lies_in_the_prologue),
		cmocka_unit_test(files_are_replaced_whole),
	};

	return cmocka_run_group_tests(tests, make_bare_root, remove_root);
}
