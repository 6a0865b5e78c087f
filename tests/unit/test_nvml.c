/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the NVML worker, which runs vendor code: only possible ones are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "agent/sense/worker.h"
#include "sensors/gpu/nvml_record.h"

#define MIB (1ULL << 20)

static const struct davy_nvml_request request = { .serial = 7,
						  .version = DAVY_NVML_VERSION,
						  .device = "0000:00:06.0" };

/* As of an H200 with two processes. */
static struct davy_nvml_record recorded(void)
{
	struct davy_nvml_record r = { .serial = 7,
				      .device = "0000:00:06.0",
				      .stage = DAVY_NVML_DONE,
				      .has = DAVY_NVML_HAS_ALL,
				      .temperature_c = 36,
				      .total = 143771 * MIB,
				      .used = 1588 * MIB,
				      .process_count = 2,
				      .process = { { .bytes = 500 * MIB, .pid = 1560 },
						   { .bytes = 472 * MIB, .pid = 1341 } } };
	return r;
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct davy_nvml_record r = recorded();                                            \
		change;                                                                            \
		assert_false(davy_nvml_record_valid(&r, &request));                                \
	} while (0)

static void the_record_of_a_real_gpu_is_believed(void **state)
{
	struct davy_nvml_record r = recorded();

	(void)state;
	assert_true(davy_nvml_record_valid(&r, &request));
	r.used = r.total;
	r.process[0].bytes = r.total;
	assert_true(davy_nvml_record_valid(&r, &request));
	r.has = r.process_count = r.temperature_c = 0; /* a GPU that reports memory only */
	assert_true(davy_nvml_record_valid(&r, &request));
}

static void the_answer_to_another_request_is_refused(void **state)
{
	(void)state;
	REFUSED(r.serial = 6);
	REFUSED(strcpy(r.device, "0000:00:07.0"));
	REFUSED(memset(r.device, 'x', sizeof(r.device)));
	REFUSED(r.device[sizeof(r.device) - 1] = 'x'); /* behind the end */
}

static void impossible_memory_is_refused(void **state)
{
	(void)state;
	REFUSED(r.total = r.used = 0);
	REFUSED(r.used = r.total + 1);
	REFUSED(r.total = UINT64_MAX);
	REFUSED(r.total = (1ULL << 46) + 1);
	REFUSED(r.temperature_c = 301);
	REFUSED(r.has = DAVY_NVML_HAS_ALL + 1);
}

static void impossible_processes_are_refused(void **state)
{
	(void)state;
	REFUSED(r.process_count = DAVY_NVML_PROCESSES + 1);
	REFUSED(r.process_count = UINT32_MAX);
	REFUSED(r.process_count = 3); /* the third one has no pid */
	REFUSED(r.process[1].pid = UINT32_MAX);
	REFUSED(r.process[1].pid = r.process[0].pid);
	REFUSED(r.process[1].bytes = r.total + 1);
	REFUSED(r.has &= ~(uint32_t)DAVY_NVML_HAS_PROCESSES);
}

static void a_failure_has_no_values(void **state)
{
	struct davy_nvml_record failed = { .serial = 7, .device = "0000:00:06.0" };

	(void)state;
	for (; failed.stage < DAVY_NVML_DONE; failed.stage++)
		assert_true(davy_nvml_record_valid(&failed, &request));
	REFUSED(r.stage = DAVY_NVML_MEMORY);
	REFUSED(r.stage = DAVY_NVML_STAGE_COUNT);
	REFUSED(r.error = 15);
	REFUSED(r.error = 1000);
}

static void each_reason_fits_and_says_what_to_do(void **state)
{
	char reason[DAVY_REASON_LEN];

	(void)state;
	for (uint32_t stage = 0; stage <= DAVY_NVML_STAGE_COUNT; stage++)
		for (uint32_t error = 0; error < 1001; error++) {
			davy_nvml_reason(stage, error, reason);
			assert_in_range(strlen(reason), 1, DAVY_REASON_LEN - 2);
		}
	davy_nvml_reason(DAVY_NVML_LOAD, 0, reason);
	assert_non_null(strstr(reason, "install"));
	davy_nvml_reason(DAVY_NVML_INIT, 18, reason);
	assert_non_null(strstr(reason, "nvmlInit_v2: error 18, module and library"));
}

static void pauses_double_up_to_a_limit(void **state)
{
	(void)state;
	assert_int_equal(davy_worker_pause_ns(1, 9), 2 * DAVY_NS_PER_S);
	assert_int_equal(davy_worker_pause_ns(9, 9), 512 * DAVY_NS_PER_S);
	assert_int_equal(davy_worker_pause_ns(UINT32_MAX, 9), 512 * DAVY_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_record_of_a_real_gpu_is_believed),
		cmocka_unit_test(the_answer_to_another_request_is_refused),
		cmocka_unit_test(impossible_memory_is_refused),
		cmocka_unit_test(impossible_processes_are_refused),
		cmocka_unit_test(a_failure_has_no_values),
		cmocka_unit_test(each_reason_fits_and_says_what_to_do),
		cmocka_unit_test(pauses_double_up_to_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
