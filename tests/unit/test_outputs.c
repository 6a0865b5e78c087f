/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules as configuration of engines: values, and names that try to break out of the format. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "output/settings.h"
#include "policy.h"
#include "root.h"

static struct davy_output_result made;
static char *text; /* as it would lie in a file */

static int make(const char *format, const struct davy_output_model *models, size_t count)
{
	const struct davy_output_request r = {
		.set = davy_policy_set_of(&layers),
		.subject = { .driver = "amdgpu", .vendor = "amd", .kind = "igpu" },
		.server = "llama-server",
		.models = models,
		.model_count = count
	};
	const struct davy_output_format *f = davy_output_format_named(format);
	int err;

	free(made.body);
	free(text);
	text = NULL;
	assert_non_null(f);
	err = davy_output_make(f, &r, &made);
	if (!err)
		assert_int_equal(davy_generated_text_as(f->style, 1, made.body, &text), 0);
	return err;
}

static int make_one(const char *format, const char *name, const char *path)
{
	const struct davy_output_model m = { name, path };

	return make(format, &m, 1);
}

static int done(void **state)
{
	(void)state;
	free(made.body);
	free(text);
	made.body = text = NULL;
	return 0;
}

static bool has_line(const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; at && (at = strstr(at, line)); at += len)
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

static bool noted(const char *part)
{
	for (size_t i = 0; i < made.note_count; i++)
		if (strstr(made.note[i], part))
			return true;
	return false;
}

static const char rules[] = "[rule all]\nubatch = 256\ncache_type = f16\nenvironment GGML_X = 1\n"
			    "[rule big]\nif model = *70b*\ncontext = 8192\nparallel = 2\n"
			    "argument -fa = auto\nargument --no-mmap =\n"
			    "[rule bad]\nif model = bad*\nbackends = cpu\n"
			    "[rule more]\nif model = more\nubatch = 1024\n";

static void an_environment_file_has_a_variable_for_each_value(void **state)
{
	(void)state;
	policy_texts(NULL, rules, NULL);
	assert_int_equal(make_one("env", "a-70b", NULL), 0);
	assert_true(has_line("LLAMA_ARG_UBATCH=256"));
	assert_true(has_line("LLAMA_ARG_CTX_SIZE=8192"));
	assert_true(has_line("LLAMA_ARG_N_PARALLEL=2"));
	assert_true(has_line("LLAMA_ARG_CACHE_TYPE_K=f16"));
	assert_true(has_line("LLAMA_ARG_CACHE_TYPE_V=f16"));
	assert_true(has_line("LLAMA_ARG_FLASH_ATTN=auto"));
	assert_true(has_line("GGML_X=1"));
	assert_true(has_line("# LLAMA_ARG_UBATCH: rule all, p.conf:2"));
	assert_true(noted("argument --no-mmap"));
	assert_int_equal(make_one("env", "bad", NULL), 0);
	assert_true(has_line("LLAMA_ARG_DEVICE=none"));
	assert_int_equal(make("env", NULL, 0), 0);
	assert_false(has_line("LLAMA_ARG_CTX_SIZE=8192"));
}

static void a_preset_has_a_section_for_each_model(void **state)
{
	const struct davy_output_model models[] = { { "a-70b", "/m/a-70b.gguf" },
						    { "bad one", NULL },
						    { "more", NULL } };
	const char *more;

	(void)state;
	policy_texts(NULL, rules, NULL);
	assert_int_equal(make("router-preset", models, 3), 0);
	assert_true(has_line("version = 1"));
	assert_true(has_line("[a-70b]"));
	assert_true(has_line("model = /m/a-70b.gguf"));
	assert_true(has_line("ctx-size = 8192"));
	assert_true(has_line("fa = auto"));
	assert_true(has_line("no-mmap = true"));
	assert_true(has_line("[bad one]"));
	assert_true(has_line("device = none"));
	assert_true(noted("environment GGML_X = 1"));
	more = strstr(text, "[more]");
	assert_non_null(more);
	assert_null(strstr(more, "ubatch-size")); /* "at most" 1024 is no wish for more than 512 */
	assert_int_equal(make("router-preset", NULL, 0), 0);
	assert_true(has_line("[*]"));
	assert_true(has_line("ubatch-size = 256"));
}

