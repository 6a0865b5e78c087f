/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's memory from /proc, and the sampling interval of a device that uses it. */
#include "history.h"
#include "root.h"

#include "sensors/gpu/gpu_memory.h"
#include "sensors/gpu/host_memory.h"

#define MIB (1ULL << 20)

static void meminfo_is_read_by_whole_names(void **state)
{
	struct davy_ev_memory m = { .host_available = 7 };

	(void)state;
	davy_meminfo_parse("MemTotal:       24684488 kB\nMemFree:        22458560 kB\n"
			   "MemAvailable:   23148992 kB\n",
			   &m);
	assert_int_equal(m.host_total, 24684488ULL * 1024);
	assert_int_equal(m.host_available, 23148992ULL * 1024);
	davy_meminfo_parse("XMemTotal: 1 kB\nMemTotal:\nMemAvailable: -5 kB\n", &m);
	davy_meminfo_parse("MemTotal: 99999999999999999999 kB\nMemAvailable: 5 MB\n", &m);
	davy_meminfo_parse("MemTotal: 18014398509481984 kB", &m); /* 2^64 bytes */
	davy_meminfo_parse("", &m);
	assert_int_equal(m.host_total, 24684488ULL * 1024); /* what is not there stays */
	assert_int_equal(m.host_available, 23148992ULL * 1024);
}

static void pressure_is_permille_whatever_is_written_there(void **state)
{
	(void)state;
	assert_int_equal(davy_pressure_parse("some avg10=99.00 avg60=0.00 avg300=0.00 total=1\n"
					     "full avg10=12.34 avg60=0.00 avg300=0.00 total=1\n"),
			 123);
	assert_int_equal(davy_pressure_parse("full avg10=0.00"), 0);
	assert_int_equal(davy_pressure_parse("full avg10=0.59"), 5);
	assert_int_equal(davy_pressure_parse("full avg10=100.00"), 1000);
	assert_int_equal(davy_pressure_parse("full avg10=7"), 70);
	assert_int_equal(davy_pressure_parse("full avg10=100.90"), 1000);
	assert_int_equal(davy_pressure_parse("full avg10=99999999999999999999.0"), 1000);
	assert_int_equal(davy_pressure_parse("full avg10=nan"), 0);
	assert_int_equal(davy_pressure_parse("full avg10=inf"), 0);
	assert_int_equal(davy_pressure_parse("full avg10=-3.00"), 0);
	assert_int_equal(davy_pressure_parse("full avg10=1e9"), 10);
	assert_int_equal(davy_pressure_parse("full avg10=1,5"), 10);
	assert_int_equal(davy_pressure_parse("full avg10="), 0);
	assert_int_equal(davy_pressure_parse(""), 0);
}

static void the_host_is_read_from_proc(void **state)
{
	struct davy_ev_memory m = { .host_total = 5, .pressure_permille = 5 };

	(void)state;
	davy_host_memory_read(&m);
	assert_int_equal(m.host_total, 0);
	assert_int_equal(m.pressure_permille, 0);
	PUT("/proc/meminfo", "MemTotal: 4 kB\nMemAvailable: 1 kB\n");
	PUT("/proc/pressure/memory", "full avg10=50.00\n");
	davy_host_memory_read(&m);
	assert_int_equal(m.host_total, 4096);
	assert_int_equal(m.host_available, 1024);
	assert_int_equal(m.pressure_permille, 500);
}

static uint64_t interval(const struct davy_ev_memory *now_, const struct davy_ev_memory *before)
{
	return davy_gpu_memory_interval(now_, before, DAVY_NS_PER_S) / DAVY_NS_PER_MS;
}

/* An APU with 512 MiB set aside, all in use, as they always are. */
static void a_device_on_the_hosts_memory_is_judged_by_that(void **state)
{
	struct davy_ev_memory m = { .vram_total = 512 * MIB,
				    .vram_used = 510 * MIB,
				    .gtt_total = 8192 * MIB,
				    .gtt_used = 1000 * MIB,
				    .host_total = 16384 * MIB,
				    .host_available = 12000 * MIB,
				    .flags = DAVY_MEMORY_SHARED },
			      before = m;

	(void)state;
	assert_int_equal(interval(&m, &m), 5000);
	m.flags = 0;
	assert_int_equal(interval(&m, &m), 200); /* of a card it would be full */
	m.flags = DAVY_MEMORY_SHARED;
	m.gtt_used = 8100 * MIB;
	assert_int_equal(interval(&m, &m), 200);
	m.gtt_used = before.gtt_used;
	m.host_available = 1000 * MIB;
	assert_int_equal(interval(&m, &m), 200); /* the host is full before GTT is */
	/* 1000 MiB/s: full in 11 s, a twentieth of that */
	m.host_available = 11000 * MIB;
	assert_in_range(interval(&m, &before), 500, 600);
	m.host_available = 20000 * MIB; /* more than there is: used is none */
	assert_int_equal(interval(&m, &m), 5000);
	/* i915 and xe without VRAM: the host's alone. */
	m = (struct davy_ev_memory){ .host_total = 16384 * MIB,
				     .host_available = 1000 * MIB,
				     .flags = DAVY_MEMORY_SHARED };
	assert_int_equal(interval(&m, &m), 200);
	m.host_available = 12000 * MIB;
	assert_int_equal(interval(&m, &m), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meminfo_is_read_by_whole_names),
		cmocka_unit_test(pressure_is_permille_whatever_is_written_there),
		cmocka_unit_test_setup_teardown(the_host_is_read_from_proc, make_root, remove_root),
		cmocka_unit_test(a_device_on_the_hosts_memory_is_judged_by_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
