/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges the steps of a start: stage reached, where it stopped and why; and prints them. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/discovery.h"
#include "trace/show.h"
#include "lib/text.h"

#define ENGINE 100
#define RUNNER 101

static struct davy_stages *stages;
static struct davy_start_outcome outcome;
static uint64_t now;

static int setup(void **state)
{
	(void)state;
	stages = davy_stages_new();
	now = 1000000000;
	return stages ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	davy_stages_free(stages);
	return 0;
}

static struct davy_start_step base(enum davy_start_step_kind kind, uint32_t pid)
{
	now += 1000000;
	return (struct davy_start_step){ .kind = kind,
					 .at_ns = now,
					 .pid = pid,
					 .tid = pid,
					 .path = "",
					 .text = "",
					 .argv = "",
					 .envp = "" };
}

static void executed(uint32_t pid, uint32_t parent, const char *path, const char *environment)
{
	struct davy_start_step step = base(DAVY_STEP_EXEC, pid);

	step.path = path;
	step.other = parent;
	step.argv = davy_step_base(path);
	step.argv_size = strlen(step.argv) + 1;
	step.envp = environment;
	step.envp_size = strlen(environment) + 1;
	davy_stages_step(stages, &step);
}

static void opened(uint32_t pid, const char *path, int32_t code)
{
	struct davy_start_step step = base(DAVY_STEP_OPEN, pid);

	step.path = path;
	step.code = code;
	davy_stages_step(stages, &step);
}

static void mapped(uint32_t pid, const char *name)
{
	struct davy_start_step step = base(DAVY_STEP_MAP, pid);

	step.path = name;
	davy_stages_step(stages, &step);
}

static uint32_t function(const char *symbol)
{
	for (uint32_t i = 0; i < davy_function_count; i++)
		if (!strcmp(davy_functions[i].symbol, symbol))
			return i;
	fail_msg("no function '%s'", symbol);
	return 0;
}

static void entered(uint32_t pid, const char *symbol, const char *text)
{
	struct davy_start_step step = base(DAVY_STEP_CALL, pid);

	step.function = function(symbol);
	step.path = text;
	davy_stages_step(stages, &step);
}

static void returned(uint32_t pid, const char *symbol, uint64_t result, uint32_t count)
{
	struct davy_start_step step = base(DAVY_STEP_RETURN, pid);

	step.function = function(symbol);
	step.result = result;
	step.count = count;
	davy_stages_step(stages, &step);
}

static void called(uint32_t pid, const char *symbol, uint64_t result, uint32_t count)
{
	entered(pid, symbol, "");
	returned(pid, symbol, result, count);
}

static void link_failed(uint32_t pid, const char *object, const char *text)
{
	struct davy_start_step step = base(DAVY_STEP_LINK_ERROR, pid);

	step.path = object;
	step.text = text;
	davy_stages_step(stages, &step);
}

static void signalled(uint32_t pid, int sig, uint32_t sender)
{
	struct davy_start_step step = base(DAVY_STEP_SIGNAL, pid);

	step.code = sig;
	step.other = sender;
	step.path = "someone";
	davy_stages_step(stages, &step);
}

static void ended(uint32_t pid, int32_t status)
{
	struct davy_start_step step = base(DAVY_STEP_EXIT, pid);

	step.code = status;
	davy_stages_step(stages, &step);
}

static void judge(void)
{
	davy_stages_judge(stages, now, 0, &outcome);
}

static void loaded(uint32_t pid, const char *path)
{
	entered(pid, "dlopen", path);
	opened(pid, path, 3);
	mapped(pid, davy_step_base(path));
	returned(pid, "dlopen", 1, 0);
}

static void nvml_is_well(uint32_t pid)
{
	loaded(pid, "/l/libnvidia-ml.so.1");
	called(pid, "nvmlInit_v2", 0, 0);
	called(pid, "nvmlDeviceGetCount_v2", 0, 1);
}

