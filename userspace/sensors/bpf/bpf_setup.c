/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What userspace tells the programs: thresholds of edges, verdicts on errors, who tells what. */
#include <bpf/bpf.h>
#include <stddef.h>
#include <string.h>

#include "sensors/bpf/bpf_state.h"
#include "sensors/bpf/ioctl_table.h"

#define MIB (1ULL << 20)

static const struct {
	enum dl_fact fact;
	struct dl_threshold at;
} edges[] = {
	{ DL_FACT_GPU_FAULT, { .count = 1, .quiet_ns = 20 * DL_NS_PER_MS } },
	{ DL_FACT_ALLOC_FAILED, { .count = 1, .quiet_ns = 20 * DL_NS_PER_MS } },
	{ DL_FACT_IOCTL_FAILED, { .count = 16, .quiet_ns = 100 * DL_NS_PER_MS } },
	{ DL_FACT_VRAM_SPILL, { .bytes = 16 * MIB, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_TTM_SWAPOUT, { .bytes = 16 * MIB, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_SVM_FAULT, { .count = 256, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_KFD_PAGE_FAULT, { .count = 256, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_I915_EVICT, { .count = 64, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_I915_SHRINK, { .bytes = 64 * MIB, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_XE_PAGE_FAULT, { .count = 256, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_XE_VMA_EVICT, { .bytes = 16 * MIB, .quiet_ns = 50 * DL_NS_PER_MS } },
	{ DL_FACT_XE_REBIND_RETRY, { .count = 16, .quiet_ns = 50 * DL_NS_PER_MS } },
};

void dl_bpf_set_thresholds(struct dl_bpf *b)
{
	int fd = dl_bpf_shared(b, DL_SHARED_THRESHOLDS);

	for (size_t i = 0; fd >= 0 && i < sizeof(edges) / sizeof(edges[0]); i++) {
		uint32_t fact = edges[i].fact;

		bpf_map_update_elem(fd, &fact, &edges[i].at, BPF_ANY);
	}
}

void dl_bpf_set_verdicts(struct dl_bpf *b)
{
	int fd = dl_bpf_shared(b, DL_SHARED_VERDICTS);
	struct dl_ioctl_row row;

	for (size_t i = 0; fd >= 0 && dl_ioctl_row(i, &row); i++) {
		struct dl_verdict_key key = { .number = row.number, .error = row.error };
		uint8_t verdict = (uint8_t)row.verdict;

		memcpy(key.driver, row.driver, strnlen(row.driver, sizeof(key.driver)));
		bpf_map_update_elem(fd, &key, &verdict, BPF_ANY);
	}
}

void dl_bpf_set_settings(struct dl_bpf *b, const struct dl_bpf_object *leaving)
{
	static const struct {
		enum dl_object_index object;
		const char *program;
		size_t offset; /* of the flag */
	} flags[] = {
		{ DL_OBJ_AMDGPU, "bo_moved", offsetof(struct dl_settings, amdgpu_moves) },
		{ DL_OBJ_AMDGPU_TDR, "job_timed_out",
		  offsetof(struct dl_settings, amdgpu_timeouts) },
		{ DL_OBJ_AMDGPU_TDR, "ring_reset_ends", offsetof(struct dl_settings, ring_helper) },
		{ DL_OBJ_XE, "xe_timed_out", offsetof(struct dl_settings, xe_timeouts) },
		{ DL_OBJ_FENCE, "fence_signaled", offsetof(struct dl_settings, fence_ends) },
	};
	int fd = dl_bpf_shared(b, DL_SHARED_SETTINGS);
	struct dl_settings s = { 0 };
	uint32_t zero = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct dl_bpf_object *o = &b->objects[flags[i].object];

		((uint8_t *)&s)[flags[i].offset] =
			o != leaving && dl_bpf_object_has_live(o, flags[i].program);
	}
	if (fd >= 0)
		bpf_map_update_elem(fd, &zero, &s, BPF_ANY);
}
