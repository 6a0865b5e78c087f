/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor's root cause, from single findings and from whole hosts. */
#include "doctor.h"

#include "lib/text.h"

static void assert_causes(size_t count, const char *first, const char *second)
{
	if (conclusion.cause_count != count)
		fail_msg("%zu causes: %s", conclusion.cause_count, conclusion.text);
	if (first)
		assert_string_equal(conclusion.cause[0].finding->check->id, first);
	if (second)
		assert_string_equal(conclusion.cause[1].finding->check->id, second);
}

static void assert_policy(const char *wanted)
{
	char list[64];

	davy_conclusion_backends(&conclusion, list, sizeof(list));
	assert_string_equal(list, wanted);
}

static void a_healthy_host_has_no_cause(void **state)
{
	make_host(state);
	examine();
	assert_int_equal(conclusion.kind, DAVY_CONCLUDES_HEALTHY);
	assert_causes(0, NULL, NULL);
	assert_int_equal(conclusion.usable, BIT(VULKAN) | BIT(ROCM));
	assert_policy("");
	assert_int_equal(davy_findings_worst(&findings), DAVY_FOUND_OK);
}

static void seed_002(void **state)
{
	make_host(state);
	facts.run[1].end = DAVY_END_SIGNAL;
	facts.run[1].code = 11;
	facts.run[1].stage = DAVY_STAGE_INIT;
	examine();
	assert_causes(1, "engine.discovery", NULL);
	assert_int_equal(conclusion.cause[0].backends, BIT(ROCM));
	assert_policy("vulkan,cpu");
	assert_ptr_equal(conclusion.gpu, &facts.gpu[0]);
	assert_string_equal(conclusion.proven, "driver, device files, permissions, Vulkan, "
					       "the engine's Vulkan, ROCm");
	assert_non_null(strstr(conclusion.text,
			       "the engine's ROCm backend is at fault on gfx906: ROCm: it died by "
			       "SIGSEGV in stage init"));
	assert_non_null(strstr(conclusion.text, "Policy: use Vulkan (backends = vulkan,cpu)"));
}

static void no_driver(void)
{
	facts.gpu[0].driver[0] = 0;
	facts.gpu[0].has_kfd_node = false;
	facts.node_count = 0;
}

static void no_kfd(void)
{
	facts.gpu[0].has_kfd_node = facts.kfd_class = false;
	facts.node_count = 1;
}

static void no_node(void)
{
	facts.node[1].exists = facts.node[1].tested = false;
}

static void no_permission(void)
{
	facts.node[0].error = facts.node[1].error = -EACCES;
}

static void override(void)
{
	set_variable(DAVY_VAR_HSA_OVERRIDE, "10.3.0");
}

static void hidden(void)
{
	set_variable(DAVY_VAR_HIP_VISIBLE, "-1");
}

static void no_icd(void)
{
	facts.icd_count = 0;
}

static void runtime_dies(void)
{
	facts.probe[DAVY_DISCOVERY_ROCM].healthy = false;
	snprintf(facts.probe[DAVY_DISCOVERY_ROCM].stage, 16, "init");
}

/* One fault each, and the policy if everything above fails with it. */
static const struct {
	const char *cause;
	const char *policy;
	void (*break_it)(void);
} single[] = {
	{ "driver.bound", "", no_driver },   { "driver.topology", "", no_kfd },
	{ "nodes.present", "", no_node },    { "access.open", "", no_permission },
	{ "config.override", "", override }, { "config.visible", "", hidden },
	{ "config.icds", "", no_icd },	     { "runtime.rocm", "vulkan,cpu", runtime_dies },
};

