/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the sixth held-out set are built of, besides check5_parts.h. */
#ifndef DAVY_CHECK6_PARTS_H
#define DAVY_CHECK6_PARTS_H

#include "lab/check5_parts.h"

/* Some time from now, in ms. */
uint64_t davy_check6_in(struct davy_sim *s, uint64_t least_ms, uint64_t most_ms);

/* A compositor and its frames. */
struct davy_sim_process *davy_check6_desktop(struct davy_sim *s, struct davy_sim_device *d,
					     const char *comm, uint64_t mib);

/* PyTorch by ROCm: its memory is another one each period, "least" to "most" permille. */
struct davy_sim_process *davy_check6_torch(struct davy_sim *s, struct davy_sim_device *d,
					   const char *comm, uint32_t least, uint32_t most,
					   uint64_t period_ns);

/* An engine of vLLM; "backend" CUDA, ROCm or SYCL. */
struct davy_check_engine davy_check6_vllm(uint32_t backend, const char *model, uint64_t model_bytes,
					  uint32_t context);

/* A device appears or disappears. */
void davy_check6_device(struct davy_sim *s, struct davy_sim_device *d,
			enum davy_device_change change);

/* A card of Intel by i915, Flex 140. */
struct davy_sim_device *davy_check6_flex(struct davy_sim *s);

/* A process without a GPU. */
struct davy_sim_process *davy_check6_service(struct davy_sim *s, const char *comm);

/* Suspend: all VRAM of a device leaves it, by the work of process "by". */
void davy_check6_out(struct davy_sim *s, const struct davy_sim_process *by,
		     const struct davy_sim_device *d);
/* This share of what was evicted from it returns. */
void davy_check6_back(struct davy_sim *s, const struct davy_sim_device *d, uint32_t permille);
/* The host sleeps and wakes for ever; all of the VRAM returns. */
void davy_check6_sleeps(struct davy_sim *s, struct davy_sim_device *d, uint64_t awake_ns,
			uint64_t asleep_ns);
/* A card sleeps when its engine rests; its VRAM leaves it, and returns. The host is awake. */
void davy_check6_rests(struct davy_sim *s, struct davy_sim_process *p, uint64_t awake_ns,
		       uint64_t asleep_ns);

/* Lowered clocks are sampled each period, for ever; and KFD's event of that. */
void davy_check6_clocks(struct davy_sim *s, struct davy_sim_device *d,
			enum davy_clock_reason reason, uint64_t period_ns);
void davy_check6_heat(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns);

/* Each period it asks for more than there is, then for half of that, until it gets some. */
void davy_check6_probes(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns);

/* i915 shrinks buffers each period, for ever. */
void davy_check6_shrinks(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns);

/* Some buffers of it are put into GTT although VRAM was preferred, each period, for ever. */
void davy_check6_spills(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes,
			uint64_t period_ns);

/* This share of the kernel programs' events is lost, as is reported each period. */
void davy_check6_lossy(struct davy_sim *s, uint32_t permille, uint64_t period_ns);

#define DAVY_CHECK6(name) void davy_check6_##name(struct davy_sim *s, uint64_t arg)

/* check6_fault.c */
DAVY_CHECK6(userptr_81s);
DAVY_CHECK6(tb_cmplto);
DAVY_CHECK6(svm_nomem);
DAVY_CHECK6(iommu_821417);
DAVY_CHECK6(ih_fifo);
/* check6_reset.c */
DAVY_CHECK6(flex_ct);
DAVY_CHECK6(poison_later);
DAVY_CHECK6(sxid_trunk);
DAVY_CHECK6(tb3_baddllp);
DAVY_CHECK6(egpu_ejected);
/* check6_hang.c */
DAVY_CHECK6(nvl_15min);
DAVY_CHECK6(evict_cascade);
DAVY_CHECK6(ub_raised);
DAVY_CHECK6(mtp2_160k);
DAVY_CHECK6(gtt_after_s3);
/* check6_memory.c */
DAVY_CHECK6(leak_per_token);
DAVY_CHECK6(pin_flip_hog);
DAVY_CHECK6(vram_not_back);
DAVY_CHECK6(reset_bug);
DAVY_CHECK6(second_suspend);
/* check6_days.c */
DAVY_CHECK6(family_pc);
DAVY_CHECK6(newsroom);
DAVY_CHECK6(ci_smoke);
DAVY_CHECK6(students);
DAVY_CHECK6(render_farm);
DAVY_CHECK6(one_laptop);
/* check6_work.c */
DAVY_CHECK6(sglang_97);
DAVY_CHECK6(fit_probe);
DAVY_CHECK6(upscale_45s);
DAVY_CHECK6(xnack_bursts);
DAVY_CHECK6(rag_turns);
DAVY_CHECK6(vk_vs_rocm);
DAVY_CHECK6(bar_spill);
/* check6_noise.c */
DAVY_CHECK6(s3_with_model);
DAVY_CHECK6(xe_d3cold);
DAVY_CHECK6(lossy_turns);
DAVY_CHECK6(dkms_evening);
DAVY_CHECK6(spark_settings);
DAVY_CHECK6(ecc_rack);
DAVY_CHECK6(attic_july);

#undef DAVY_CHECK6

#endif
