/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The combination of the layers of the backend policy: matching subjects and precedence. */
#include "policy.h"

#include <errno.h>

#define MS DAVY_NS_PER_MS

static const struct davy_policy_subject strix = {
	.engine = DAVY_ENGINE_LLAMA_SERVER,
	.model = "Qwen3.8-27B-Q4_K_M.gguf",
	.device = "0000:c6:00.0",
	.driver = "amdgpu",
	.vendor = "amd",
	.kind = "igpu",
	.gfx = "gfx1151",
	.firmware = "mes 0x83, smc 0x4d3a00",
	.compute_units = 40,
	.lockup_ns = { [DAVY_BACKEND_VULKAN] = 2000 * MS, [DAVY_BACKEND_ROCM] = DAVY_LOCKUP_NEVER },
	.kernel = "7.0.0-31-generic",
	.backend = DAVY_BACKEND_VULKAN,
	.known = DAVY_KNOWN_NO,
};

/* A condition and whether it holds for the Strix Halo above. */
static const struct {
	const char *condition;
	bool holds;
} conditions[] = {
	{ "driver = amdgpu", true },
	{ "driver = AMDGPU", true },
	{ "driver = i915", false },
	{ "driver = i915, amdgpu", true },
	{ "driver = i915 ,xe", false },
	{ "driver = amd", false },
	{ "driver = amd*", true },
	{ "driver = *gpu", true },
	{ "driver = a*d*u", true },
	{ "driver = *", true },
	{ "device = 0000:C6:00.0", true },
	{ "device = 0000:c6:00.1", false },
	{ "vendor = amd", true },
	{ "vendor = intel, nvidia", false },
	{ "kind = igpu", true },
	{ "kind = dgpu", false },
	{ "gfx = gfx115*", true },
	{ "gfx = gfx1151x", false },
	{ "firmware = mes 0x83", true },
	{ "firmware = smc *", true },
	{ "firmware = mes 0x8", false },
	{ "firmware = vcn *, mes 0x8?", false },
	{ "generation = xe2", false }, /* not known here */
	{ "generation = *", false },
	{ "kernel = 7.0.*", true },
	{ "kernel = 6.*", false },
	{ "engine = ollama, llama-server", true },
	{ "engine = ollama*", false },
	{ "model = *qwen3*", true },
	{ "model = qwen3.8-27b-q4_k_m.gguf", true },
	{ "model = qwen3", false },
	{ "backend = vulkan", true },
	{ "backend = rocm, cpu", false },
	{ "compute_units_below = 41", true },
	{ "compute_units_below = 40", false },
	{ "context_above = 0", false }, /* not known here */
	{ "lockup_below = 3 s", true },
	{ "lockup_below = 2001 ms", true },
	{ "lockup_below = 2 s", false },
	{ "known = no", true },
	{ "known = yes", false },
};

static void a_condition_matches_its_subject(void **state)
{
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		struct davy_effective e;

		snprintf(text, sizeof(text), "[rule one]\nif %s\nubatch = 7\n",
			 conditions[i].condition);
		policy_texts(NULL, text, NULL);
		e = policy_of(&strix);
		if ((davy_effective_count(&e, DAVY_POLICY_UBATCH) == 7) != conditions[i].holds)
			fail_msg("'if %s' %s", conditions[i].condition,
				 conditions[i].holds ? "does not hold" : "holds");
	}
}

static void all_conditions_of_a_rule_must_hold(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule both]\nif driver = amdgpu\nif kind = dgpu\nubatch = 7\n"
		     "[rule none]\nparallel = 2\n",
		     NULL);
	e = policy_of(&strix);
	assert_null(e.value[DAVY_POLICY_UBATCH].origin.rule);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_PARALLEL), 2);
}