static void a_whole_start_reaches_its_graph(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	nvml_is_well(ENGINE);
	loaded(ENGINE, "/l/libggml-cuda.so");
	called(ENGINE, "cuInit", 0, 0);
	called(ENGINE, "cuDeviceGetCount", 0, 2);
	called(ENGINE, "ggml_backend_buft_alloc_buffer", 1, 0);
	judge();
	assert_false(outcome.complete);
	assert_int_equal(outcome.reached, DAVY_STAGE_MEMORY);
	called(ENGINE, "ggml_backend_sched_graph_compute_async", 0, 0);
	judge();
	assert_true(outcome.complete);
	assert_int_equal(outcome.reached, DAVY_STAGE_GRAPH);
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_NONE);
	assert_int_equal(outcome.family, DAVY_FAMILY_CUDA);
	assert_int_equal(outcome.devices, 2);
	assert_false(outcome.unused);
}

/* llama-server --device none: Vulkan still enumerates its devices. */
static void devices_that_are_never_opened_are_unused(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	loaded(ENGINE, "/l/libvulkan.so.1");
	called(ENGINE, "vkCreateInstance", 0, 0);
	called(ENGINE, "vkEnumeratePhysicalDevices", 0, 1);
	called(ENGINE, "ggml_backend_buft_alloc_buffer", 1, 0);
	judge();
	assert_false(outcome.unused);
	called(ENGINE, "ggml_backend_sched_graph_compute_async", 0, 0);
	judge();
	assert_true(outcome.unused);
	called(ENGINE, "vkCreateDevice", 0, 0);
	judge();
	assert_false(outcome.unused);
	assert_int_equal(outcome.family, DAVY_FAMILY_VULKAN);
}

static void a_missing_library_is_reported_with_the_searched_places(void **state)
{
	const struct davy_library_search *search;

	(void)state;
	executed(ENGINE, 1, "/bin/ollama", "");
	entered(ENGINE, "dlopen", "libnvidia-ml.so.1");
	opened(ENGINE, "/a/libnvidia-ml.so.1", -ENOENT);
	opened(ENGINE, "/b/libnvidia-ml.so.1", -EACCES);
	link_failed(ENGINE, "libnvidia-ml.so.1", "cannot open shared object file");
	returned(ENGINE, "dlopen", 0, 0);
	ended(ENGINE, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_LIBRARY_MISSING);
	assert_string_equal(outcome.cause.what, "libnvidia-ml.so.1");
	assert_int_equal(outcome.cause.stage, DAVY_STAGE_LIBRARY);
	search = davy_stages_search(stages, ENGINE, "libnvidia-ml.so.1");
	assert_non_null(search);
	assert_int_equal(search->places, 2);
	assert_string_equal(search->path[1], "/b/libnvidia-ml.so.1");
}

static void a_missing_dependency_is_distinguished(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	nvml_is_well(ENGINE);
	entered(ENGINE, "ggml_backend_load", "/l/libggml-cuda.so");
	entered(ENGINE, "dlopen", "/l/libggml-cuda.so");
	opened(ENGINE, "/l/libggml-cuda.so", 3);
	mapped(ENGINE, "libggml-cuda.so");
	opened(ENGINE, "/l/libcuda.so.1", -ENOENT);
	link_failed(ENGINE, "libcuda.so.1", "cannot open shared object file");
	returned(ENGINE, "dlopen", 0, 0);
	returned(ENGINE, "ggml_backend_load", 0, 0);
	ended(ENGINE, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_DEPENDENCY_MISSING);
	assert_string_equal(outcome.cause.what, "libcuda.so.1");
	assert_string_equal(outcome.cause.of, "/l/libggml-cuda.so");
}

static void an_undefined_symbol_is_reported_unchanged(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/ollama", "");
	entered(ENGINE, "dlopen", "/l/libnvidia-ml.so.1");
	opened(ENGINE, "/l/libnvidia-ml.so.1", 3);
	link_failed(ENGINE, "/l/libnvidia-ml.so.1", "undefined symbol: call_x, version V");
	returned(ENGINE, "dlopen", 0, 0);
	ended(ENGINE, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_SYMBOL_UNDEFINED);
	assert_string_equal(outcome.cause.what, "call_x");
	assert_string_equal(outcome.cause.detail, "while it was loaded");
}

static void symbols_that_a_library_may_lack_are_no_cause(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	entered(ENGINE, "ggml_backend_load", "/l/libggml-vulkan.so");
	loaded(ENGINE, "/l/libggml-vulkan.so");
	link_failed(ENGINE, "/l/libggml-vulkan.so", "undefined symbol: ggml_backend_score");
	link_failed(ENGINE, "/l/libvulkan_lvp.so", "undefined symbol: vk_icdFoo");
	called(ENGINE, "vkCreateInstance", 0, 0);
	called(ENGINE, "vkEnumeratePhysicalDevices", 0, 1);
	returned(ENGINE, "ggml_backend_load", 1, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_NONE);
	assert_int_equal(outcome.family, DAVY_FAMILY_VULKAN);
}

