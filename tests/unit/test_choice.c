/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend on which a command is started, and its reason: the launcher's table, row by row, over
 * the shipped rules; then each reason against a backend, and its precedence.
 */
#include "policy.h"

#include <stdlib.h>

#include "policy/choice.h"
#include "report/choice_text.h"

#define GIB	(1ULL << 30)
#define ALL	((1u << DAVY_BACKEND_COUNT) - 2)
#define BITS(b) (1u << (b))

static struct davy_policy_set set;
static struct davy_choice choice;

static int load(void **state)
{
	(void)state;
	davy_policy_layers_init(&layers);
	if (davy_policy_file_read("policies/backend.conf", DAVY_LAYER_SHIPPED,
				  &layers.at[DAVY_LAYER_SHIPPED], error))
		fail_msg("%s", error);
	set = davy_policy_set_of(&layers);
	return 0;
}

/* An Iris Xe with llama-server; only the model is given. */
static struct davy_choice_question asking(const char *model)
{
	struct davy_choice_question q = {
		.set = &set,
		.subject = { .engine = DAVY_ENGINE_LLAMA_SERVER,
			     .device = "0000:00:02.0",
			     .driver = "xe",
			     .vendor = "intel",
			     .kind = "igpu",
			     .generation = "xe2" },
		.can = ALL,
		.now_s = 1000,
		.fit = { .gpu_layers = DAVY_LAYERS_AUTO,
			 .device_free = DAVY_FIT_UNKNOWN,
			 .host_free = DAVY_FIT_UNKNOWN,
			 .memory_max = DAVY_FIT_UNKNOWN },
	};

	davy_copy_name(q.subject.model, sizeof(q.subject.model), model);
	return q;
}

/* An H100 of a host without DRM. */
static struct davy_choice_question on_nvidia(const char *model)
{
	struct davy_choice_question q = asking(model);

	q.subject = (struct davy_policy_subject){ .engine = DAVY_ENGINE_LLAMA_SERVER,
						  .device = "0000:00:06.0",
						  .driver = "nvidia",
						  .vendor = "nvidia",
						  .kind = "dgpu" };
	davy_copy_name(q.subject.model, sizeof(q.subject.model), model);
	return q;
}

static const struct davy_choice_node *node(enum davy_choice_step step, enum davy_choice_mark mark)
{
	for (size_t i = 0; i < choice.node_count; i++)
		if (choice.node[i].step == step && choice.node[i].mark == mark)
			return &choice.node[i];
	return NULL;
}

static const char *text_of(enum davy_choice_step step, enum davy_choice_mark mark)
{
	const struct davy_choice_node *n = node(step, mark);

	return n ? n->text : "(none)";
}

static bool warned(void)
{
	return node(DAVY_STEP_RULES, DAVY_MARK_WARN) || node(DAVY_STEP_BREAKER, DAVY_MARK_WARN) ||
	       node(DAVY_STEP_MEMORY, DAVY_MARK_WARN);
}

static bool sets(const char *name, const char *value)
{
	const struct davy_effective *e = &choice.effective;
	const struct davy_policy_value *v =
		policy_named(e->environment, e->environment_count, name);

	return v && !strcmp(v->text, value);
}