static void a_modelfile_has_the_parameters_of_its_model(void **state)
{
	(void)state;
	policy_texts(NULL, rules, NULL);
	assert_int_equal(make_one("ollama", "llama:70b", NULL), 0);
	assert_true(has_line("FROM llama:70b"));
	assert_true(has_line("PARAMETER num_batch 256"));
	assert_true(has_line("PARAMETER num_ctx 4096")); /* of one of two slots */
	assert_false(has_line("PARAMETER num_gpu 0"));
	assert_true(noted("parallel = 2"));
	assert_true(noted("cache_type = f16"));
	assert_int_equal(make_one("ollama", "bad", NULL), 0);
	assert_true(has_line("PARAMETER num_gpu 0"));
	assert_int_equal(make("ollama", NULL, 0), -EINVAL);
	assert_non_null(strstr(made.why, "--model NAME"));
}

static void llama_swap_gets_command_and_environment(void **state)
{
	(void)state;
	policy_texts(NULL, rules, NULL);
	assert_int_equal(make_one("llama-swap", "a-70b", "/my models/a-70b.gguf"), 0);
	assert_true(has_line("models:"));
	assert_true(has_line("  \"a-70b\":"));
	assert_true(has_line("    cmd: \"llama-server --port ${PORT} -m '/my models/a-70b.gguf' "
			     "--ubatch-size 256 --ctx-size 8192 --parallel 2 --cache-type-k f16 "
			     "--cache-type-v f16 -fa auto --no-mmap\""));
	assert_true(has_line("    env:"));
	assert_true(has_line("      - \"GGML_X=1\""));
	assert_int_equal(make_one("llama-swap", "b\\\"#: [x]", "/m/b\\\"#.gguf"), 0);
	assert_true(has_line("  \"b\\\\\\\"#: [x]\":"));
	assert_non_null(strstr(text, "-m '/m/b\\\\\\\"#.gguf'"));
	assert_int_equal(make_one("llama-swap", "a", NULL), -EINVAL);
	assert_non_null(strstr(made.why, "no file for model"));
}

static void lemonade_gets_json(void **state)
{
	json_t *all, *o;

	(void)state;
	policy_texts(NULL,
		     "[rule all]\nubatch = 256\ncontext = 4096\nbackends = cuda, vulkan, cpu\n"
		     "argument -fa = auto\nargument --device = Vulkan1\n",
		     NULL);
	assert_int_equal(make("lemonade", NULL, 0), 0);
	all = o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "ctx_size")), 4096);
	assert_non_null(strstr(json_string_value(json_object_get(o, "_generated")),
			       "Generated by davylamp "));
	o = json_object_get(o, "llamacpp");
	assert_string_equal(json_string_value(json_object_get(o, "args")),
			    "--ubatch-size 256 -fa auto");
	assert_string_equal(json_string_value(json_object_get(o, "backend")), "vulkan");
	json_decref(all);
	assert_int_equal(make_one("lemonade", "a", NULL), -EINVAL);
}