static void init_and_count_are_distinguished(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/ollama", "");
	loaded(ENGINE, "/l/libnvidia-ml.so.1");
	called(ENGINE, "nvmlInit_v2", 9, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_INIT_FAILED);
	assert_string_equal(outcome.cause.detail, "NVML_ERROR_DRIVER_NOT_LOADED (9)");
	assert_int_equal(outcome.cause.stage, DAVY_STAGE_INIT);
	called(ENGINE, "nvmlInit_v2", 0, 0);
	called(ENGINE, "nvmlDeviceGetCount_v2", 0, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_NO_DEVICE);
	assert_int_equal(outcome.cause.stage, DAVY_STAGE_DEVICES);
}

static void a_library_that_only_the_parent_loaded_is_reported(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/ollama", "LD_LIBRARY_PATH=/l");
	nvml_is_well(ENGINE);
	executed(RUNNER, ENGINE, "/bin/llama-server", "");
	ended(RUNNER, 0);
	ended(ENGINE, 0);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_NOT_IN_CHILD);
	assert_string_equal(outcome.cause.what, "libnvidia-ml");
	assert_int_equal(outcome.cause.pid, RUNNER);
	assert_string_equal(outcome.cause.detail, "its LD_LIBRARY_PATH is not set");
}

static void a_backend_that_is_never_loaded_is_reported(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	nvml_is_well(ENGINE);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_BACKEND_NOT_LOADED);
	assert_string_equal(outcome.cause.what, "libggml-cuda.so");
	called(ENGINE, "cuInit", 0, 0); /* a static backend */
	judge();
	assert_int_not_equal(outcome.cause.kind, DAVY_CAUSE_BACKEND_NOT_LOADED);
}

static void a_crash_is_distinguished_from_an_intended_end(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/ollama", "");
	executed(RUNNER, ENGINE, "/bin/llama-server", "");
	entered(RUNNER, "hsa_init", "");
	signalled(RUNNER, SIGKILL, ENGINE);
	ended(RUNNER, SIGKILL);
	judge();
	assert_int_not_equal(outcome.cause.kind, DAVY_CAUSE_KILLED);
	executed(102, ENGINE, "/bin/llama-server", "");
	entered(102, "hsa_init", "");
	signalled(102, SIGSEGV, 102);
	ended(102, SIGSEGV | 0x80);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_CRASHED);
	assert_int_equal(outcome.cause.code, SIGSEGV);
	assert_string_equal(outcome.cause.what, "hsa_init");
	assert_int_equal(outcome.cause.stage, DAVY_STAGE_INIT);
}

static void an_end_from_outside_and_by_the_kernel(void **state)
{
	char text[DAVY_CAUSE_TEXT];

	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	signalled(ENGINE, SIGKILL, 0);
	ended(ENGINE, SIGKILL);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_KILLED);
	assert_non_null(strstr(davy_show_cause(stages, &outcome.cause, text), "the kernel"));
}

static void a_call_that_does_not_return(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	entered(ENGINE, "cuInit", "");
	judge();
	assert_int_not_equal(outcome.cause.kind, DAVY_CAUSE_HANGS);
	now += 6000000000;
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_HANGS);
	assert_string_equal(outcome.cause.what, "cuInit");
}

static void missing_libraries_of_a_program_are_reported(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	opened(ENGINE, "/l/libllama.so", -ENOENT);
	link_failed(ENGINE, "libllama.so", "cannot open shared object file");
	ended(ENGINE, 127 << 8);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_LIBRARY_MISSING);
	assert_string_equal(outcome.cause.what, "libllama.so");
}

static void a_refused_node_is_reported_once(void **state)
{
	(void)state;
	executed(ENGINE, 1, "/bin/llama-server", "");
	opened(ENGINE, "/dev/kfd", -EACCES);
	opened(ENGINE, "/dev/kfd", -EACCES);
	opened(ENGINE, "/dev/kfd", -ENOENT);
	assert_int_equal(stages->cause_count, 2);
	judge();
	assert_int_equal(outcome.cause.kind, DAVY_CAUSE_NODE_REFUSED);
	assert_int_equal(outcome.cause.code, -EACCES);
}