/* The launcher's table: a problematic model runs on the CPU unless a backend is forced. */
static const struct {
	const char *model;
	enum davy_engine engine;
	enum davy_want want;
	enum davy_backend wanted;
	enum davy_backend backend;
	bool warns;
	bool safe_flag; /* GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM=1 */
	bool unknown;
} table[] = {
	{ "gpt-oss:20b", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_CPU, false, false,
	  false },
	{ "gpt-oss:20b", DAVY_ENGINE_OLLAMA, DAVY_WANT_FORCE, DAVY_BACKEND_VULKAN,
	  DAVY_BACKEND_VULKAN, true, true, false },
	{ "gpt-oss:20b", DAVY_ENGINE_OLLAMA, DAVY_WANT_FORCE, DAVY_BACKEND_CPU, DAVY_BACKEND_CPU,
	  false, false, false },
	{ "gpt-oss-120b.gguf", DAVY_ENGINE_LLAMA_SERVER, DAVY_WANT_AUTO, 0, DAVY_BACKEND_CPU, false,
	  false, false },
	{ "gpt4all-j.gguf", DAVY_ENGINE_LLAMA_SERVER, DAVY_WANT_AUTO, 0, DAVY_BACKEND_CPU, false,
	  false, false },
	{ "llama3.1:8b", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN, false, true,
	  false },
	{ "llama3.3:70b", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN, false, true,
	  false },
	{ "gemma2:9b", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN, false, true,
	  false },
	{ "gemma-3-4b-it.gguf", DAVY_ENGINE_LLAMA_SERVER, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN,
	  false, true, false },
	{ "Qwen3-8B-Q4_K_M.gguf", DAVY_ENGINE_LLAMA_SERVER, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN,
	  false, true, false },
	{ "mistral:7b", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN, false, true,
	  false },
	{ "mistral:7b", DAVY_ENGINE_OLLAMA, DAVY_WANT_FORCE, DAVY_BACKEND_CPU, DAVY_BACKEND_CPU,
	  false, false, false },
	{ "mistral:7b", DAVY_ENGINE_OLLAMA, DAVY_WANT_FORCE, DAVY_BACKEND_VULKAN,
	  DAVY_BACKEND_VULKAN, false, true, false },
	{ "nuevo-modelo", DAVY_ENGINE_OLLAMA, DAVY_WANT_AUTO, 0, DAVY_BACKEND_VULKAN, false, true,
	  true },
	{ "nuevo-modelo", DAVY_ENGINE_OLLAMA, DAVY_WANT_FORCE, DAVY_BACKEND_CPU, DAVY_BACKEND_CPU,
	  false, false, true },
};

static void each_row_of_the_launchers_table_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct davy_choice_question q = asking(table[i].model);

		q.subject.engine = table[i].engine;
		q.want = table[i].want;
		q.wanted = table[i].wanted;
		davy_choose(&q, &choice);
		if (choice.refused || choice.backend != table[i].backend ||
		    warned() != table[i].warns || choice.unknown != table[i].unknown ||
		    sets("GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM", "1") != table[i].safe_flag)
			fail_msg("row %zu: %s%s%s%s%s", i, davy_backend_name(choice.backend),
				 choice.refused ? ", refused" : "", warned() ? ", warned" : "",
				 choice.unknown ? ", unknown" : "",
				 sets("GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM", "1") ? ", safe" : "");
		if (table[i].engine == DAVY_ENGINE_OLLAMA)
			assert_true(sets("OLLAMA_LLM_LIBRARY", davy_backend_name(choice.backend)));
	}
}

static void an_unknown_model_gets_the_safe_set_until_it_has_lived(void **state)
{
	struct davy_choice_question q = asking("nuevo.gguf");

	(void)state;
	davy_choose(&q, &choice);
	assert_int_equal(davy_effective_count(&choice.effective, DAVY_POLICY_UBATCH), 256);
	assert_non_null(strstr(text_of(DAVY_STEP_MODEL, DAVY_MARK_FACT), "unknown to the policy"));
	q.lived_s = DAVY_CHOICE_KNOWN_S;
	davy_choose(&q, &choice);
	assert_int_equal(davy_effective_count(&choice.effective, DAVY_POLICY_UBATCH), 0);
	assert_non_null(strstr(text_of(DAVY_STEP_MODEL, DAVY_MARK_YES),
			       "has run here for 1 h without failure"));
	q.lived_s--;
	davy_choose(&q, &choice);
	assert_true(choice.unknown);
}

static void a_tuned_threshold_makes_no_model_known(void **state)
{
	struct davy_choice_question q = asking("nuevo.gguf");

	(void)state;
	policy_texts(NULL, NULL,
		     "[rule t]\nif model = nuevo.gguf\nthreshold = job_stall.level2 66 %\n");
	set = davy_policy_set_of(&layers);
	davy_choose(&q, &choice);
	assert_true(choice.unknown);
	policy_texts(NULL, NULL, "[rule t]\nif model = nuevo.gguf\nubatch = 66\n");
	davy_choose(&q, &choice);
	assert_false(choice.unknown);
	load(NULL);
}

