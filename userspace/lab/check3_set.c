/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check3_set.h"

#include "lab/check3_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check3_" #name, what, DAVY_CLASS_##class, calm_s, davy_check3_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check3_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check3_##name, 0        \
	}

const struct davy_scenario davy_check3_scenarios[] = {
	FAIL(vmm_chat, "a new build faults at its first long chat; no precursor", PAGE_FAULT, 1500),
	FAIL(npu_first, "host memory 93 % used, the NPU fails, then the firmware faults",
	     PAGE_FAULT, 1800),
	FAIL(hog_and_fault, "one line about KFD's restore worker, 40 s later faults", PAGE_FAULT,
	     1500),
	FAIL(mmhub_retry, "MI300X: a fault with retry, 10 us later one without", PAGE_FAULT, 1800),
	FAIL(cancelled, "i915 cancels batches, embeddings collapse; no precursor", WRONG_OUTPUT,
	     1500),
	FAIL(first_matmul, "rocBLAS has no kernel for the card; no precursor", RUNNER_CRASH_INIT,
	     1200),
	FAIL(daemon_reload, "a container loses its device nodes", DISCOVERY_MISS, 1800),
	FAIL(ub_4096, "a lost fence interrupt, 4 min later a ring timeout", RING_TIMEOUT, 1800),
	FAIL(uhd_preempt, "i915: expired fences for a minute, then rcs0 is reset", RING_TIMEOUT,
	     1500),
	FAIL(weak_card, "-ub 512 is too long for the weaker of two cards", RING_TIMEOUT, 1200),
	FAIL(xe_250k, "xe: attention over 250,000 tokens exceeds 10 s", RING_TIMEOUT, 1500),
	FAIL(decode_lost, "a decode hangs, the ring is reset, all later ones fail", DEVICE_LOST,
	     1800),
	FAIL(partial_offload, "a model larger than VRAM loses the device after its load",
	     DEVICE_LOST, 1200),
	FAIL(smu_busy, "the SMU is busy for 10 s on an idle desktop", GPU_RESET, 1800),
	FAIL(long_prompt, "MES does not answer twice in a long prompt", GPU_RESET, 1500),
	FAIL(xid62_idle, "Xid 62 while the model rests; no precursor", GPU_RESET, 2400),
	FAIL(second_loss, "a recovery fails, 29 s later the card is lost", GPU_RESET, 1500),
	FAIL(chrome_fault, "a browser faults, 12 s later the whole GPU is reset", GPU_RESET, 1800),
	FAIL(mmap_upload, "SVM mappings fail in the load of a model, which never ends", HANG, 1200),
	FAIL(engine_wedge, "CUDA: a server stops in an answer; no precursor", HANG, 2400),
	FAIL(watchdog_kill, "Xid 8 after minutes of hard traffic; no precursor", HANG, 1800),
	FAIL(guc_tlb, "xe: the GuC does not flush TLBs any more", HANG, 2400),
	FAIL(vllm_escalates, "hogged workers double from 4 to 131, the host hangs", HOST_CRASH,
	     1800),
	FAIL(shards_stall, "100 % busy after the load, minutes later resets and a lockup",
	     HOST_CRASH, 1200),
	FAIL(alloc_crash, "discovery crashes, the next load stops the host", HOST_CRASH, 1500),
	FAIL(radeon_890m, "-ENOMEM with 9 GiB free after the load; no precursor", OOM_GTT_HOST,
	     1200),
	FAIL(scout_on_cuda, "layers on the CPU fill the host, the runner is killed", OOM_GTT_HOST,
	     1500),
	FAIL(image_growth, "each picture keeps some VRAM", OOM_VRAM, 1800),
	FAIL(cancel_leak, "VRAM of stopped answers stays taken, the next load fails", OOM_VRAM,
	     1800),
	FAIL(long_context, "buffers spill into GTT, three times slower", EVICTION_THRASH, 1800),
	FAIL(swapped_idle, "pages of an idle server are swapped, KFD loops", EVICTION_THRASH, 1800),
	FAIL(never_wakes, "the SMU does not resume after a night; no precursor", OTHER, 2400),

	CALM(homelab, "two models of Ollama with a keep-alive, a nightly backup", 24),
	CALM(plasma_desk, "a desktop, a browser and a model on 12 GiB, to 94 %", 24),
	CALM(comfy_weights, "ComfyUI fills 97 % for each picture", 24),
	CALM(steam_nights, "games push a model out, which comes back", 24),
	CALM(strix_router, "30 to 65 GiB in turns on an APU", 24),
	CALM(arc_vllm, "xe: vLLM at 92 %, faults that are served", 24),
	CALM(build_farm, "compilers fill an APU's host to 92 %", 24),
	CALM(power_capped, "NVIDIA: lower clocks all day, corrected link errors", 24),
	CALM(sleepy_laptop, "ten suspends a day with a loaded model", 24),
	CALM(quick_sync, "i915: transcodes, a page cache, shrinks", 24),
	CALM(runtime_pm, "a headless card sleeps and wakes all day", 24),
	CALM(row_remap, "NVIDIA: one Xid 63, work goes on", 24),
	CALM(nightly_pulls, "a container is replaced every few hours", 24),
	CALM(opencl_evictions, "queues evicted each 3.3 s for user memory", 12),
	CALM(hog_lines, "a display worker hogs a CPU at times", 12),
	CALM(npu_errors, "the NPU's driver complains all day", 12),
	CALM(fence_lag, "i915: a game's fences expire for an hour", 12),
	CALM(nv_check_lines, "NVIDIA: failed allocations that are tried again", 12),
	CALM(slurm_limit, "jobs at 96 % are killed at their limit", 12),
	CALM(memcg_kills, "tests are killed within their cgroup", 12),
	CALM(lossy_swaps, "a fifth of the events is lost, a model is evicted at times", 12),
	CALM(bench_loops, "benchmarks at 97 %, one after another", 8),
	CALM(small_steps, "128,000 tokens by ubatches of 64 under 2 s", 12),
	CALM(torch_grid, "PyTorch peaks at 97 % each 8 s", 12),
	CALM(xnack_apu, "XNACK: thousands of served faults a second", 12),
	CALM(found_full, "a server found at 96 %", 12),
	CALM(voice_chain, "speech, chat and voice on one APU", 12),
	CALM(blender_hip, "Cycles fills 60 to 94 % per scene", 8),
	CALM(draft_model, "a model and its draft at 96 %, never idle", 8),
	CALM(short_evictions, "a preview evicts some GiB for half a minute", 12),
	CALM(embeddings, "xe: a mail archive in short jobs", 12),
	CALM(hybrid_laptop, "a Radeon draws, an NVIDIA card computes, both sleep", 12),
};

const size_t davy_check3_scenario_count =
	sizeof(davy_check3_scenarios) / sizeof(davy_check3_scenarios[0]);