/* Programs run above it fail too, and are no cause. */
static void let_die(uint32_t backends)
{
	if (backends & BIT(ROCM)) {
		facts.probe[DAVY_DISCOVERY_ROCM].healthy = false;
		snprintf(facts.probe[DAVY_DISCOVERY_ROCM].stage, 16, "init");
		facts.run[1].end = DAVY_END_SIGNAL;
	}
	if (backends & BIT(VULKAN)) {
		facts.probe[DAVY_DISCOVERY_VULKAN].healthy = false;
		facts.run[0].end = DAVY_END_NONE;
	}
}

static void each_fault_is_its_own_cause(void **state)
{
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		make_host(state);
		single[i].break_it();
		examine();
		assert_causes(1, single[i].cause, NULL);
	}
}

static void consequences_name_their_root_cause(void **state)
{
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		make_host(state);
		single[i].break_it();
		examine();
		let_die(conclusion.cause[0].backends);
		examine();
		assert_causes(1, single[i].cause, NULL);
		assert_policy(single[i].policy);
	}
}

static void two_faults_are_two_causes(void **state)
{
	size_t count = sizeof(single) / sizeof(single[0]);

	for (size_t i = 2; i < count - 1; i++) {
		for (size_t j = i + 1; j < count - 1; j++) {
			make_host(state);
			single[i].break_it();
			single[j].break_it();
			examine();
			/* A missing file cannot be opened. */
			assert_causes(2, single[i].cause, single[j].cause);
			assert_memory_equal(conclusion.text, "2 causes: (1) ", 14);
		}
	}
}

static void files_refused_alike_are_one_cause(void **state)
{
	make_host(state);
	no_permission();
	examine();
	assert_int_equal(conclusion.cause[0].count, 2);
	assert_int_equal(conclusion.cause[0].backends, BIT(VULKAN) | BIT(ROCM));
	assert_int_equal(conclusion.usable, 0);
}

static void while_vulkan_can_be_mended_the_cpu_is_no_policy(void **state)
{
	make_host(state);
	facts.run[1].end = DAVY_END_SIGNAL;
	no_icd();
	let_die(BIT(VULKAN));
	examine();
	assert_causes(2, "config.icds", "engine.discovery");
	assert_policy("");
}

static void other_vendors_keep_their_backends(void **state)
{
	struct davy_doctor_gpu *other = &facts.gpu[1];

	make_host(state);
	*other = facts.gpu[0];
	snprintf(other->device, sizeof(other->device), "0000:05:00.0");
	facts.gpu_count = 2;
	facts.run[1].end = DAVY_END_SIGNAL;
	examine();
	assert_policy("vulkan,cpu");
	assert_null(conclusion.gpu);
	assert_string_equal(conclusion.vendor, "amd");
	memset(&other->subject, 0, sizeof(other->subject));
	davy_subject_driver(&other->subject, "nvidia");
	snprintf(other->driver, sizeof(other->driver), "nvidia");
	healthy_runtime(DAVY_DISCOVERY_NVML, "NVIDIA");
	examine();
	assert_int_equal(conclusion.usable, BIT(VULKAN) | BIT(CUDA));
	assert_policy("vulkan,cpu");
	assert_ptr_equal(conclusion.gpu, &facts.gpu[0]);
	assert_null(conclusion.vendor);
}

static void when_every_backend_dies_the_cpu_is_left(void **state)
{
	make_host(state);
	facts.run[0].end = DAVY_END_HUNG;
	facts.run[1].end = DAVY_END_EXIT;
	examine();
	assert_causes(2, "engine.discovery", "engine.discovery");
	assert_policy("cpu");
}

static void a_missing_library_is_mended_and_not_lived_with(void **state)
{
	make_host(state);
	facts.probe[DAVY_DISCOVERY_VULKAN].healthy = false;
	facts.probe[DAVY_DISCOVERY_VULKAN].absent = true;
	examine();
	assert_causes(1, "runtime.vulkan", NULL);
	assert_policy("");
}

