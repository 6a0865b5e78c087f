/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of a device from sysfs and KFD: the subject of the backend policy. */
#include "policy.h"
#include "root.h"

#include <unistd.h>

#include "host/host_subject.h"

static void an_intel_id_gives_generation_and_kind(void **state)
{
	static const struct {
		uint32_t id;
		const char *generation;
		const char *kind;
	} rows[] = {
		{ 0x3e92, "gen9", "igpu" },				  /* UHD 630 */
		{ 0x5917, "gen9", "igpu" },				  /* UHD 620 */
		{ 0x8a52, "gen11", "igpu" },				  /* Ice Lake */
		{ 0x9a49, "gen12", "igpu" },				  /* Iris Xe */
		{ 0x46a6, "gen12", "igpu" },				  /* Alder Lake */
		{ 0xa7a0, "gen12", "igpu" },				  /* Raptor Lake */
		{ 0x4905, "gen12", "dgpu" },				  /* DG1 */
		{ 0x56a0, "xe-hpg", "dgpu" },				  /* A770 */
		{ 0x7d55, "xe-lpg", "igpu" },				  /* Meteor Lake */
		{ 0x64a0, "xe2", "igpu" },				  /* Lunar Lake */
		{ 0xe20b, "xe2", "dgpu" },				  /* B580 */
		{ 0xe223, "xe2", "dgpu" },				  /* B70 */
		{ 0xb080, "xe3", "igpu" },    { 0x0a16, "gen7", "igpu" }, /* Haswell */
		{ 0x0a84, "gen9", "igpu" }, /* Broxton, between Haswells */
		{ 0x0116, "", "" },	    /* Sandy Bridge has no Vulkan */
		{ 0x5a52, "", "" },	    /* Cannon Lake neither */
		{ 0x13e92, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct davy_policy_subject s = { .context = 1 };

		davy_subject_intel(&s, rows[i].id);
		assert_string_equal(s.generation, rows[i].generation);
		assert_string_equal(s.kind, rows[i].kind);
	}
}

/* A name that no rule can be held to would be found by none. */
static void every_generation_is_one_that_a_rule_can_name(void **state)
{
	(void)state;
	for (uint32_t id = 0; id < 0x10000; id++) {
		struct davy_policy_subject s = { .context = 1 };
		uint32_t i = 0;

		davy_subject_intel(&s, id);
		if (!s.generation[0])
			continue;
		while (davy_generation_name(i) &&
		       strcmp(davy_generation_name(i), s.generation) != 0)
			i++;
		assert_non_null(davy_generation_name(i));
	}
}

static void kfd_gives_name_and_compute_units(void **state)
{
	static const struct {
		uint32_t version;
		uint32_t simds;
		const char *gfx;
		const char *kind;
		uint32_t compute_units;
	} rows[] = {
		{ 90006, 240, "gfx906", "dgpu", 60 },
		{ 90012, 32, "gfx90c", "igpu", 8 },
		{ 90010, 440, "gfx90a", "dgpu", 110 },
		{ 90402, 1216, "gfx942", "dgpu", 304 },
		{ 100100, 72, "gfx1010", "dgpu", 36 },
		{ 110501, 80, "gfx1151", "igpu", 40 },
		{ 110003, 24, "gfx1103", "igpu", 12 },
		{ 120001, 128, "gfx1201", "dgpu", 64 },
		{ 0, 64, "", "", 0 },
		{ 4294967295u, 64, "", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct davy_policy_subject s = { .context = 1 };

		davy_subject_kfd(&s, rows[i].version, rows[i].simds);
		assert_string_equal(s.gfx, rows[i].gfx);
		assert_string_equal(s.kind, rows[i].kind);
		assert_int_equal(s.compute_units, rows[i].compute_units);
	}
}

static void a_driver_gives_the_vendor(void **state)
{
	struct davy_policy_subject s = { .context = 1 };

	(void)state;
	davy_subject_driver(&s, "xe");
	assert_string_equal(s.vendor, "intel");
	davy_subject_driver(&s, "nouveau");
	assert_string_equal(s.vendor, "nvidia");
	memset(&s, 0, sizeof(s));
	davy_subject_driver(&s, "vgem");
	assert_string_equal(s.driver, "vgem");
	assert_string_equal(s.vendor, "");
}

static void the_shortest_timeout_of_a_backends_queues_counts(void **state)
{
	struct davy_policy_subject s = { .context = 1 };

	(void)state;
	davy_subject_lockup(&s, "gfx", 10 * DAVY_NS_PER_S, DAVY_LOCKUP_DEFAULT);
	davy_subject_lockup(&s, "compute", 60 * DAVY_NS_PER_S, DAVY_LOCKUP_DEFAULT);
	davy_subject_lockup(&s, "sdma", DAVY_NS_PER_S, DAVY_LOCKUP_DEFAULT);
	davy_subject_lockup(&s, "kfd", 0, DAVY_LOCKUP_NONE);
	assert_int_equal(s.lockup_ns[DAVY_BACKEND_VULKAN], 10 * DAVY_NS_PER_S);
	assert_true(s.lockup_ns[DAVY_BACKEND_ROCM] == DAVY_LOCKUP_NEVER);
	assert_int_equal(s.lockup_ns[DAVY_BACKEND_CPU], 0);
	memset(&s, 0, sizeof(s));
	davy_subject_lockup(&s, "ccs", 0, DAVY_LOCKUP_UNKNOWN);
	assert_int_equal(s.lockup_ns[DAVY_BACKEND_VULKAN], 0);
	davy_subject_lockup(&s, "ccs", 0, DAVY_LOCKUP_SYSFS);
	assert_true(s.lockup_ns[DAVY_BACKEND_VULKAN] == DAVY_LOCKUP_NEVER);
	davy_subject_lockup(&s, "rcs", 5 * DAVY_NS_PER_S, DAVY_LOCKUP_SYSFS);
	assert_int_equal(s.lockup_ns[DAVY_BACKEND_SYCL], 5 * DAVY_NS_PER_S);
}

#define NODE "/sys/class/kfd/kfd/topology/nodes/1"

static void an_amd_gpu_of_the_host_is_put_together_from_sysfs(void **state)
{
	static const struct davy_lockups lockups = {
		.count = 1,
		.at = { { .queue = "compute",
			  .timeout_ns = 2 * DAVY_NS_PER_S,
			  .origin = DAVY_LOCKUP_DEFAULT } },
	};
	const struct davy_gpu gpu = { .device = "0000:c6:00.0", .driver = "amdgpu", .card = 1 };
	struct davy_policy_subject s = { .engine = DAVY_ENGINE_OLLAMA };

	(void)state;
	PUT(NODE "/gpu_id", "51151\n");
	PUT(NODE "/properties", "simd_count 80\ngfx_target_version 110501\nlocation_id 50688\n"
				"domain 0\nmem_banks_count 0\n");
	PUT("/sys/class/drm/card1/device/fw_version/mes_fw_version", "0x00000083\n");
	davy_host_subject(&gpu, &lockups, &s);
	assert_int_equal(s.engine, DAVY_ENGINE_OLLAMA);
	assert_string_equal(s.device, "0000:c6:00.0");
	assert_string_equal(s.vendor, "amd");
	assert_string_equal(s.gfx, "gfx1151");
	assert_string_equal(s.kind, "igpu");
	assert_int_equal(s.compute_units, 40);
	assert_string_equal(s.firmware, "mes 0x83");
	assert_int_equal(s.lockup_ns[DAVY_BACKEND_VULKAN], 2 * DAVY_NS_PER_S);
	assert_true(s.kernel[0]);
}

static void an_intel_gpu_of_the_host_is_recognised_by_its_id(void **state)
{
	static const struct davy_lockups none;
	const struct davy_gpu gpu = { .device = "0000:00:02.0", .driver = "i915", .card = 2 };
	struct davy_policy_subject s = { .context = 1 };

	(void)state;
	PUT("/sys/class/drm/card2/device/device", "0x3e92\n");
	davy_host_subject(&gpu, &none, &s);
	assert_string_equal(s.generation, "gen9");
	assert_string_equal(s.kind, "igpu");
	assert_string_equal(s.firmware, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_intel_id_gives_generation_and_kind),
		cmocka_unit_test(every_generation_is_one_that_a_rule_can_name),
		cmocka_unit_test(kfd_gives_name_and_compute_units),
		cmocka_unit_test(a_driver_gives_the_vendor),
		cmocka_unit_test(the_shortest_timeout_of_a_backends_queues_counts),
		cmocka_unit_test(an_amd_gpu_of_the_host_is_put_together_from_sysfs),
		cmocka_unit_test(an_intel_gpu_of_the_host_is_recognised_by_its_id),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