static void steps_beyond_the_bounds_are_counted(void **state)
{
	char name[64];

	(void)state;
	for (uint32_t i = 1; i <= DAVY_STAGES_PROCESSES + 10; i++)
		executed(i, 0, "/bin/true", "");
	assert_int_equal(stages->processes_dropped, 10);
	judge();
	assert_true(outcome.incomplete);
	for (int i = 0; i < DAVY_STAGES_CAUSES + 5; i++) {
		snprintf(name, sizeof(name), "/dev/dri/card%d", i);
		opened(1, name, -EACCES);
	}
	assert_int_equal(stages->cause_count, DAVY_STAGES_CAUSES);
	assert_int_equal(stages->causes_dropped, 5);
}

/* The decoder: partial and invalid records. */
static void an_exec_comes_in_pieces(void **state)
{
	static struct davy_raw_chunk chunk;
	static struct davy_raw_path exec;
	struct davy_raw_head ready = { .kind = DAVY_RAW_READY, .tgid = 7, .tid = 7 };
	struct davy_start_step step;
	struct davy_decoder *d;

	(void)state;
	assert_int_equal(davy_decoder_new(&d), 0);
	exec.head = (struct davy_raw_head){
		.kind = DAVY_RAW_EXEC, .tgid = 7, .tid = 7, .number = 3, .boot_ns = 5
	};
	memcpy(exec.path, "/bin/x", 7);
	assert_int_equal(davy_decoder_feed(d, &exec, sizeof(exec), &step), 0);
	chunk.head = (struct davy_raw_head){ .kind = DAVY_RAW_ENVP, .tgid = 7, .tid = 7 };
	chunk.size = DAVY_RAW_CHUNK;
	chunk.total = DAVY_RAW_CHUNK + 4;
	memset(chunk.data, 'a', sizeof(chunk.data));
	memcpy(chunk.data, "A=b\0LONG=", 9);
	assert_int_equal(davy_decoder_feed(d, &chunk, sizeof(chunk), &step), 0);
	chunk.offset = DAVY_RAW_CHUNK;
	chunk.size = 4;
	memcpy(chunk.data, "xyz", 4);
	assert_int_equal(davy_decoder_feed(d, &chunk, sizeof(chunk), &step), 0);
	assert_int_equal(davy_decoder_feed(d, &ready, sizeof(ready), &step), 1);
	assert_int_equal(step.kind, DAVY_STEP_EXEC);
	assert_string_equal(step.path, "/bin/x");
	assert_int_equal(step.other, 3);
	assert_int_equal(step.at_ns, 5);
	assert_string_equal(davy_step_variable(&step, "A"), "b");
	assert_int_equal(strlen(davy_step_variable(&step, "LONG")), DAVY_RAW_CHUNK - 9 + 3);
	assert_null(davy_step_variable(&step, "LON"));
	assert_false(step.cut);
	assert_int_equal(davy_decoder_feed(d, &ready, sizeof(ready) - 1, &step), -EBADMSG);
	chunk.size = DAVY_RAW_CHUNK + 1;
	assert_int_equal(davy_decoder_feed(d, &exec, sizeof(exec), &step), 0);
	assert_int_equal(davy_decoder_feed(d, &chunk, sizeof(chunk), &step), -EBADMSG);
	ready.kind = 99;
	assert_int_equal(davy_decoder_feed(d, &ready, sizeof(ready), &step), -EBADMSG);
	davy_decoder_free(d);
}