static void every_step_has_its_evidence(void **state)
{
	struct davy_choice_question q = asking("gpt-oss-20b.gguf");
	const struct davy_choice_node *n;

	(void)state;
	davy_choose(&q, &choice);
	n = node(DAVY_STEP_MODEL, DAVY_MARK_YES);
	assert_non_null(n);
	assert_string_equal(n->value->origin.rule->name, "intel-igpu-gpt-oss");
	n = node(DAVY_STEP_BACKEND, DAVY_MARK_NO);
	assert_non_null(n);
	assert_string_equal(n->text, "vulkan: the rules exclude it");
	assert_string_equal(n->value->origin.rule->name, "intel-igpu-gpt-oss");
	n = node(DAVY_STEP_CHOSEN, DAVY_MARK_YES);
	assert_non_null(n);
	assert_int_equal(n->backend, DAVY_BACKEND_CPU);
	assert_non_null(n->value);
}

static void a_breaker_selects_the_next_backend_and_only_warns_if_forced(void **state)
{
	struct davy_choice_question q = asking("qwen3.gguf");

	(void)state;
	q.breaker[DAVY_BACKEND_VULKAN] =
		(struct davy_choice_breaker){ 1060, "0000:00:02.0", "it died" };
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend,
			 DAVY_BACKEND_CPU); /* what it was built with is not known */
	assert_non_null(strstr(text_of(DAVY_STEP_ENGINE, DAVY_MARK_NO),
			       "unknown whether the engine has sycl"));
	assert_false(choice.pinned);
	q.subject.available = BITS(DAVY_BACKEND_VULKAN) | BITS(DAVY_BACKEND_SYCL);
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_SYCL);
	assert_true(choice.pinned);
	q.subject.available = BITS(DAVY_BACKEND_VULKAN);
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	q.subject.available = 0;
	davy_choose(&q, &choice);
	assert_non_null(
		strstr(text_of(DAVY_STEP_BREAKER, DAVY_MARK_NO),
		       "the breaker of vulkan on 0000:00:02.0 for model 'qwen3.gguf' is open for "
		       "another 60 s; reason: it died"));
	q.want = DAVY_WANT_BACKEND;
	q.wanted = DAVY_BACKEND_VULKAN;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_VULKAN);
	assert_non_null(node(DAVY_STEP_BREAKER, DAVY_MARK_WARN));
	q.want = DAVY_WANT_COMMAND; /* the command has it, but no backend is forced */
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	q.want = DAVY_WANT_AUTO;
	q.now_s = 1060;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_VULKAN);
}

/* Debian's llama-server has only Vulkan: it selected it despite CUDA's breaker (an H100). */
static void an_engine_is_judged_by_the_backends_that_it_has(void **state)
{
	struct davy_choice_question q = on_nvidia("qwen3.gguf");
	const struct davy_choice_breaker open = { 1060, "0000:00:06.0", "it died" };

	(void)state;
	q.subject.available = BITS(DAVY_BACKEND_CPU) | BITS(DAVY_BACKEND_VULKAN);
	q.breaker[DAVY_BACKEND_VULKAN] = open;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	assert_non_null(strstr(text_of(DAVY_STEP_BREAKER, DAVY_MARK_NO), "vulkan on"));

	q.breaker[DAVY_BACKEND_VULKAN] = (struct davy_choice_breaker){ 0 };
	q.breaker[DAVY_BACKEND_CUDA] = open;
	davy_choose(&q, &choice);
	assert_int_equal(node(DAVY_STEP_CHOSEN, DAVY_MARK_YES)->backend, DAVY_BACKEND_VULKAN);
	/* It has no other: no order is needed. */
	assert_int_equal(choice.backend, DAVY_BACKEND_UNKNOWN);
}