static void an_unknown_value_matches_no_condition(void **state)
{
	static const struct davy_policy_subject nobody;
	char text[128];

	(void)state;
	for (uint32_t i = 0; davy_condition_name(i); i++) {
		static const char *const any[DAVY_IF_COUNT] = {
			[DAVY_IF_COMPUTE_UNITS_BELOW] = "65536",
			[DAVY_IF_CONTEXT_ABOVE] = "0",
			[DAVY_IF_LOCKUP_BELOW] = "24 h",
		};
		struct davy_effective e;

		snprintf(text, sizeof(text), "[rule one]\nif %s = %s\nubatch = 7\n",
			 davy_condition_name(i), any[i] ? any[i] : "*");
		policy_texts(NULL, text, NULL);
		e = policy_of(&nobody);
		assert_null(e.value[DAVY_POLICY_UBATCH].origin.rule);
	}
}

static void a_missing_timeout_is_below_no_limit(void **state)
{
	struct davy_policy_subject s = strix;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, "[rule one]\nif lockup_below = 24 h\nubatch = 7\n", NULL);
	s.backend = DAVY_BACKEND_ROCM;
	e = policy_of(&s);
	assert_null(e.value[DAVY_POLICY_UBATCH].origin.rule);
}

static void rules_for_ollama_apply_to_its_runners(void **state)
{
	struct davy_policy_subject s = { .engine = DAVY_ENGINE_OLLAMA_RUNNER };
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule one]\nif engine = ollama\nubatch = 7\n"
		     "[rule two]\nif engine = ollama-runner\nparallel = 2\n",
		     NULL);
	e = policy_of(&s);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 7);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_PARALLEL), 2);
	s.engine = DAVY_ENGINE_OLLAMA;
	e = policy_of(&s);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 7);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_PARALLEL), 0);
}

static void the_later_rule_of_a_layer_wins_value_by_value(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule one]\nubatch = 256\nparallel = 4\nenvironment A = 1\n"
		     "[rule two]\nubatch = 512\nenvironment A = 2\nenvironment B = 3\n",
		     NULL);
	e = policy_of(&strix);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 512);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_PARALLEL), 4);
	assert_int_equal(e.environment_count, 2);
	assert_string_equal(policy_named(e.environment, 2, "A")->text, "2");
	assert_string_equal(policy_named(e.environment, 2, "B")->text, "3");
}

static void a_value_knows_where_it_comes_from(void **state)
{
	const struct davy_policy_origin *o;
	struct davy_effective e;

	(void)state;
	policy_texts(
		"[rule far]\nubatch = 64\nbecause = b\nsource = s#1\ndate = 2026-01-02\n",
		"# mine\n\n[rule near]\nif driver = amdgpu\nparallel = 1\nbecause = I say so\n",
		NULL);
	e = policy_of(&strix);
	o = &e.value[DAVY_POLICY_UBATCH].origin;
	assert_int_equal(o->layer->layer, DAVY_LAYER_SHIPPED);
	assert_string_equal(o->layer->path, "s.conf");
	assert_string_equal(o->rule->name, "far");
	assert_int_equal(o->line, 2);
	assert_string_equal(davy_policy_text(o->layer, o->rule->reason), "b");
	assert_string_equal(davy_policy_text(o->layer, o->rule->source), "s#1");
	assert_string_equal(davy_policy_text(o->layer, o->rule->date), "2026-01-02");
	o = &e.value[DAVY_POLICY_PARALLEL].origin;
	assert_int_equal(o->layer->layer, DAVY_LAYER_ADMIN);
	assert_int_equal(o->line, 5);
	assert_int_equal(o->rule->line, 3);
	assert_string_equal(davy_policy_text(o->layer, o->rule->source), "");
}

#define SAID "because = b\nsource = s\ndate = 2026-01-02\n"

