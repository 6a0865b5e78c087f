/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check2_set.h"

#include "lab/check2_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check2_" #name, what, DAVY_CLASS_##class, calm_s, davy_check2_##name, 0           \
	}
const struct davy_scenario davy_check2_scenarios[] = {
	FAIL(rag_prompt, "120,000 tokens at once, 2 s for a job; a zombie stays", RING_TIMEOUT,
	     1500),
	FAIL(xe_shader, "xe: a prompt of 1,900 tokens hangs a shader", RING_TIMEOUT, 1500),
	FAIL(i915_ecode, "i915: a model hangs without an expired fence", RING_TIMEOUT, 1200),
	FAIL(sdma_first, "sdma0 hangs in a job of the kernel", RING_TIMEOUT, 1800),
	FAIL(editor_victim, "an editor's job hangs beside a model by ROCm", GPU_RESET, 1800),
	FAIL(mes_first_use, "MES is silent at a model's first use; no precursor", GPU_RESET, 1500),
	FAIL(swap_wedge, "a swap each 45 s beside a Vulkan client wedges MES", GPU_RESET, 1500),
	FAIL(off_the_bus, "Xid 79 four minutes into a soak", GPU_RESET, 1800),
	FAIL(dead_card, "a flood of faults, hours later no queue can be made", HANG, 1800),
	FAIL(sycl_prefill, "i915, SYCL: a long prompt stops at its usual position", HANG, 1800),
	FAIL(arc_wedge, "xe: some engine resets in hours, the last one is for ever", HANG, 1800),
	FAIL(wq_hogged, "KFD's release work hogs a CPU, 17 s later a fault", PAGE_FAULT, 1800),
	FAIL(nvidia_iommu, "AMD-Vi faults of one of three NVIDIA cards", PAGE_FAULT, 1800),
	FAIL(vllm_exit_zero, "Xid 31, vLLM ends with status 0; no precursor", PAGE_FAULT, 2400),
	FAIL(unevictable, "no queue can be evicted, then a panic", HOST_CRASH, 1500),
	FAIL(spurious_pme, "spurious PME interrupts, minutes later the host hangs", HOST_CRASH,
	     1800),
	FAIL(compositor, "the compositor's submission gets -ENOMEM", OOM_VRAM, 2400),
	FAIL(first_message, "loaded with 300 MiB left, the first message needs more", OOM_VRAM,
	     1200),
	FAIL(idle_suspend, "runtime PM moves 28 GiB of VRAM into 32 GiB", OOM_GTT_HOST, 1200),
	FAIL(podman_victims, "a model on an iGPU takes the host's memory", OOM_GTT_HOST, 1500),
	FAIL(evicted_for_good, "pushed out of VRAM by another program, slow for ever",
	     EVICTION_THRASH, 1800),
	FAIL(lowvram, "ComfyUI pages layers, seven times slower", EVICTION_THRASH, 1800),
	FAIL(discovery_faults, "the child of the discovery faults and aborts", RUNNER_CRASH_INIT,
	     1200),
	FAIL(nvidia_mismatch, "library and module differ after an update", DISCOVERY_MISS, 1800),
	FAIL(garbage, "GGGGGG after a model swap; no precursor", WRONG_OUTPUT, 1500),
	FAIL(vulkan_on_nvidia, "DeviceLost in a long context; no precursor", DEVICE_LOST, 1800),
	FAIL(heat, "a fan stops, the kernel powers the host off", OTHER, 1800),
};

const size_t davy_check2_scenario_count =
	sizeof(davy_check2_scenarios) / sizeof(davy_check2_scenarios[0]);
