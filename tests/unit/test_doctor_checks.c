/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each check of the doctor's catalogue at its limits, and hostile texts. */
#include "doctor.h"

#include <jansson.h>

#include "doctor/print.h"
#include "doctor/read.h"
#include "lib/text.h"
#include "root.h"

static void no_check_is_silent_on_any_host(void **state)
{
	const struct davy_check *check;

	for (int host = 0; host < 2; host++) {
		make_host(state);
		if (host)
			memset(&facts, 0, sizeof(facts));
		examine();
		for (size_t i = 0; (check = davy_check_at(i)); i++) {
			size_t found = 0;

			for (size_t j = 0; j < findings.count; j++)
				found += findings.at[j].check == check;
			if (!found)
				fail_msg("%s says nothing", check->id);
		}
	}
}

static void each_failure_has_a_fix_and_a_command_to_verify_it(void **state)
{
	make_host(state);
	memset(&facts.self, 0, sizeof(facts.self));
	facts.gpu[0].may_suspend = true;
	facts.gpu[0].policy[DAVY_BACKEND_ROCM].against = true;
	facts.gpu[0].policy_ubatch = 128;
	facts.node[0].error = -EPERM;
	facts.node[1].error = -EACCES;
	facts.icd_count = 0;
	facts.service.private_devices = true;
	facts.run[0].end = DAVY_END_EXIT;
	set_variable(DAVY_VAR_HSA_OVERRIDE, "10.3.0");
	set_variable(DAVY_VAR_VK_VISIBLE, "");
	set_variable(DAVY_VAR_DISABLE_VULKAN, "1");
	facts.engine.has_rocblas = true;
	facts.probe[DAVY_DISCOVERY_ROCM].healthy = false;
	examine();
	for (size_t i = 0; i < findings.count; i++) {
		const struct davy_finding *f = &findings.at[i];

		if (f->verdict < DAVY_FOUND_WARNING)
			continue;
		if (!f->fix[0] || !f->verify[0] || !f->evidence[0])
			fail_msg("%s: no fix, or no way to verify it", f->check->id);
		if (f->verdict == DAVY_FOUND_FAILURE && !f->check->fault[0])
			fail_msg("%s has no words for its fault", f->check->id);
	}
	assert_true(findings.count > 20);
}