/* The ubatch of each layer; the last one counts. */
static const struct {
	const char *shipped;
	const char *people;
	const char *agent;
	uint32_t ubatch;
	enum davy_layer from;
	bool pinned;
} order[] = {
	{ "64", NULL, NULL, 64, DAVY_LAYER_SHIPPED, false },
	{ "64", "128", NULL, 128, DAVY_LAYER_ADMIN, false },
	{ "64", NULL, "32", 32, DAVY_LAYER_AGENT, false },
	{ "64", "128", "32", 32, DAVY_LAYER_AGENT, false },
	{ "64", "128\npin = no", "32", 32, DAVY_LAYER_AGENT, false },
	{ "64", "128\npin = yes", "32", 128, DAVY_LAYER_ADMIN, true },
	{ NULL, "128\npin = yes", "32", 128, DAVY_LAYER_ADMIN, true },
	{ "64", "128\npin = yes", NULL, 128, DAVY_LAYER_ADMIN, true },
	/* A pin of an earlier rule goes with its value. */
	{ "64", "128\npin = yes\n[rule again]\nubatch = 256", "32", 32, DAVY_LAYER_AGENT, false },
	{ "64", "128\n[rule again]\nubatch = 256\npin = yes", "32", 256, DAVY_LAYER_ADMIN, true },
	/* 0 takes a limit away. */
	{ "64", "0", NULL, 0, DAVY_LAYER_ADMIN, false },
};

static void a_later_layer_beats_an_earlier_one_but_for_pins(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		char text[3][256];
		const char *given[] = { order[i].shipped, order[i].people, order[i].agent };
		struct davy_effective e;

		for (int j = 0; j < 3; j++)
			snprintf(text[j], sizeof(text[j]), "[rule r]\nubatch = %s\n%s",
				 given[j] ? given[j] : "", j ? "" : SAID);
		policy_texts(given[0] ? text[0] : NULL, given[1] ? text[1] : NULL,
			     given[2] ? text[2] : NULL);
		e = policy_of(&strix);
		assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), order[i].ubatch);
		assert_int_equal(e.value[DAVY_POLICY_UBATCH].origin.layer->layer, order[i].from);
		assert_int_equal(e.value[DAVY_POLICY_UBATCH].origin.pinned, order[i].pinned);
	}
}

/* What other hosts say counts only if it is narrower than the shipped rules. */
static void the_fleet_only_narrows(void **state)
{
	static const struct davy_policy_subject here = { .model = "m.gguf",
							 .pci = "1002:744c",
							 .driver = "amdgpu" };
	static const struct {
		const char *shipped, *fleet;
		uint32_t ubatch, reserve;
		const char *backends;
	} rows[] = {
		{ "ubatch = 256", "ubatch = 128", 128, 0, "" },
		{ "ubatch = 256", "ubatch = 512", 256, 0, "" },
		{ "ubatch = 0", "ubatch = 512", 512, 0, "" },
		{ "ubatch = 256", "ubatch = 0", 256, 0, "" },
		{ "vram_reserve = 512 MiB", "vram_reserve = 1 GiB", 0, 1 << 20, "" },
		{ "vram_reserve = 512 MiB", "vram_reserve = 256 MiB", 0, 512 << 10, "" },
		{ "backends = rocm, vulkan, cpu", "backends = vulkan, cpu", 0, 0, "vulkan cpu" },
		{ "backends = vulkan, cpu", "backends = rocm, cpu", 0, 0, "vulkan cpu" },
		{ "ubatch = 256", "backends = cpu", 256, 0, "cpu" },
		{ "ubatch = 256", "if pci = 1002:744c\nubatch = 64", 64, 0, "" },
		{ "ubatch = 256", "if pci = 1002:73bf\nubatch = 64", 256, 0, "" },
		{ "ubatch = 256", "if model_hash = b8a0ea05b2a47e3c\nubatch = 64", 256, 0, "" },
	};
	char hash[DAVY_MODEL_HASH_LEN], text[256], fleet[256];
	struct davy_effective e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "[rule r]\n%s\n" SAID, rows[i].shipped);
		policy_texts(text, NULL, NULL);
		snprintf(fleet, sizeof(fleet), "[rule f]\n%s\n", rows[i].fleet);
		assert_int_equal(policy_read(DAVY_LAYER_FLEET, fleet), 0);
		e = policy_of(&here);
		assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), rows[i].ubatch);
		assert_int_equal(e.value[DAVY_POLICY_VRAM_RESERVE].number, rows[i].reserve);
		assert_string_equal(policy_order(&e), rows[i].backends);
	}
	davy_model_hash("m.gguf", hash);
	snprintf(fleet, sizeof(fleet), "[rule f]\nif model_hash = %s\nubatch = 64\n", hash);
	assert_int_equal(policy_read(DAVY_LAYER_FLEET, fleet), 0);
	e = policy_of(&here);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 64);
	assert_int_equal(e.value[DAVY_POLICY_UBATCH].origin.layer->layer, DAVY_LAYER_FLEET);
}

