/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check2_set.h"

#include "lab/check2_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check2_" #name, what, DAVY_CLASS_##class, calm_s, davy_check2_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check2_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check2_##name, 0        \
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

	CALM(router_day, "four models of a router, each ended by SIGTERM", 24),
	CALM(kube_pod, "vLLM in a pod: probes, two rolling updates", 24),
	CALM(timer_restarts, "a timer restarts the server, which fills 95 %", 24),
	CALM(hibernates, "a workstation hibernates: all VRAM moves out and in", 24),
	CALM(pin_failures, "hundreds of failed pins a day, VRAM at 85 to 96 %", 24),
	CALM(nvidia_kills, "a developer kills CUDA programs: Xid 43, 45, 13", 24),
	CALM(riser_cable, "corrected link errors for days", 24),
	CALM(keep_alive, "Ollama unloads after 5 min; discovery is killed", 24),
	CALM(films, "video, a browser, pictures in a chat", 12),
	CALM(vector_store, "an index grows and is compacted beside an APU's model", 12),
	CALM(guests, "virtual machines take and return half the host", 12),
	CALM(refused_tools, "a monitor without the render group is refused", 12),
	CALM(vulkan_tests, "test programs want more memory than there is", 8),
	CALM(egpu, "an idle eGPU is undocked and docked", 12),
	CALM(hot_summer, "the firmware throttles, for hours", 12),
	CALM(cold_cache, "shaders are compiled for half a minute at first use", 12),
	CALM(rocm_reloads, "ROCm runners come and go, with their usual lines", 12),
	CALM(small_ubatch, "120,000 tokens by ubatches of 128 under 2 s", 12),
	CALM(swap_often, "a swap of models each minute", 8),
	CALM(arc_soak, "xe: two servers without a pause, jobs of 1 to 2 of 5 s", 8),
	CALM(vllm_sleeps, "vLLM sleeps and wakes: VRAM to the host and back", 12),
	CALM(picture_batches, "pictures: jobs of 20 of 60 s, peaks at 96 %", 8),
	CALM(active_evicted, "a game and a browser evict queues of ROCm at times", 12),
	CALM(userptr_churn, "user pointers are invalidated by NUMA balancing", 12),
	CALM(experts_on_cpu, "96 % of VRAM and much of the host, constant", 12),
	CALM(split_layers, "a model over two cards, one at 98 %", 12),
	CALM(half_on_cpu, "graphs of 3 to 8 s, jobs of some ms", 12),
};

const size_t davy_check2_scenario_count =
	sizeof(davy_check2_scenarios) / sizeof(davy_check2_scenarios[0]);