/* Without an order the engine may take any backend that it has. */
static void a_backend_with_an_open_breaker_is_not_left_to_the_engine(void **state)
{
	struct davy_choice_question q = on_nvidia("qwen3.gguf");

	(void)state;
	q.breaker[DAVY_BACKEND_VULKAN] =
		(struct davy_choice_breaker){ 1060, "0000:00:06.0", "it died" };
	q.subject.available = BITS(DAVY_BACKEND_VULKAN) | BITS(DAVY_BACKEND_CUDA);
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CUDA);
	assert_true(choice.pinned);

	q.subject.available = 0;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	assert_non_null(strstr(text_of(DAVY_STEP_ENGINE, DAVY_MARK_NO), "vulkan"));

	q.now_s = 1060;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_UNKNOWN);
}

static void a_command_that_names_its_backend_is_warned_by_rules_only(void **state)
{
	struct davy_choice_question q = asking("gpt-oss-20b.gguf");

	(void)state;
	q.want = DAVY_WANT_COMMAND;
	q.wanted = DAVY_BACKEND_VULKAN;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_VULKAN);
	assert_false(choice.pinned);
	assert_non_null(strstr(text_of(DAVY_STEP_RULES, DAVY_MARK_WARN),
			       "vulkan is known to fail here: this family of models died"));
}

static void a_model_that_cannot_fit_is_refused_with_the_numbers(void **state)
{
	struct davy_choice_question q = asking("qwen3.gguf");

	(void)state;
	q.fit.weight_bytes = 40 * GIB;
	q.fit.gpu_layers = DAVY_LAYERS_ALL;
	q.fit.device_free = 8 * GIB;
	q.fit.host_free = 16 * GIB;
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	assert_string_equal(text_of(DAVY_STEP_MEMORY, DAVY_MARK_NO),
			    "at least 40.0 GiB on the device; 8.0 GiB free on the device");
	q.fit.host_free = 64 * GIB; /* the CPU can have it */
	davy_choose(&q, &choice);
	assert_false(choice.refused);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	q.gpu_only = true;
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	assert_non_null(
		strstr(text_of(DAVY_STEP_CHOSEN, DAVY_MARK_NO), "--gpu-only refuses the CPU"));
	q.gpu_only = false;
	q.want = DAVY_WANT_BACKEND;
	q.wanted = DAVY_BACKEND_VULKAN;
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	q.want = DAVY_WANT_FORCE;
	davy_choose(&q, &choice);
	assert_false(choice.refused);
	assert_int_equal(choice.backend, DAVY_BACKEND_VULKAN);
	assert_non_null(node(DAVY_STEP_MEMORY, DAVY_MARK_WARN));
}

static void gpu_only_and_prefer_gpu_order_the_allowed_backends(void **state)
{
	struct davy_choice_question q = asking("x.gguf");

	(void)state;
	policy_texts(NULL, "[rule slow]\nif model = x*\nbackends = cpu, vulkan\n", NULL);
	set = davy_policy_set_of(&layers);
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	q.prefer_gpu = true;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_VULKAN);
	q.breaker[DAVY_BACKEND_VULKAN].until_s = 2000;
	davy_choose(&q, &choice);
	assert_int_equal(choice.backend, DAVY_BACKEND_CPU);
	q.gpu_only = true;
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	policy_texts(NULL, "[rule never]\nif model = x*\nbackends = cpu\n", NULL);
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	assert_non_null(strstr(text_of(DAVY_STEP_CHOSEN, DAVY_MARK_NO), "leaves only the CPU"));
	memset(q.subject.device, 0, sizeof(q.subject.device));
	davy_choose(&q, &choice);
	assert_non_null(strstr(text_of(DAVY_STEP_CHOSEN, DAVY_MARK_NO), "no GPU was found"));
	load(NULL);
}

static void without_rules_the_engine_decides(void **state)
{
	struct davy_choice_question q = asking("x.gguf");

	(void)state;
	q.subject = (struct davy_policy_subject){ .engine = DAVY_ENGINE_LLAMA_SERVER };
	davy_choose(&q, &choice);
	assert_false(choice.refused);
	assert_int_equal(choice.backend, DAVY_BACKEND_UNKNOWN);
	assert_false(choice.pinned);
	assert_false(choice.unknown); /* no model is named */
}