/* No command, path or widening: the whole file is refused. */
static void the_fleet_sets_nothing_else(void **state)
{
	static const char *const values[] = {
		"environment A = b", "argument --x = y",
		"mode = enforce",    "context = 1",
		"cache_type = q8_0", "vram_max = 1 GiB",
		"pin = yes",	     "threshold = job_stall.level2 60 %"
	};
	char text[128];

	(void)state;
	policy_texts(NULL, NULL, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(text, sizeof(text), "[rule f]\nubatch = 64\n%s\n", values[i]);
		assert_int_equal(policy_read(DAVY_LAYER_FLEET, text), -EBADMSG);
		assert_non_null(strstr(error, "f.conf:3:1: '"));
	}
}

static void a_pin_holds_each_of_its_values_and_no_other(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule p]\nbackends = rocm, cpu\nenvironment A = 1\nargument -fa = off\n"
		     "pin = yes\n[rule q]\nenvironment B = 1\n",
		     "[rule a]\nbackends = cpu\nenvironment A = 2\nenvironment B = 2\n"
		     "argument -fa = on\nubatch = 32\n");
	e = policy_of(&strix);
	assert_string_equal(policy_order(&e), "rocm cpu");
	assert_string_equal(policy_named(e.environment, e.environment_count, "A")->text, "1");
	assert_string_equal(policy_named(e.environment, e.environment_count, "B")->text, "2");
	assert_string_equal(policy_named(e.argument, e.argument_count, "-fa")->text, "off");
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 32);
}

static void an_emptied_variable_is_not_set(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts("[rule s]\nenvironment A = 1\nenvironment B = 1\n" SAID,
		     "[rule p]\nenvironment A =\n", NULL);
	e = policy_of(&strix);
	assert_int_equal(e.environment_count, 1);
	assert_string_equal(e.environment[0].name, "B");
}

static void an_argument_may_have_no_value(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, "[rule p]\nargument --no-mmap =\nargument -ot = exps=CPU\n", NULL);
	e = policy_of(&strix);
	assert_int_equal(e.argument_count, 2);
	assert_string_equal(policy_named(e.argument, 2, "--no-mmap")->text, "");
	assert_string_equal(policy_named(e.argument, 2, "-ot")->text, "exps=CPU");
}

static void backends_are_tried_in_their_order_as_far_as_they_are_there(void **state)
{
	struct davy_policy_subject s = strix;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, "[rule r]\nbackends = cuda, vulkan, rocm, cpu\n", NULL);
	s.backend = DAVY_BACKEND_ROCM;
	e = policy_of(&s); /* what is there is not known */
	assert_string_equal(policy_order(&e), "cuda vulkan rocm cpu");
	assert_int_equal(e.backend, DAVY_BACKEND_CUDA);
	s.available = 1u << DAVY_BACKEND_ROCM | 1u << DAVY_BACKEND_VULKAN;
	e = policy_of(&s);
	assert_string_equal(policy_order(&e), "vulkan rocm cpu");
	assert_int_equal(e.backend, DAVY_BACKEND_VULKAN);
	s.available = 1u << DAVY_BACKEND_ROCM;
	e = policy_of(&s);
	assert_string_equal(policy_order(&e), "rocm cpu");
	assert_true(davy_effective_allows(&e, DAVY_BACKEND_VULKAN));
	assert_false(davy_effective_allows(&e, DAVY_BACKEND_SYCL));
}