/* Whatever is written is one section, one word, one string: or it is refused with a reason. */
static void hostile_names_are_refused(void **state)
{
	static const char *const names[] = {
		"a\nb",
		"a\rb",
		"a\x1b[2J",
		"a\x7f",
		"a\xff",
		"",
		" a",
		"a ",
		"a\tb",
		"a\xc2\x85",
		"a\xe2\x80\xa8"
		"b",
		"a\xef\xbb\xbf",
	};
	static const struct {
		const char *format, *name, *path;
	} particular[] = {
		{ "router-preset", "a]", NULL },
		{ "router-preset", "*", NULL },
		{ "router-preset", "a", "/m/a;b" },
		{ "router-preset", "a", "/m/a#b" },
		{ "router-preset", "a", "/m/a\nb" },
		{ "ollama", "a\"b", NULL },
		{ "ollama", "a b", NULL },
		{ "ollama", "-a", NULL },
		{ "ollama", "a$b", NULL },
		{ "llama-swap", "${PORT}", "/m/a" },
		{ "llama-swap", "a", "/m/${env.HOME}" },
		{ "llama-swap", "a", "/m/a'b" },
	};
	static const char *const formats[] = { "router-preset", "ollama", "llama-swap" };

	(void)state;
	policy_texts(NULL, rules, NULL);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			if (make_one(formats[i], names[j], "/m/a.gguf") != -EINVAL &&
			    strcmp(formats[i], "ollama") != 0)
				fail_msg("%s took name %zu", formats[i], j);
			if (make_one(formats[i], names[j], NULL) != -EINVAL)
				fail_msg("%s took name %zu", formats[i], j);
			assert_true(made.why[0] != 0);
			assert_null(strpbrk(made.why, "\n\r\x1b"));
		}
	for (size_t i = 0; i < sizeof(particular) / sizeof(particular[0]); i++)
		if (make_one(particular[i].format, particular[i].name, particular[i].path) !=
		    -EINVAL)
			fail_msg("case %zu was taken", i);
	assert_int_equal(make_one("llama-swap", "a $ {b}", "/m/a$.gguf"), 0);
}

static void two_models_of_one_name_are_refused(void **state)
{
	const struct davy_output_model twice[] = { { "a", "/m/a.gguf" }, { "a", "/n/a.gguf" } };

	(void)state;
	policy_texts(NULL, rules, NULL);
	assert_int_equal(make("router-preset", twice, 2), -EINVAL);
	assert_non_null(strstr(made.why, "'a' is given twice"));
	assert_int_equal(make("env", twice, 2), -EINVAL);
}

/* Arguments of rules may contain characters that end a value or begin a comment. */
static void an_argument_that_a_format_lacks_is_reported(void **state)
{
	(void)state;
	policy_texts(NULL, "[rule r]\nargument -ot = a#b=CPU\n", NULL);
	assert_int_equal(make_one("router-preset", "a", NULL), 0);
	assert_null(strstr(made.body, "a#b"));
	assert_true(noted("-ot a#b=CPU"));
	assert_int_equal(make_one("env", "a", NULL), 0);
	assert_true(noted("argument -ot"));
}

static void the_backend_is_named_where_there_is_a_choice(void **state)
{
	static const struct {
		const char *order;
		uint32_t available;
		enum davy_backend named;
	} cases[] = {
		{ "vulkan, cpu", 0, DAVY_BACKEND_UNKNOWN },
		{ "cpu", 0, DAVY_BACKEND_CPU },
		{ "cpu, vulkan", 0, DAVY_BACKEND_CPU },
		{ "vulkan, cpu", 1u << DAVY_BACKEND_VULKAN | 1u << DAVY_BACKEND_CPU,
		  DAVY_BACKEND_UNKNOWN },
		{ "vulkan, cpu", 1u << DAVY_BACKEND_VULKAN | 1u << DAVY_BACKEND_ROCM,
		  DAVY_BACKEND_VULKAN },
		{ "rocm, vulkan, cpu", 1u << DAVY_BACKEND_VULKAN | 1u << DAVY_BACKEND_ROCM,
		  DAVY_BACKEND_ROCM },
		{ "vulkan, cpu", 1u << DAVY_BACKEND_ROCM, DAVY_BACKEND_CPU },
		{ "vulkan", 1u << DAVY_BACKEND_ROCM, DAVY_BACKEND_UNKNOWN },
		{ "vulkan, cpu", 1u << DAVY_BACKEND_CPU, DAVY_BACKEND_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct davy_policy_subject s = { .available = cases[i].available };
		char rule[128];
		struct davy_effective e;

		snprintf(rule, sizeof(rule), "[rule r]\nbackends = %s\n", cases[i].order);
		policy_texts(NULL, rule, NULL);
		e = policy_of(&s);
		if (davy_policy_backend(&e, s.available) != cases[i].named)
			fail_msg("case %zu: %s", i,
				 davy_backend_name(davy_policy_backend(&e, s.available)));
	}
}

/* The administrator's values stay, except counts that are larger than in the rules. */
static void a_units_own_words_stay(void **state)
{
	static const char *const argv[] = { "llama-server", "-m", "x.gguf", "-ctk",
					    "q8_0",	    "-c", "4096",   NULL };
	static const char *const envp[] = { "GGML_X=0", "LLAMA_ARG_UBATCH=512",
					    "LLAMA_ARG_N_PARALLEL=1", "LLAMA_ARG_FLASH_ATTN=on",
					    NULL };
	const struct davy_engine_look look = {
		.argv = (char *const *)argv, .envp = (char *const *)envp, .exe = "", .parent = ""
	};
	struct davy_policy_subject s = { .engine = DAVY_ENGINE_LLAMA_SERVER, .model = "x-70b" };
	struct davy_output_result *r = calloc(1, sizeof(*r));
	struct davy_output_variables list;
	struct davy_engine_facts facts;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule all]\nubatch = 256\nparallel = 2\ncontext = 2048\ncache_type = f16\n"
		     "environment GGML_X = 1\nenvironment GGML_Y = 1\nargument -fa = auto\n",
		     NULL);
	e = policy_of(&s);
	davy_engine_identify(&look, &facts);
	davy_output_variables(&e, &look, &facts, 0, &list, r);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.at[0].name, "LLAMA_ARG_UBATCH");
	assert_string_equal(list.at[0].value, "256");
	assert_string_equal(list.at[1].name, "GGML_Y");
	assert_int_equal(r->note_count, 3);
	assert_non_null(strstr(r->note[0], "context = 2048: the engine's command line has -c"));
	assert_non_null(strstr(r->note[1], "cache_type"));
	assert_non_null(strstr(r->note[2], "argument -fa"));
	free(r);
}