static void an_engine_without_a_cpu_is_not_moved_there(void **state)
{
	struct davy_choice_question q = asking("x");

	(void)state;
	q.subject.engine = DAVY_ENGINE_VLLM;
	q.can = BITS(DAVY_BACKEND_ROCM) | BITS(DAVY_BACKEND_CUDA);
	q.want = DAVY_WANT_FORCE;
	q.wanted = DAVY_BACKEND_CPU;
	davy_choose(&q, &choice);
	assert_true(choice.refused);
	assert_string_equal(text_of(DAVY_STEP_ENGINE, DAVY_MARK_NO), "vllm has no option for cpu");
}

/* Whatever a model is called, a line of text stays a line and JSON stays JSON. */
static void hostile_names_break_nothing(void **state)
{
	static const char *const names[] = { "a\nchosen: vulkan",
					     "\x1b[2J\x1b]0;x\a",
					     "\xff\xfe\x80",
					     "\"}\\u0000",
					     "\xc2\x9b"
					     "31m",
					     "%s%n%99999d" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct davy_choice_question q = asking(names[i]);
		size_t size, lines = 0;
		char *text = NULL, *dumped;
		json_t *json, *again;
		FILE *out;

		q.breaker[DAVY_BACKEND_VULKAN] =
			(struct davy_choice_breaker){ 2000, names[i], names[i] };
		davy_choose(&q, &choice);
		out = open_memstream(&text, &size);
		davy_choice_print(out, &choice);
		fclose(out);
		for (const char *at = text; *at; at++) {
			assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
			lines += *at == '\n';
		}
		assert_true(lines >= choice.node_count && lines <= 4 * choice.node_count);
		assert_null(strstr(text, "\nchosen: vulkan"));
		free(text);
		json = davy_choice_json(&choice);
		dumped = json_dumps(json, 0);
		assert_non_null(dumped);
		again = json_loads(dumped, 0, NULL);
		assert_non_null(again);
		assert_true(json_array_size(json_object_get(again, "tree")) >= 5);
		free(dumped);
		json_decref(again);
		json_decref(json);
	}
}

static void the_tree_holds_whatever_the_rules_set(void **state)
{
	static char text[16384];
	struct davy_choice_question q = asking("x.gguf");
	size_t used = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "[rule r%d]\n", i);
		for (int j = 0; j < 16; j++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%s V%d_%d = 1\n",
						 i % 2 ? "environment" : "argument -", i, j);
	}
	for (char *at = text; (at = strstr(at, "argument - V")); at += 10)
		memcpy(at, "argument -V_", 12);
	policy_texts(NULL, text, NULL);
	set = davy_policy_set_of(&layers);
	davy_choose(&q, &choice);
	assert_int_equal(choice.left_out, 0);
	assert_true(choice.node_count >= 2 * DAVY_POLICY_NAMED_MAX);
	assert_int_equal(choice.effective.environment_count, DAVY_POLICY_NAMED_MAX);
	assert_true(choice.effective.left_out > 0);
	load(NULL);
}