static void an_empty_list_of_backends_is_reported(void **state)
{
	struct davy_policy_subject s = strix;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, "[rule r]\nbackends = vulkan\n", NULL);
	s.available = 1u << DAVY_BACKEND_ROCM;
	s.backend = DAVY_BACKEND_ROCM;
	e = policy_of(&s);
	assert_true(e.none_left);
	assert_int_equal(e.backend_count, 0);
}

static void without_a_rule_the_backend_is_that_of_the_command(void **state)
{
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, NULL, NULL);
	e = policy_of(&strix);
	assert_int_equal(e.backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(e.backend_count, 0);
	assert_false(e.none_left || e.against);
	assert_true(davy_effective_allows(&e, DAVY_BACKEND_SYCL));
}

static void settings_are_those_of_the_backend_that_was_chosen(void **state)
{
	static const char text[] = "[rule v]\nif backend = vulkan\nubatch = 128\n"
				   "[rule r]\nif backend = rocm\nubatch = 2048\n"
				   "[rule c]\nif backend = cpu\nenvironment A = cpu\n"
				   "[rule b]\nif gfx = gfx1151\nbackends = rocm, cpu\n";
	struct davy_policy_subject s = strix;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, text, NULL);
	e = policy_of(&s);
	assert_int_equal(e.backend, DAVY_BACKEND_ROCM);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 2048);
	s.available = 1u << DAVY_BACKEND_VULKAN;
	e = policy_of(&s);
	assert_int_equal(e.backend, DAVY_BACKEND_CPU);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 0);
	assert_int_equal(e.environment_count, 1);
}

static void a_forced_backend_gets_its_settings_and_a_warning(void **state)
{
	struct davy_policy_subject s = strix;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL,
		     "[rule b]\nbackends = cpu\nwarn = it dies\n"
		     "[rule v]\nif backend = vulkan\nubatch = 128\n",
		     NULL);
	s.forced = true;
	e = policy_of(&s);
	assert_true(e.against);
	assert_int_equal(e.backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 128);
	assert_string_equal(e.value[DAVY_POLICY_WARN].text, "it dies");
	s.backend = DAVY_BACKEND_CPU;
	e = policy_of(&s);
	assert_false(e.against);
}

static void a_rule_from_code_equals_one_from_a_file(void **state)
{
	static const enum davy_backend list[] = { DAVY_BACKEND_VULKAN, DAVY_BACKEND_CPU };
	struct davy_policy_layer *agent = &layers.at[DAVY_LAYER_AGENT];
	char pattern[DAVY_MODEL_LEN];
	struct davy_rule *rule;
	struct davy_effective e;

	(void)state;
	policy_texts(NULL, NULL, NULL);
	rule = davy_policy_rule_add(agent, "t1");
	assert_non_null(rule);
	assert_null(davy_policy_rule_add(agent, "t1"));
	assert_null(davy_policy_rule_add(agent, "Upper"));
	assert_null(davy_policy_rule_add(agent, ""));
	davy_rule_literal(pattern, sizeof(pattern), strix.model);
	assert_int_equal(davy_rule_if(agent, rule, DAVY_IF_MODEL, pattern, 0), 0);
	assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_BACKENDS, NULL, "vulkan, cpu",
				       davy_backends_pack(list, 2)),
			 0);
	assert_int_equal(davy_rule_set_count(agent, rule, DAVY_POLICY_UBATCH, 256), 0);
	assert_int_equal(davy_rule_set_count(agent, rule, DAVY_POLICY_UBATCH, 64), 0);
	assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_ENVIRONMENT, "A", "1", 0), 0);
	assert_int_equal(rule->value_count, 3);
	e = policy_of(&strix);
	assert_string_equal(policy_order(&e), "vulkan cpu");
	assert_int_equal(davy_effective_count(&e, DAVY_POLICY_UBATCH), 64);
	assert_string_equal(e.environment[0].text, "1");
}

