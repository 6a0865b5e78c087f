/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check6_set.h"

#include "lab/check6_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check6_" #name, what, DAVY_CLASS_##class, calm_s, davy_check6_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check6_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check6_##name, 0        \
	}

const struct davy_scenario davy_check6_scenarios[] = {
	FAIL(userptr_81s, "KFD cannot be resumed, 81 s later SDMA faults", PAGE_FAULT, 1800),
	FAIL(tb_cmplto, "an eGPU's link is not recovered, the next access is Xid 31", PAGE_FAULT,
	     1800),
	FAIL(svm_nomem, "faults of XNACK cannot be served without host memory", PAGE_FAULT, 1500),
	FAIL(flex_ct, "i915: the GuC is silent for 10 s, the reset fails", GPU_RESET, 1800),
	FAIL(poison_later, "an error of HBM is found, a program reads it later", GPU_RESET, 1800),
	FAIL(sxid_trunk, "SXid 12028, seconds later Xid 45 on all GPUs", GPU_RESET, 1800),
	FAIL(nvl_15min, "a step of three ranks does not end, 15 min later Xid 94", HANG, 1800),
	FAIL(evict_cascade, "a fourth program: queues are evicted for half an hour", HANG, 1500),
	FAIL(ub_raised, "a server with a larger ubatch, jobs grow to 2 s", RING_TIMEOUT, 1500),
	FAIL(mtp2_160k, "xe: unsteady jobs of ccs grow to 5 s at 160,000 tokens", RING_TIMEOUT,
	     1500),
	FAIL(ih_fifo, "a million interrupts a second, half a minute later an oops", HOST_CRASH,
	     1800),
	FAIL(second_suspend, "a stack after a wakeup, the next suspend is the last", HOST_CRASH,
	     1800),
	FAIL(tb3_baddllp, "an eGPU's link is flooded with corrected errors, then gone", DEVICE_LOST,
	     1800),
	FAIL(leak_per_token, "each token keeps 0.16 MB of an APU's 16 GiB", OOM_GTT_HOST, 1500),
	FAIL(pin_flip_hog, "VRAM fills, pins fail, then submissions", OOM_VRAM, 1500),
	FAIL(gtt_after_s3, "after a suspend a model stays in GTT", EVICTION_THRASH, 1500),
	FAIL(vram_not_back, "VRAM of an ended runner stays taken, the next one aborts",
	     RUNNER_CRASH_INIT, 1800),
	FAIL(reset_bug, "a card from a guest: the SMU is busy, its init fails", DISCOVERY_MISS,
	     1800),
	FAIL(iommu_821417, "hundreds of thousands of IOMMU faults, an answer is cut off",
	     WRONG_OUTPUT, 1500),
	FAIL(egpu_ejected, "an eGPU is ejected under a loaded model", OTHER, 1800),

	CALM(family_pc, "homework, a browser, a game, films on 16 GiB", 24),
	CALM(newsroom, "speech, chat and translation on one APU", 24),
	CALM(ci_smoke, "builds and short answers on two vendors' cards", 24),
	CALM(students, "notebooks up to 92 % of two cards, ended when they rest", 24),
	CALM(render_farm, "a scene each 7 min at 97 %, jobs of 3 to 6 of 10 s", 24),
	CALM(one_laptop, "a laptop with two GPUs that sleeps often", 24),
	CALM(sglang_97, "starts at 4 GB/s that end at 97 %", 6),
	CALM(fit_probe, "ComfyUI asks for too much VRAM before each picture", 6),
	CALM(upscale_45s, "jobs of 41 to 46 s of 60 s", 6),
	CALM(xnack_bursts, "XNACK: two programs, thousands of served faults", 5),
	CALM(rag_turns, "embeddings and a 70B in turns on 64 GiB", 6),
	CALM(vk_vs_rocm, "benchmarks by two backends at 95 %", 6),
	CALM(bar_spill, "buffers for the CPU go to GTT, the model stays", 6),
	CALM(s3_with_model, "a workstation sleeps with 80 % of its VRAM in use", 6),
	CALM(xe_d3cold, "xe: a card sleeps whenever its small model rests", 6),
	CALM(lossy_turns, "three models in turns, a third of the events is lost", 6),
	CALM(dkms_evening, "amdgpu is loaded again each half hour", 6),
	CALM(spark_settings, "GB10: vLLM is started again and again", 5),
	CALM(ecc_rack, "NVIDIA: Xid 63 and 92, a link that corrects errors", 6),
	CALM(attic_july, "clocks are lowered for heat, for hours", 6),
};

const size_t davy_check6_scenario_count =
	sizeof(davy_check6_scenarios) / sizeof(davy_check6_scenarios[0]);
