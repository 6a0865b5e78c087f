/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What userspace tells the programs: thresholds of edges, verdicts on errors, who tells what. */
#include <bpf/bpf.h>
#include <stddef.h>
#include <string.h>

#include "sensors/bpf/bpf_state.h"
#include "sensors/bpf/ioctl_table.h"

#define MIB (1ULL << 20)

static const struct {
	enum davy_fact fact;
	struct davy_threshold at;
} edges[] = {
	{ DAVY_FACT_GPU_FAULT, { .count = 1, .quiet_ns = 20 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_ALLOC_FAILED, { .count = 1, .quiet_ns = 20 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_IOCTL_FAILED, { .count = 16, .quiet_ns = 100 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_VRAM_SPILL, { .bytes = 16 * MIB, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_TTM_SWAPOUT, { .bytes = 16 * MIB, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_SVM_FAULT, { .count = 256, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_KFD_PAGE_FAULT, { .count = 256, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_I915_EVICT, { .count = 64, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_I915_SHRINK, { .bytes = 64 * MIB, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_XE_PAGE_FAULT, { .count = 256, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_XE_VMA_EVICT, { .bytes = 16 * MIB, .quiet_ns = 50 * DAVY_NS_PER_MS } },
	{ DAVY_FACT_XE_REBIND_RETRY, { .count = 16, .quiet_ns = 50 * DAVY_NS_PER_MS } },
};

void davy_bpf_set_thresholds(struct davy_bpf *b)
{
	int fd = davy_bpf_shared(b, DAVY_SHARED_THRESHOLDS);

	for (size_t i = 0; fd >= 0 && i < sizeof(edges) / sizeof(edges[0]); i++) {
		uint32_t fact = edges[i].fact;

		bpf_map_update_elem(fd, &fact, &edges[i].at, BPF_ANY);
	}
}

void davy_bpf_set_verdicts(struct davy_bpf *b)
{
	int fd = davy_bpf_shared(b, DAVY_SHARED_VERDICTS);
	struct davy_ioctl_row row;

	for (size_t i = 0; fd >= 0 && davy_ioctl_row(i, &row); i++) {
		struct davy_verdict_key key = { .number = row.number, .error = row.error };
		uint8_t verdict = (uint8_t)row.verdict;

		memcpy(key.driver, row.driver, strnlen(row.driver, sizeof(key.driver)));
		bpf_map_update_elem(fd, &key, &verdict, BPF_ANY);
	}
}

void davy_bpf_set_settings(struct davy_bpf *b, const struct davy_bpf_object *leaving)
{
	static const struct {
		enum davy_object_index object;
		const char *program;
		size_t offset; /* of the flag */
	} flags[] = {
		{ DAVY_OBJ_AMDGPU, "bo_moved", offsetof(struct davy_settings, amdgpu_moves) },
		{ DAVY_OBJ_AMDGPU_TDR, "job_timed_out",
		  offsetof(struct davy_settings, amdgpu_timeouts) },
		{ DAVY_OBJ_AMDGPU_TDR, "ring_reset_ends",
		  offsetof(struct davy_settings, ring_helper) },
		{ DAVY_OBJ_XE, "xe_timed_out", offsetof(struct davy_settings, xe_timeouts) },
		{ DAVY_OBJ_FENCE, "fence_signaled", offsetof(struct davy_settings, fence_ends) },
	};
	int fd = davy_bpf_shared(b, DAVY_SHARED_SETTINGS);
	struct davy_settings s = { .tell_job = b->tells_jobs };
	uint32_t zero = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct davy_bpf_object *o = &b->objects[flags[i].object];

		((uint8_t *)&s)[flags[i].offset] =
			o != leaving && davy_bpf_object_has_live(o, flags[i].program);
	}
	if (fd >= 0)
		bpf_map_update_elem(fd, &zero, &s, BPF_ANY);
}