static void the_linkers_message_is_put_together(void **state)
{
	static struct davy_raw_link_error r;
	struct davy_start_step step;
	struct davy_decoder *d;

	(void)state;
	assert_int_equal(davy_decoder_new(&d), 0);
	r.head = (struct davy_raw_head){
		.kind = DAVY_RAW_LINK_ERROR, .tgid = 7, .tid = 7, .boot_ns = 1
	};
	memcpy(r.object, "/l/x.so", 8);
	memcpy(r.format, "undefined symbol: %s%s%s%s%d", 29);
	memcpy(r.argument[0], "foo", 4);
	memcpy(r.argument[1], ", version ", 11);
	memset(r.argument[2], 'V', DAVY_RAW_TEXT); /* no NUL */
	assert_int_equal(davy_decoder_feed(d, &r, sizeof(r), &step), 1);
	assert_string_equal(step.path, "/l/x.so");
	assert_memory_equal(step.text, "undefined symbol: foo, version VVV", 34);
	assert_string_equal(step.text + strlen(step.text) - 4, "%s%d");
	assert_int_equal(davy_decoder_feed(d, &r, sizeof(r), &step),
			 0); /* the same, by the other function */
	r.head.boot_ns += 5000000;
	assert_int_equal(davy_decoder_feed(d, &r, sizeof(r), &step), 1);
	davy_decoder_free(d);
}

static void names_do_not_break_lines(void **state)
{
	struct davy_start_step step;
	char *text = NULL, *line;
	size_t size = 0;
	json_t *json;
	FILE *out;

	(void)state;
	executed(ENGINE, 1, "/bin/a\nb\x1b[31m\xff", "");
	opened(ENGINE, "/l/lib\n\t\xc3(.so", -ENOENT);
	step = base(DAVY_STEP_LINK_ERROR, ENGINE);
	step.path = "lib\n\t\xc3(.so";
	step.text = "cannot open shared object file\x07";
	out = open_memstream(&text, &size);
	davy_show_step(out, stages, &step);
	fclose(out);
	assert_int_equal(text[size - 1], '\n');
	for (size_t i = 0; i + 1 < size; i++)
		assert_true((unsigned char)text[i] >= 0x20 || text[i] == '\n');
	assert_non_null(strstr(text, "lib\\x0a\\x09\\xc3(.so"));
	assert_non_null(strstr(text, "not at '/l/lib\\x0a\\x09\\xc3(.so'"));
	free(text);
	json = davy_show_step_json(stages, &step);
	line = json_dumps(json, JSON_COMPACT);
	assert_non_null(line);
	assert_null(strchr(line, '\n'));
	free(line);
	json_decref(json);
}

static void every_row_has_its_place(void **state)
{
	(void)state;
	assert_true(davy_function_count <= DAVY_FUNCTIONS_MAX);
	assert_true(davy_known_library_count <= 32);
	for (size_t i = 0; i < davy_function_count; i++) {
		const struct davy_function *f = &davy_functions[i];

		assert_true(f->stage >= DAVY_STAGE_LIBRARY && f->limit > 0);
		if (f->family > DAVY_FAMILY_GGML)
			assert_true(davy_known_library(f->library) >= 0);
	}
	assert_null(davy_function_at((uint32_t)davy_function_count));
	assert_int_equal(davy_known_library("/x/libcuda.so.1"),
			 davy_known_library("libcuda.so.550.1"));
	assert_int_equal(davy_known_library("/x/libcudart.so.12"),
			 davy_known_library("libcudart.so"));
	assert_int_equal(davy_known_library("/x/libcuda2.so"), -1);
	assert_true(davy_result_ok(DAVY_RESULT_VULKAN, 5));
	assert_false(davy_result_ok(DAVY_RESULT_VULKAN, (uint64_t)-9));
	assert_false(davy_result_ok(DAVY_RESULT_POINTER, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_start_reaches_its_graph),
		TEST(devices_that_are_never_opened_are_unused),
		TEST(a_missing_library_is_reported_with_the_searched_places),
		TEST(a_missing_dependency_is_distinguished),
		TEST(an_undefined_symbol_is_reported_unchanged),
		TEST(symbols_that_a_library_may_lack_are_no_cause),
		TEST(init_and_count_are_distinguished),
		TEST(a_library_that_only_the_parent_loaded_is_reported),
		TEST(a_backend_that_is_never_loaded_is_reported),
		TEST(a_crash_is_distinguished_from_an_intended_end),
		TEST(an_end_from_outside_and_by_the_kernel),
		TEST(a_call_that_does_not_return),
		TEST(missing_libraries_of_a_program_are_reported),
		TEST(a_refused_node_is_reported_once),
		TEST(steps_beyond_the_bounds_are_counted),
		TEST(an_exec_comes_in_pieces),
		TEST(the_linkers_message_is_put_together),
		TEST(names_do_not_break_lines),
		TEST(every_row_has_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
