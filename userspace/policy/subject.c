/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/hash.h"
#include "policy/effective.h"

static void subject_set(char fact[DAVY_POLICY_FACT_LEN], const char *text)
{
	davy_copy_name(fact, DAVY_POLICY_FACT_LEN, text);
}

void davy_model_hash(const char *model, char ret_hash[DAVY_MODEL_HASH_LEN])
{
	snprintf(ret_hash, DAVY_MODEL_HASH_LEN, "%016" PRIx64,
		 davy_fnv_text(DAVY_FNV_START, model));
}

void davy_subject_pci(struct davy_policy_subject *s, uint32_t vendor, uint32_t device)
{
	if (vendor)
		snprintf(s->pci, sizeof(s->pci), "%04" PRIx32 ":%04" PRIx32, vendor, device);
}

void davy_subject_driver(struct davy_policy_subject *s, const char *driver)
{
	static const struct {
		const char *driver;
		const char *vendor;
	} rows[] = {
		{ "amdgpu", "amd" }, { "radeon", "amd" },    { "i915", "intel" },
		{ "xe", "intel" },   { "nvidia", "nvidia" }, { "nouveau", "nvidia" },
	};

	subject_set(s->driver, driver);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (davy_same_name(rows[i].driver, driver))
			subject_set(s->vendor, rows[i].vendor);
}