static void variables_that_hide(void **state)
{
	static const struct {
		const char *value;
		enum davy_diagnosis wanted;
	} rows[] = {
		{ "", DAVY_FOUND_FAILURE },	{ "-1", DAVY_FOUND_FAILURE },
		{ "none", DAVY_FOUND_FAILURE }, { "1", DAVY_FOUND_FAILURE },
		{ "7,0", DAVY_FOUND_FAILURE },	{ "0", DAVY_FOUND_OK },
		{ "0,7", DAVY_FOUND_OK },	{ "GPU-0123456789abcdef", DAVY_FOUND_OK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_host(state);
		set_variable(DAVY_VAR_ROCR_VISIBLE, rows[i].value);
		examine();
		assert_found("config.visible", rows[i].wanted);
	}
	make_host(state);
	set_variable(DAVY_VAR_ZE_AFFINITY, "-1"); /* no Intel GPU */
	examine();
	assert_found("config.visible", DAVY_FOUND_OK);
	set_variable(DAVY_VAR_CUDA_VISIBLE, "-1"); /* HIP also reads it */
	examine();
	assert_found("config.visible", DAVY_FOUND_FAILURE);
}

static void a_service_that_is_frozen(void **state)
{
	make_host(state);
	facts.service.pid = 7;
	examine();
	assert_found("access.frozen", DAVY_FOUND_OK);
	facts.service.frozen = true;
	examine();
	assert_found("access.frozen", DAVY_FOUND_FAILURE);
	facts.service.pid = 0;
	facts.service.frozen = false;
	examine();
	assert_found("access.frozen", DAVY_FOUND_NOT_NEEDED);
}

static void variables_that_turn_a_backend_off(void **state)
{
	static const struct {
		enum davy_doctor_variable_id id;
		const char *value;
		enum davy_diagnosis wanted;
	} rows[] = {
		{ DAVY_VAR_DISABLE_VULKAN, "", DAVY_FOUND_WARNING }, /* an empty value counts */
		{ DAVY_VAR_OLLAMA_VULKAN, "0", DAVY_FOUND_WARNING },
		{ DAVY_VAR_OLLAMA_VULKAN, "true", DAVY_FOUND_OK },
		{ DAVY_VAR_VK_DRIVERS_DISABLE, "*radeon*", DAVY_FOUND_WARNING },
		{ DAVY_VAR_VK_DRIVERS_SELECT, "", DAVY_FOUND_OK },
		{ DAVY_VAR_ONEAPI_SELECTOR, "opencl:cpu", DAVY_FOUND_WARNING },
		{ DAVY_VAR_ONEAPI_SELECTOR, "level_zero:0", DAVY_FOUND_OK },
		{ DAVY_VAR_ONEAPI_SELECTOR, "*:gpu", DAVY_FOUND_OK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_host(state);
		set_variable(rows[i].id, rows[i].value);
		examine();
		assert_found("config.off", rows[i].wanted);
	}
}

static void overrides(void **state)
{
	static const struct {
		const char *value;
		enum davy_diagnosis wanted;
	} rows[] = {
		{ "9.0.6", DAVY_FOUND_OK },
		{ "9.0.0", DAVY_FOUND_OK },
		{ "10.3.0", DAVY_FOUND_FAILURE },
		{ "11.0.0", DAVY_FOUND_FAILURE },
		{ "gfx906", DAVY_FOUND_FAILURE },
		{ "906", DAVY_FOUND_FAILURE },
		{ "999999999999999.0", DAVY_FOUND_FAILURE },
		{ "9.0", DAVY_FOUND_FAILURE },
		{ "9.0.6x", DAVY_FOUND_FAILURE },
		{ "9.256.0", DAVY_FOUND_FAILURE },
		{ "", DAVY_FOUND_FAILURE },
		{ NULL, DAVY_FOUND_NOT_NEEDED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_host(state);
		set_variable(DAVY_VAR_HSA_OVERRIDE, rows[i].value);
		examine();
		assert_found("config.override", rows[i].wanted);
	}
}

static void each_node_can_have_a_separate_override(void **state)
{
	make_host(state);
	facts.gpu[0].kfd_node = 2;
	facts.gpu[0].has_override = true;
	set_variable(DAVY_VAR_HSA_OVERRIDE, "9.0.6");
	snprintf(facts.gpu[0].override, sizeof(facts.gpu[0].override), "10.3.0");
	examine();
	assert_found("config.override", DAVY_FOUND_FAILURE);
	assert_non_null(strstr(worst_of("config.override")->fix, "HSA_OVERRIDE_GFX_VERSION_2 "));
	set_variable(DAVY_VAR_HSA_OVERRIDE, "10.3.0");
	snprintf(facts.gpu[0].override, sizeof(facts.gpu[0].override), "9.0.10");
	facts.engine.has_rocblas = true;
	snprintf(facts.engine.targets, sizeof(facts.engine.targets), "gfx90a");
	examine();
	assert_found("config.override", DAVY_FOUND_OK);
	assert_found("bundle.targets", DAVY_FOUND_OK);
}

static void parameter(const char *configured, const char *value, bool exists)
{
	struct davy_doctor_parameter *p = &facts.parameter[0];

	make_host(NULL);
	facts.parameter_count = 1;
	snprintf(p->module, sizeof(p->module), "amdgpu");
	snprintf(p->name, sizeof(p->name), "x");
	snprintf(p->configured, sizeof(p->configured), "%s", configured);
	snprintf(p->value, sizeof(p->value), "%s", value);
	p->loaded = true;
	p->exists = exists;
	examine();
}

static void parameters_that_took(void **state)
{
	static const struct {
		const char *configured, *value;
		enum davy_diagnosis wanted;
	} rows[] = {
		{ "1", "1", DAVY_FOUND_OK },	       { "0x100", "256", DAVY_FOUND_OK },
		{ "on", "off", DAVY_FOUND_WARNING },   { "0", "-1", DAVY_FOUND_WARNING },
		{ "1", "Y", DAVY_FOUND_OK },	       { "0", "Y", DAVY_FOUND_WARNING },
		{ "N", "N", DAVY_FOUND_OK },	       { "", "N", DAVY_FOUND_OK },
		{ "-1", "4294967295", DAVY_FOUND_OK }, { "10000,5000", "10000", DAVY_FOUND_OK },
		{ "10000", "", DAVY_FOUND_WARNING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		parameter(rows[i].configured, rows[i].value, true);
		assert_found("driver.parameters", rows[i].wanted);
	}
	parameter("1", "", false);
	assert_found("driver.parameters", DAVY_FOUND_WARNING);
}

static void kernels_for_the_gpu(void **state)
{
	make_host(state);
	facts.engine.has_rocblas = true;
	snprintf(facts.engine.targets, sizeof(facts.engine.targets), "gfx908 gfx9060 gfx90a");
	examine();
	assert_found("bundle.targets", DAVY_FOUND_FAILURE); /* gfx9060 is a different GPU */
	set_variable(DAVY_VAR_HSA_OVERRIDE, "9.0.10");
	examine();
	assert_found("bundle.targets", DAVY_FOUND_OK); /* gfx90a */
	set_variable(DAVY_VAR_HSA_OVERRIDE, "10.3.0");
	snprintf(facts.engine.targets, sizeof(facts.engine.targets), "gfx906");
	examine();
	assert_found("bundle.targets", DAVY_FOUND_OK); /* reported by config.override */
}

static void memory_of_integrated_gpus_is_the_hosts(void **state)
{
	make_host(state);
	facts.model.asked = true;
	facts.model.bytes = (uint64_t)15 << 30;
	facts.model.layers = 32;
	facts.memory_available = (uint64_t)8 << 30;
	examine();
	assert_found("model.memory", DAVY_FOUND_WARNING); /* 16.5 GiB with 10 % added */
	facts.model.bytes = (uint64_t)14 << 30;
	examine();
	assert_found("model.memory", DAVY_FOUND_OK);
	snprintf(facts.gpu[0].subject.kind, sizeof(facts.gpu[0].subject.kind), "igpu");
	facts.gpu[0].vram_bytes = (uint64_t)1 << 30;
	examine();
	assert_found("model.memory", DAVY_FOUND_WARNING);
	facts.memory_available = (uint64_t)24 << 30;
	examine();
	assert_found("model.memory", DAVY_FOUND_OK);
	facts.gpu[0].gtt_bytes = (uint64_t)4 << 30;
	examine();
	assert_found("model.memory", DAVY_FOUND_WARNING);
}

static void skipped_tests_are_reported(void **state)
{
	make_host(state);
	facts.node[0].tested = facts.node[1].tested = false;
	facts.node[0].error = -ETIMEDOUT;
	examine();
	assert_found("access.open", DAVY_FOUND_UNCHECKED);
	facts.probe[DAVY_DISCOVERY_VULKAN].ran = false;
	examine();
	assert_found("runtime.vulkan", DAVY_FOUND_UNCHECKED);
}

static void the_exit_status_is_that_of_the_worst(void **state)
{
	make_host(state);
	examine();
	assert_int_equal(davy_doctor_exit(&findings, &conclusion), 0);
	facts.service.known = false;
	examine();
	assert_int_equal(davy_doctor_exit(&findings, &conclusion), DAVY_EXIT_UNCHECKED);
	facts.self.ftrace_off = true;
	examine();
	assert_int_equal(davy_doctor_exit(&findings, &conclusion), DAVY_EXIT_WARNING);
	facts.icd_count = 0;
	examine();
	assert_int_equal(davy_doctor_exit(&findings, &conclusion), 1);
	facts.gpu_count = 0;
	examine();
	assert_int_equal(davy_doctor_exit(&findings, &conclusion), 4);
}

/* All untrusted texts with hostile contents. */
static void spoil(char *text, size_t size)
{
	static const char bad[] = "a\n\x1b[31m\xff\xc3\x28\"\\{}%s%n ;";

	memset(text, 'x', size);
	memcpy(text, bad, sizeof(bad) - 1 < size ? sizeof(bad) - 1 : size);
	text[size - 1] = 0;
}

#define SPOIL(field) spoil(field, sizeof(field))

static void hostile_texts_are_shown(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *to;

	make_host(state);
	SPOIL(facts.service.user);
	SPOIL(facts.service.unit);
	SPOIL(facts.engine.path);
	SPOIL(facts.engine.rocblas);
	SPOIL(facts.engine.targets);
	facts.engine.has_rocblas = true;
	SPOIL(facts.icd[0].library);
	SPOIL(facts.icd[0].manifest);
	SPOIL(facts.icd[0].why);
	SPOIL(facts.run[0].words);
	SPOIL(facts.run[0].where);
	SPOIL(facts.probe[DAVY_DISCOVERY_ROCM].text);
	SPOIL(facts.probe[DAVY_DISCOVERY_ROCM].names);
	SPOIL(facts.gpu[0].version);
	SPOIL(facts.variable[DAVY_VAR_ROCR_VISIBLE].value);
	SPOIL(facts.model.path);
	facts.variable[DAVY_VAR_ROCR_VISIBLE].set = facts.model.asked = true;
	facts.model.error = -EINVAL;
	facts.run[0].end = DAVY_END_SIGNAL;
	examine();
	for (int json = 0; json < 2; json++) {
		to = open_memstream(&text, &size);
		assert_non_null(to);
		if (json)
			davy_doctor_print_json(to, &facts, &findings, &conclusion);
		else
			davy_doctor_print(to, &facts, &findings, &conclusion, true);
		fclose(to);
		for (char *at = text; *at;) {
			char *end = strchr(at, '\n');
			json_t *object;

			assert_non_null(end);
			*end = 0;
			assert_int_equal(davy_text_shown_length(at), strlen(at));
			object = json ? json_loads(at, 0, NULL) : json_object();
			assert_non_null(object);
			json_decref(object);
			at = end + 1;
		}
		free(text);
	}
}

static void cut_texts_end_between_characters(void **state)
{
	static const struct davy_check row = { .id = "x.y", .title = "x" };
	struct davy_finding *f;
	char text[DAVY_FINDING_TEXT_LEN * 2];

	(void)state;
	for (size_t before = 0; before < 8; before++) {
		findings.count = 0;
		memset(text, 'a', sizeof(text));
		for (size_t i = before; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 3);
		text[sizeof(text) - 1 - (sizeof(text) - 1 - before) % 3] = 0;
		f = davy_finding_add(&findings, &row, DAVY_FOUND_OK, 0, text);
		davy_finding_evidence(f, "%s", text);
		assert_int_equal(davy_text_shown_length(f->evidence), strlen(f->evidence));
		assert_true(strlen(f->evidence) > DAVY_FINDING_TEXT_LEN - 16);
		davy_finding_evidence(f, "\xff%s\n", text);
		assert_int_equal(davy_text_shown_length(f->evidence), strlen(f->evidence));
	}
}

static void a_truncated_character_does_not_remove_its_neighbours(void **state)
{
	static const struct davy_check row = { .id = "x.y", .title = "x" };
	struct davy_finding *f;

	(void)state;
	findings.count = 0;
	f = davy_finding_add(&findings, &row, DAVY_FOUND_OK, 0, "");
	davy_finding_evidence(f, "it says '%s'", "\xa4\x9c ok");
	assert_string_equal(f->evidence, "it says '\\xa4\\x9c ok'");
}

static void parameters_are_read_as_modprobe_reads_them(void **state)
{
	(void)state;
	memset(&facts, 0, sizeof(facts));
	PUT("/proc/cmdline", "quiet amdgpu.runpm=0 i915.enable_guc=3 foo.amdgpu.x=1 amdgpu. xe.=1 "
			     "amdgpu.dc\n");
	PUT("/etc/modprobe.d/b.conf", "options amdgpu runpm=1 vm-size=8\n#options ttm x=1\n"
				      "options  \n options ttm\tpages_limit=5 q=\"a\"\n");
	PUT("/usr/lib/modprobe.d/a.conf", "options amdgpu vm_size=4\nblacklist radeon\n");
	PUT("/etc/modprobe.d/not", "options amdgpu never=1\n");
	PUT("/sys/module/amdgpu/parameters/runpm", "-1\n");
	PUT("/sys/module/amdgpu/parameters/vm_size", "8\n");
	davy_read_parameters(&facts);
	assert_int_equal(facts.parameter_count, 6);
	assert_string_equal(facts.parameter[0].name, "vm_size");
	assert_string_equal(facts.parameter[0].configured, "8"); /* /etc overrides /usr/lib */
	assert_true(facts.parameter[0].loaded && facts.parameter[0].exists);
	assert_string_equal(facts.parameter[1].name, "runpm");
	assert_string_equal(facts.parameter[1].configured, "0"); /* the command line overrides it */
	assert_string_equal(facts.parameter[1].value, "-1");
	assert_string_equal(facts.parameter[2].module, "ttm");
	assert_false(facts.parameter[2].loaded);
	assert_string_equal(facts.parameter[5].name, "dc");
	assert_string_equal(facts.parameter[5].configured, "1");
}

static void a_flood_of_parameters_ends(void **state)
{
	char text[8192] = "", word[64];

	(void)state;
	memset(&facts, 0, sizeof(facts));
	for (int i = 0; i < 200; i++) {
		snprintf(word, sizeof(word), "amdgpu.p%d=%d ", i, i);
		strncat(text, word, sizeof(text) - strlen(text) - 1);
	}
	put("/proc/cmdline", text, strlen(text));
	davy_read_parameters(&facts);
	assert_int_equal(facts.parameter_count, DAVY_DOCTOR_PARAMETERS);
}

static void gpus_are_those_of_three_vendors(void **state)
{
	(void)state;
	memset(&facts, 0, sizeof(facts));
	PUT("/sys/bus/pci/devices/0000:04:00.0/class", "0x030000\n");
	PUT("/sys/bus/pci/devices/0000:04:00.0/vendor", "0x1002\n");
	PUT("/sys/bus/pci/devices/0000:04:00.0/device", "0x66a1\n");
	PUT("/sys/bus/pci/devices/0000:01:00.0/class", "0x120000\n"); /* an Instinct */
	PUT("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
	PUT("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n"); /* QEMU's display */
	PUT("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x1234\n");
	PUT("/sys/bus/pci/devices/0000:00:1f.3/class", "0x040300\n"); /* Intel's audio */
	PUT("/sys/bus/pci/devices/0000:00:1f.3/vendor", "0x8086\n");
	PUT("/sys/bus/pci/devices/0000:05:00.0/class", "junk\n");
	davy_read_gpus(&facts);
	assert_int_equal(facts.gpu_count, 2);
	assert_string_equal(facts.gpu[0].device, "0000:01:00.0");
	assert_string_equal(facts.gpu[1].device, "0000:04:00.0");
	assert_string_equal(facts.gpu[1].wanted, "amdgpu");
	examine();
	assert_found("driver.bound", DAVY_FOUND_FAILURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_check_is_silent_on_any_host),
		cmocka_unit_test(each_failure_has_a_fix_and_a_command_to_verify_it),
		cmocka_unit_test(variables_that_hide),
		cmocka_unit_test(a_service_that_is_frozen),
		cmocka_unit_test(variables_that_turn_a_backend_off),
		cmocka_unit_test(overrides),
		cmocka_unit_test(each_node_can_have_a_separate_override),
		cmocka_unit_test(parameters_that_took),
		cmocka_unit_test(kernels_for_the_gpu),
		cmocka_unit_test(memory_of_integrated_gpus_is_the_hosts),
		cmocka_unit_test(skipped_tests_are_reported),
		cmocka_unit_test(the_exit_status_is_that_of_the_worst),
		cmocka_unit_test(hostile_texts_are_shown),
		cmocka_unit_test(cut_texts_end_between_characters),
		cmocka_unit_test(a_truncated_character_does_not_remove_its_neighbours),
		cmocka_unit_test_setup_teardown(parameters_are_read_as_modprobe_reads_them,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_flood_of_parameters_ends, make_root, remove_root),
		cmocka_unit_test_setup_teardown(gpus_are_those_of_three_vendors, make_root,
						remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