static void free_memory_depends_on_layers_limits_and_shared_memory(void **state)
{
	const struct davy_fit_question dgpu = { .weight_bytes = 20 * GIB,
						.cache_bytes = GIB,
						.layers = 20,
						.gpu_layers = DAVY_LAYERS_ALL,
						.device_free = 24 * GIB,
						.host_free = 8 * GIB,
						.memory_max = DAVY_FIT_UNKNOWN };
	struct davy_fit_question q = dgpu;
	struct davy_fit f;

	(void)state;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_FITS);
	davy_fit_judge(&q, DAVY_BACKEND_CPU, &f);
	assert_int_equal(f.verdict, DAVY_FIT_HOST);
	assert_int_equal(f.host_bytes, 21 * GIB);
	q.device_free = 21 * GIB - 1;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_DEVICE);
	q.gpu_layers = 10; /* of 21 parts */
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_HOST);
	q.host_free = 12 * GIB;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_FITS);
	assert_int_equal(f.device_bytes, 10 * GIB);
	q.memory_max = 10 * GIB;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_LIMIT);
	q = dgpu;
	q.gpu_layers = DAVY_LAYERS_AUTO;
	q.adapts = true;
	q.device_free = 16 * GIB;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_PARTLY);
	assert_int_equal(f.device_bytes + f.host_bytes, 21 * GIB);
	q.shared = true; /* the rest would be taken from the same memory */
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_HOST);
	q.weight_bytes = 0;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_NOT_KNOWN);
	q.weight_bytes = q.cache_bytes = UINT64_MAX;
	davy_fit_judge(&q, DAVY_BACKEND_CPU, &f);
	assert_true(davy_fit_refuses(&f));
}

/* 21 GiB in 21 parts. */
static void a_quota_of_vram_sets_the_layers_that_fit(void **state)
{
	struct davy_fit_question q = { .weight_bytes = 20 * GIB,
				       .cache_bytes = GIB,
				       .layers = 20,
				       .gpu_layers = DAVY_LAYERS_ALL,
				       .sets_layers = true,
				       .device_free = 24 * GIB,
				       .host_free = 32 * GIB,
				       .memory_max = DAVY_FIT_UNKNOWN,
				       .vram_max = 12 * GIB };
	struct davy_fit f;

	(void)state;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_PARTLY);
	assert_int_equal(f.layers, 11); /* a byte more each than 1 GiB */
	assert_int_equal(f.free_bytes, 12 * GIB);
	q.vram_max = 22 * GIB;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_FITS);
	assert_int_equal(f.layers, 0);
	q.vram_max = 4 * GIB; /* less than a quarter */
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_DEVICE);
	q.vram_max = 12 * GIB;
	q.device_free = 8 * GIB; /* the quota is not the reason */
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_DEVICE);
	q.device_free = 24 * GIB;
	q.sets_layers = false;
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_DEVICE);
	q.shared = true; /* the quota is about VRAM */
	davy_fit_judge(&q, DAVY_BACKEND_VULKAN, &f);
	assert_int_equal(f.verdict, DAVY_FIT_FITS);
}

static void sizes_are_printed_with_their_unit(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = { { 0, "0 bytes" },		{ 1023, "1023 bytes" },
		     { 1024, "1.0 KiB" },	{ 3 * GIB / 2, "1.5 GiB" },
		     { GIB - 1, "1023.9 MiB" }, { UINT64_MAX, "17179869183.9 GiB" } };
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		davy_bytes_text(rows[i].bytes, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_of_the_launchers_table_holds),
		cmocka_unit_test(an_unknown_model_gets_the_safe_set_until_it_has_lived),
		cmocka_unit_test(a_tuned_threshold_makes_no_model_known),
		cmocka_unit_test(every_step_has_its_evidence),
		cmocka_unit_test(a_breaker_selects_the_next_backend_and_only_warns_if_forced),
		cmocka_unit_test(an_engine_is_judged_by_the_backends_that_it_has),
		cmocka_unit_test(a_backend_with_an_open_breaker_is_not_left_to_the_engine),
		cmocka_unit_test(a_command_that_names_its_backend_is_warned_by_rules_only),
		cmocka_unit_test(a_model_that_cannot_fit_is_refused_with_the_numbers),
		cmocka_unit_test(gpu_only_and_prefer_gpu_order_the_allowed_backends),
		cmocka_unit_test(without_rules_the_engine_decides),
		cmocka_unit_test(an_engine_without_a_cpu_is_not_moved_there),
		cmocka_unit_test(hostile_names_break_nothing),
		cmocka_unit_test(the_tree_holds_whatever_the_rules_set),
		cmocka_unit_test(free_memory_depends_on_layers_limits_and_shared_memory),
		cmocka_unit_test(a_quota_of_vram_sets_the_layers_that_fit),
		cmocka_unit_test(sizes_are_printed_with_their_unit),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