void davy_subject_intel(struct davy_policy_subject *s, uint32_t pci_id)
{
	static const struct {
		uint16_t first, last;
		bool discrete;
		const char *generation;
	} rows[] = {
		{ 0x0150, 0x016f, false, "gen7" },   { 0x0402, 0x042e, false, "gen7" },
		{ 0x0a02, 0x0a2e, false, "gen7" },   { 0x0c02, 0x0d2e, false, "gen7" },
		{ 0x0f30, 0x0f33, false, "gen7" },   { 0x1602, 0x163e, false, "gen8" },
		{ 0x22b0, 0x22b3, false, "gen8" },   { 0x0a84, 0x0a84, false, "gen9" },
		{ 0x1902, 0x193d, false, "gen9" },   { 0x1a84, 0x1a85, false, "gen9" },
		{ 0x3184, 0x3185, false, "gen9" },   { 0x3e90, 0x3ea9, false, "gen9" },
		{ 0x5902, 0x593b, false, "gen9" },   { 0x5a84, 0x5a85, false, "gen9" },
		{ 0x87c0, 0x87ca, false, "gen9" },   { 0x9b21, 0x9bf6, false, "gen9" },
		{ 0x4541, 0x4571, false, "gen11" },  { 0x4e51, 0x4e71, false, "gen11" },
		{ 0x8a50, 0x8a71, false, "gen11" },  { 0x4626, 0x46d4, false, "gen12" },
		{ 0x4905, 0x4909, true, "gen12" },   { 0x4c80, 0x4c9a, false, "gen12" },
		{ 0x9a40, 0x9af8, false, "gen12" },  { 0xa720, 0xa7ad, false, "gen12" },
		{ 0x5690, 0x56c2, true, "xe-hpg" },  { 0x7d40, 0x7dd5, false, "xe-lpg" },
		{ 0xb640, 0xb640, false, "xe-lpg" }, { 0x6420, 0x64b0, false, "xe2" },
		{ 0xe202, 0xe223, true, "xe2" },     { 0xb080, 0xb0b0, false, "xe3" },
		{ 0xfd80, 0xfd81, false, "xe3" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (pci_id < rows[i].first || pci_id > rows[i].last)
			continue;
		subject_set(s->generation, rows[i].generation);
		subject_set(s->kind, rows[i].discrete ? "dgpu" : "igpu");
	}
}

/* GPUs integrated in a processor: no card has these names. */
static const char apus[] = "gfx902, gfx909, gfx90c, gfx1013, gfx1033, gfx1035, gfx1036, gfx1037, "
			   "gfx1103, gfx1150, gfx1151, gfx1152, gfx1153";

void davy_subject_kfd(struct davy_policy_subject *s, uint32_t version, uint32_t simd_count)
{
	uint32_t major = version / 10000;

	if (!version || major > 99)
		return;
	snprintf(s->gfx, sizeof(s->gfx), "gfx%u%x%x", major, version / 100 % 100, version % 100);
	subject_set(s->kind, davy_pattern_fits(apus, s->gfx) ? "igpu" : "dgpu");
	s->compute_units = simd_count / (major >= 10 ? 2 : 4);
}

void davy_subject_vendor(struct davy_policy_subject *s, uint32_t pci_vendor)
{
	if (pci_vendor == 0x1002)
		subject_set(s->vendor, "amd");
	else if (pci_vendor == 0x8086)
		subject_set(s->vendor, "intel");
	else if (pci_vendor == 0x10de)
		subject_set(s->vendor, "nvidia");
}

/* Mesa 26.2, src/amd/common/ac_gpu_info.c and amd_family.c. */
void davy_subject_radv(struct davy_policy_subject *s, const char *device_name)
{
	static const struct {
		const char *chip;
		const char *gfx;
		/* clang-format off */
	} rows[] = {
		{ "POLARIS10)", "gfx803" }, { "POLARIS11)", "gfx803" },
		{ "POLARIS12)", "gfx803" }, { "VEGA10)", "gfx900" },
		{ "VEGA12)", "gfx904" }, { "VEGA20)", "gfx906" },
		{ "RAVEN)", "gfx902" }, { "RAVEN2)", "gfx909" },
		{ "RENOIR)", "gfx90c" }, { "NAVI10)", "gfx1010" },
		{ "NAVI12)", "gfx1011" }, { "NAVI14)", "gfx1012" },
		{ "NAVI21)", "gfx1030" }, { "NAVI22)", "gfx1031" },
		{ "NAVI23)", "gfx1032" }, { "VANGOGH)", "gfx1033" },
		{ "NAVI24)", "gfx1034" }, { "REMBRANDT)", "gfx1035" },
		{ "NAVI31)", "gfx1100" }, { "NAVI32)", "gfx1101" },
		{ "NAVI33)", "gfx1102" }, { "PHOENIX)", "gfx1103" },
		{ "GFX1150)", "gfx1150" }, { "GFX1151)", "gfx1151" },
		{ "GFX1152)", "gfx1152" }, { "GFX1153)", "gfx1153" },
		{ "GFX1200)", "gfx1200" }, { "GFX1201)", "gfx1201" },
	};
	/* clang-format on */

	const char *at = device_name;

	while (*at && strncmp(at, "(RADV ", 6) != 0)
		at++;
	for (size_t i = 0; *at && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (davy_same_name(at + 6, rows[i].chip))
			subject_set(s->gfx, rows[i].gfx);
}

uint32_t davy_subject_backends(const struct davy_policy_subject *s)
{
	uint32_t all = 1u << DAVY_BACKEND_CPU | 1u << DAVY_BACKEND_VULKAN;

	if (davy_same_name(s->vendor, "amd"))
		return all | 1u << DAVY_BACKEND_ROCM;
	if (davy_same_name(s->vendor, "intel"))
		return all | 1u << DAVY_BACKEND_SYCL;
	if (davy_same_name(s->vendor, "nvidia"))
		return all | 1u << DAVY_BACKEND_CUDA;
	return all | 1u << DAVY_BACKEND_ROCM | 1u << DAVY_BACKEND_SYCL | 1u << DAVY_BACKEND_CUDA;
}

uint32_t davy_subject_there(const struct davy_policy_subject *s)
{
	return s->available ? s->available : UINT32_MAX & ~(1u << DAVY_BACKEND_UNKNOWN);
}

enum davy_backend davy_subject_default_backend(const struct davy_policy_subject *s, uint32_t can)
{
	static const enum davy_backend order[] = { DAVY_BACKEND_VULKAN, DAVY_BACKEND_ROCM,
						   DAVY_BACKEND_CUDA, DAVY_BACKEND_SYCL };
	uint32_t gpus = can & davy_subject_there(s);

	if (davy_same_name(s->vendor, "nvidia") && gpus & 1u << DAVY_BACKEND_CUDA)
		return DAVY_BACKEND_CUDA;
	if (davy_same_name(s->vendor, "intel") && !(gpus & 1u << DAVY_BACKEND_VULKAN) &&
	    gpus & 1u << DAVY_BACKEND_SYCL)
		return DAVY_BACKEND_SYCL;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (gpus & 1u << order[i])
			return order[i];
	return DAVY_BACKEND_CPU;
}

static bool used_by(enum davy_backend backend, const char *queue)
{
	static const char *const queues[] = { "gfx", "compute", "rcs", "ccs", "all" };

	if (backend == DAVY_BACKEND_ROCM)
		return davy_same_name(queue, "kfd");
	if (backend != DAVY_BACKEND_VULKAN && backend != DAVY_BACKEND_SYCL)
		return false;
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
		if (davy_same_name(queue, queues[i]))
			return true;
	return false;
}

void davy_subject_lockup(struct davy_policy_subject *s, const char *queue, uint64_t timeout_ns,
			 uint32_t origin)
{
	uint64_t now = timeout_ns ? timeout_ns : DAVY_LOCKUP_NEVER;

	if (origin == DAVY_LOCKUP_UNKNOWN)
		return;
	for (int i = 0; i < DAVY_BACKEND_COUNT; i++)
		if (used_by((enum davy_backend)i, queue) &&
		    (!s->lockup_ns[i] || now < s->lockup_ns[i]))
			s->lockup_ns[i] = now;
}