static void renew(const char *path, enum davy_generated_style style, const char *body, int expected,
		  uint32_t version)
{
	uint32_t now = 0;

	assert_int_equal(davy_generated_renew(path, style, body, &now), expected);
	assert_int_equal(now, version);
}

static void a_file_is_rewritten_only_when_its_content_changes(void **state)
{
	char path[256], aside[300], there[1024];

	(void)state;
	snprintf(path, sizeof(path), "%s/a.json", root);
	snprintf(aside, sizeof(aside), "%s.hand", path);
	for (int style = DAVY_GENERATED_COMMENT; style <= DAVY_GENERATED_JSON; style++) {
		unlink(path);
		renew(path, style, "  \"a\": 1\n}\n", 0, 1);
		renew(path, style, "  \"a\": 1\n}\n", -EALREADY, 1);
		renew(path, style, "  \"a\": 2\n}\n", 0, 2);
		PUT("/a.json", "{ \"_generated\": \"Generated by davylamp 0.1, version 7, sum "
			       "0000000000000000\",\n  \"a\": 3\n}\n");
		renew(path, style, "  \"a\": 2\n}\n", 1, 8);
		assert_true(davy_read_file(aside, there, sizeof(there)) > 0);
		assert_non_null(strstr(there, "\"a\": 3"));
		PUT("/a.json", "{ \"a\": 4 }\n");
		renew(path, style, "  \"a\": 2\n}\n", -EEXIST, 0);
		assert_true(davy_read_file(path, there, sizeof(there)) > 0);
		assert_string_equal(there, "{ \"a\": 4 }\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_environment_file_has_a_variable_for_each_value, done),
		cmocka_unit_test_teardown(a_preset_has_a_section_for_each_model, done),
		cmocka_unit_test_teardown(a_modelfile_has_the_parameters_of_its_model, done),
		cmocka_unit_test_teardown(llama_swap_gets_command_and_environment, done),
		cmocka_unit_test_teardown(lemonade_gets_json, done),
		cmocka_unit_test_teardown(hostile_names_are_refused, done),
		cmocka_unit_test_teardown(two_models_of_one_name_are_refused, done),
		cmocka_unit_test_teardown(an_argument_that_a_format_lacks_is_reported, done),
		cmocka_unit_test(the_backend_is_named_where_there_is_a_choice),
		cmocka_unit_test(a_units_own_words_stay),
		cmocka_unit_test_setup_teardown(a_file_is_rewritten_only_when_its_content_changes,
						make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