static void a_backend_that_was_not_tried_is_not_proven(void **state)
{
	make_host(state);
	facts.run_count = 0;
	for (int i = 0; i < DAVY_DOCTOR_RUNTIMES; i++)
		facts.probe[i].ran = false;
	examine();
	assert_int_equal(conclusion.kind, DAVY_CONCLUDES_UNKNOWN);
	assert_int_equal(conclusion.usable, 0);
}

static void a_host_without_a_gpu_is_reported(void **state)
{
	(void)state;
	memset(&facts, 0, sizeof(facts));
	examine();
	assert_int_equal(conclusion.kind, DAVY_CONCLUDES_NO_GPU);
	assert_causes(0, NULL, NULL);
	assert_found("driver.gpu", DAVY_FOUND_UNCHECKED);
}

static void davylamps_own_needs_are_no_cause(void **state)
{
	make_host(state);
	memset(&facts.self, 0, sizeof(facts.self));
	examine();
	assert_int_equal(conclusion.kind, DAVY_CONCLUDES_HEALTHY);
	assert_int_equal(davy_findings_worst(&findings), DAVY_FOUND_WARNING);
}

static void more_than_there_is_room_for_is_counted(void **state)
{
	static const struct davy_check row = {
		.id = "x.y", .title = "x", .fault = "x", .layer = DAVY_AT_CONFIG
	};

	make_host(state);
	davy_checks_run(&facts, &findings);
	for (int i = 0; i < 2 * DAVY_FINDINGS_MAX; i++)
		davy_finding_evidence(
			davy_finding_add(&findings, &row, DAVY_FOUND_FAILURE, 1u << (i % 32), "y"),
			"%0600d", i);
	assert_int_equal(findings.count, DAVY_FINDINGS_MAX - 1);
	assert_true(findings.left_out > DAVY_FINDINGS_MAX);
	davy_doctor_judge(&facts, &findings, &conclusion);
	assert_int_equal(conclusion.cause_count, DAVY_CAUSES_MAX);
	assert_true(strlen(conclusion.text) < sizeof(conclusion.text));
}

static void a_long_statement_ends_between_characters(void **state)
{
	static const struct davy_check row = {
		.id = "x.y", .title = "x", .fault = "x", .layer = DAVY_AT_CONFIG
	};
	char text[DAVY_FINDING_TEXT_LEN];

	for (size_t before = 0; before < 3; before++) {
		make_host(state);
		davy_checks_run(&facts, &findings);
		memset(text, 'a', sizeof(text));
		for (size_t i = before; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 4);
		for (uint32_t i = 0; i < DAVY_CAUSES_MAX; i++)
			davy_finding_evidence(
				davy_finding_add(&findings, &row, DAVY_FOUND_FAILURE, 1u << i, "y"),
				"%s", text);
		davy_doctor_judge(&facts, &findings, &conclusion);
		assert_true(strlen(conclusion.text) > sizeof(conclusion.text) - 8);
		assert_int_equal(davy_text_shown_length(conclusion.text), strlen(conclusion.text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_host_has_no_cause),
		cmocka_unit_test(seed_002),
		cmocka_unit_test(each_fault_is_its_own_cause),
		cmocka_unit_test(consequences_name_their_root_cause),
		cmocka_unit_test(two_faults_are_two_causes),
		cmocka_unit_test(files_refused_alike_are_one_cause),
		cmocka_unit_test(while_vulkan_can_be_mended_the_cpu_is_no_policy),
		cmocka_unit_test(other_vendors_keep_their_backends),
		cmocka_unit_test(when_every_backend_dies_the_cpu_is_left),
		cmocka_unit_test(a_missing_library_is_mended_and_not_lived_with),
		cmocka_unit_test(a_backend_that_was_not_tried_is_not_proven),
		cmocka_unit_test(a_host_without_a_gpu_is_reported),
		cmocka_unit_test(davylamps_own_needs_are_no_cause),
		cmocka_unit_test(more_than_there_is_room_for_is_counted),
		cmocka_unit_test(a_long_statement_ends_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
