/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check_set.h"

#include "lab/check_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check_" #name, what, DAVY_CLASS_##class, calm_s, davy_check_##name, 0             \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check_##name, 0          \
	}

const struct davy_scenario davy_check_scenarios[] = {
	FAIL(vega_depth, "a conversation grows past the ring's timeout", RING_TIMEOUT, 1500),
	FAIL(model_switch, "a larger model's first prompt times out", RING_TIMEOUT, 1200),
	FAIL(image_encoder, "a large image is one job that is too long", RING_TIMEOUT, 1800),
	FAIL(i915_fence, "i915: fences expire, then the GPU hangs", RING_TIMEOUT, 1200),
	FAIL(reset_again, "a ring reset that worked, and a fatal one later", RING_TIMEOUT, 1200),
	FAIL(xe_two_resets, "xe: ccs is reset, a minute later bcs", HANG, 1800),
	FAIL(fini_leak, "VRAM leaks with each client that ends", OOM_VRAM, 1800),
	FAIL(sawtooth, "PyTorch's peaks grow", OOM_VRAM, 1800),
	FAIL(second_process, "a second server does not fit", OOM_VRAM, 1200),
	FAIL(context_growth, "the KV cache grows with the context", OOM_VRAM, 1800),
	FAIL(xe_rebind, "xe: rebinds are retried until the VM is killed", OOM_VRAM, 1200),
	FAIL(gtt_creep, "memory creeps into GTT, half the speed is left", EVICTION_THRASH, 1800),
	FAIL(prompt_cache, "an APU's prompt cache takes all memory", OOM_GTT_HOST, 1200),
	FAIL(restore_loop, "SVM ranges are restored for ever", EVICTION_THRASH, 1800),
	FAIL(queue_thrash, "TTM evicts KFD's queues faster and faster", EVICTION_THRASH, 1800),
	FAIL(hog_doubles, "the restore worker's hogs double, then a fault", PAGE_FAULT, 1200),
	FAIL(fault_then_mes, "a fault, a minute later MES is dead", GPU_RESET, 1800),
	FAIL(silent_mes, "MES is dead for minutes, without a word", HANG, 1200),
	FAIL(killed_entity, "a killed entity, two minutes later hung tasks", HOST_CRASH, 1200),
	FAIL(ras_pages, "pages are retired until an error is fatal", GPU_RESET, 1200),
	FAIL(double_bit, "Xid 48; no precursor", GPU_RESET, 1800),
	FAIL(xid13_then_31, "Xid 13, a minute later 31 on all GPUs", PAGE_FAULT, 1800),
	FAIL(gsp_silent, "GSP does not answer", HANG, 3600),
	FAIL(iommu_garbage, "IOMMU faults, the answer is garbage", WRONG_OUTPUT, 1200),
	FAIL(lost_by_throw, "DeviceLost is thrown; no precursor", DEVICE_LOST, 1800),
	FAIL(exit_codes, "a runner exits with 1 or 2 at each start", RUNNER_CRASH_INIT, 1200),
	FAIL(node_refused, "discovery may not open the GPU", DISCOVERY_MISS, 1200),
	FAIL(uncaught, "an exception of the engine; no precursor", OTHER, 1800),

	CALM(office_day, "a desktop, a browser with WebGL, some chats", 24),
	CALM(game_evening, "games push an idle model out and leave", 12),
	CALM(compile_day, "builds fill the host's memory", 12),
	CALM(laptop_sleeps, "suspend and resume, a dozen times", 24),
	CALM(watching_tools, "nvtop, amdgpu_top, rocm-smi each minute", 12),
	CALM(idle_reset, "an administrator resets an idle GPU", 12),
	CALM(driver_update, "the driver is unloaded and loaded", 12),
	CALM(harmless_lines, "the kernel log's harmless lines", 24),
	CALM(killed_by_user, "a developer kills and starts servers", 12),
	CALM(page_cache, "a backup reads everything", 12),
	CALM(brim_loads, "loads at 2 to 4 GB/s that end at 93 % to 97 %", 12),
	CALM(two_models, "two models take turns", 12),
	CALM(brim_bench, "benchmarks at 97 % of VRAM", 12),
	CALM(long_jobs, "each job takes 5 to 8 of 10 s", 12),
	CALM(deep_below, "100,000 tokens deep, jobs below half the timeout", 12),
	CALM(home_voices, "three small engines share a GPU", 24),
	CALM(indexing, "embeddings without a pause", 12),
	CALM(vllm_full, "vLLM keeps 92 % of VRAM", 24),
	CALM(carve_out, "an APU's carve-out is always full", 24),
	CALM(i915_shrinks, "i915 shrinks and evicts addresses", 12),
	CALM(arc_day, "xe: some faults and rebinds, loads", 12),
	CALM(lossy, "sensors lose events", 12),
	CALM(late_agent, "the agent starts late on a full GPU", 12),
	CALM(torch_retries, "PyTorch frees its cache after -ENOMEM", 12),
	CALM(comfy_day, "ComfyUI pages its layers", 12),
	CALM(even_peaks, "peaks at 96 %, all of them alike", 12),
	CALM(xnack_retries, "retry faults are served", 12),
	CALM(steady_spill, "a model in GTT by a fifth, slow and constant", 12),
};

const size_t davy_check_scenario_count =
	sizeof(davy_check_scenarios) / sizeof(davy_check_scenarios[0]);