static void a_full_rule_and_a_full_layer_are_reported(void **state)
{
	struct davy_policy_layer *agent = &layers.at[DAVY_LAYER_AGENT];
	char name[16], text[200];
	struct davy_rule *rule;
	int err = 0;

	(void)state;
	policy_texts(NULL, NULL, NULL);
	rule = davy_policy_rule_add(agent, "full");
	for (int i = 0; i < DAVY_RULE_VALUES_MAX; i++) {
		snprintf(name, sizeof(name), "A%d", i);
		assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_ENVIRONMENT, name, "1", 0),
				 0);
	}
	assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_ENVIRONMENT, "B", "1", 0), -ENOSPC);
	assert_int_equal(davy_rule_set(agent, rule, DAVY_POLICY_ENVIRONMENT, "A1", "2", 0), 0);
	memset(text, 'x', sizeof(text));
	text[DAVY_RULE_TEXT_LEN] = 0;
	assert_int_equal(davy_rule_if(agent, rule, DAVY_IF_MODEL, text, 0), -EINVAL);
	for (int i = 1; i < DAVY_RULES_MAX; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		assert_non_null(davy_policy_rule_add(agent, name));
	}
	assert_null(davy_policy_rule_add(agent, "more"));
	text[170] = 0;
	for (int i = 0; i < 1000 && !err; i++)
		err = davy_rule_if(agent, rule, DAVY_IF_MODEL, text, 0);
	assert_int_equal(err, -ENOSPC);
}

static void rules_beyond_the_bounds_are_counted(void **state)
{
	static char text[8192];
	struct davy_effective e;
	size_t used = 0;

	(void)state;
	for (int i = 0; i < DAVY_POLICY_NAMED_MAX + 3; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[rule r%d]\nenvironment V%d = 1\n", i, i);
	policy_texts(NULL, text, NULL);
	e = policy_of(&strix);
	assert_int_equal(e.environment_count, DAVY_POLICY_NAMED_MAX);
	assert_int_equal(e.left_out, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_matches_its_subject),
		cmocka_unit_test(all_conditions_of_a_rule_must_hold),
		cmocka_unit_test(an_unknown_value_matches_no_condition),
		cmocka_unit_test(a_missing_timeout_is_below_no_limit),
		cmocka_unit_test(rules_for_ollama_apply_to_its_runners),
		cmocka_unit_test(the_later_rule_of_a_layer_wins_value_by_value),
		cmocka_unit_test(a_value_knows_where_it_comes_from),
		cmocka_unit_test(a_later_layer_beats_an_earlier_one_but_for_pins),
		cmocka_unit_test(the_fleet_only_narrows),
		cmocka_unit_test(the_fleet_sets_nothing_else),
		cmocka_unit_test(a_pin_holds_each_of_its_values_and_no_other),
		cmocka_unit_test(an_emptied_variable_is_not_set),
		cmocka_unit_test(an_argument_may_have_no_value),
		cmocka_unit_test(backends_are_tried_in_their_order_as_far_as_they_are_there),
		cmocka_unit_test(an_empty_list_of_backends_is_reported),
		cmocka_unit_test(without_a_rule_the_backend_is_that_of_the_command),
		cmocka_unit_test(settings_are_those_of_the_backend_that_was_chosen),
		cmocka_unit_test(a_forced_backend_gets_its_settings_and_a_warning),
		cmocka_unit_test(a_rule_from_code_equals_one_from_a_file),
		cmocka_unit_test(a_full_rule_and_a_full_layer_are_reported),
		cmocka_unit_test(rules_beyond_the_bounds_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
