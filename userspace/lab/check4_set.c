/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check4_set.h"

#include "lab/check4_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check4_" #name, what, DAVY_CLASS_##class, calm_s, davy_check4_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check4_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check4_##name, 0        \
	}

const struct davy_scenario davy_check4_scenarios[] = {
	FAIL(page_alloc, "no pages with a full page cache, 27 s later vLLM faults", PAGE_FAULT,
	     1800),
	FAIL(second_model, "SVM mappings exceed the limit, a minute later a fault", PAGE_FAULT,
	     1800),
	FAIL(hogs_to_1027, "a restore worker hogs a CPU 4 to 1027 times, then faults", PAGE_FAULT,
	     1500),
	FAIL(map_xid31, "NVIDIA: host memory cannot be mapped, 0.2 s later Xid 31", PAGE_FAULT,
	     1800),
	FAIL(runlist_fault, "an oversubscribed runlist, 0.4 s later a fault", PAGE_FAULT, 1500),
	FAIL(cosmic_baco, "a compositor's job of 2 s, its ring's reset fails, BACO", GPU_RESET,
	     1800),
	FAIL(game_mes, "a game's job of 10 s, its ring's reset fails, MES is silent", GPU_RESET,
	     2400),
	FAIL(aer_79, "a corrected error of the link, 104 s later Xid 79", GPU_RESET, 1800),
	FAIL(plugin_scan, "two rings time out after a login, then MODE1", GPU_RESET, 1800),
	FAIL(gsp_game, "the GSP misses its heartbeat in a game, then Xid 8", HANG, 2400),
	FAIL(xid45_task, "Xid 45, 192 s later a task is blocked in the driver", HANG, 1800),
	FAIL(bcs_fault, "xe: a fault of bcs, 22 min later ccs is reset, SYCL waits", HANG, 1800),
	FAIL(sycl_51743, "i915: fences expire deep in a prompt, no token follows", HANG, 1500),
	FAIL(halo_half, "jobs grow to 2 s at half of a context of 262,144", RING_TIMEOUT, 1500),
	FAIL(renoir_flux, "a larger picture: one submission takes more than 2 s", RING_TIMEOUT,
	     1500),
	FAIL(svd_gnome, "a video by ROCm, a job of the shell waits for 10 s", RING_TIMEOUT, 1800),
	FAIL(quiesce_panic, "KFD cannot be quiesced, later the kernel panics", HOST_CRASH, 1800),
	FAIL(xorg_full, "an X server fills VRAM and GTT, submissions fail, it freezes", HOST_CRASH,
	     1500),
	FAIL(tlb_fences, "a killed entity, 245 s later blocked kworkers", HOST_CRASH, 1800),
	FAIL(slot_reset, "a frozen PCI channel, the slot's reset fails after 1.6 s", DEVICE_LOST,
	     1800),
	FAIL(decode_595, "xe: the 596th token's job does not end, device lost", DEVICE_LOST, 1500),
	FAIL(mmproj, "a projector balloons GTT to the host's end in seconds", OOM_GTT_HOST, 1500),
	FAIL(overreport, "ROCm reports too much memory, a load ends the host's", OOM_GTT_HOST,
	     1800),
	FAIL(prompt_pool, "ROCm's pool grows with each ubatch of a long prompt", OOM_VRAM, 1500),
	FAIL(two_b70, "SYCL fills the first of two cards until it fails", OOM_VRAM, 1500),
	FAIL(mtp_gtt, "0.5 GB is left after a load, 14.6 GB leave VRAM", EVICTION_THRASH, 1500),
	FAIL(sdma_queues, "an oversubscribed runlist, 0.55 s later no queue", RUNNER_CRASH_INIT,
	     1500),
	FAIL(discovery_30s, "a fault in discovery, after 30 s the CPU is used", DISCOVERY_MISS,
	     1800),
	FAIL(full_gibberish, "VRAM is 98 % full after a load, all output is wrong", WRONG_OUTPUT,
	     1500),
	FAIL(baco_exit, "the SMU is busy when the card wakes, 9 s later PSP fails", OTHER, 2400),

	CALM(writer_desk, "a desktop and a browser on 8 GiB to 95 %, a small model", 24),
	CALM(two_shifts, "three models in turns on 24 GiB", 24),
	CALM(game_weekend, "games push a server out for an hour, it comes back", 24),
	CALM(kernel_builds, "compilers fill an APU's host to 90 % and stall it", 24),
	CALM(training_day, "a training at 95 %, its state written each 20 min", 24),
	CALM(guest_vms, "a second card goes to guests and comes back", 24),
	CALM(train_laptop, "i915: a laptop that sleeps and shrinks buffers", 24),
	CALM(night_rag, "xe: chats by day, long documents at night", 24),
	CALM(video_frames, "videos at 97 % of 16 GiB", 6),
	CALM(sdxl_queue, "pictures with many checkpoints, 30 to 95 %", 5),
	CALM(bench_brim, "llama-bench at 98 %, model after model", 5),
	CALM(xnack_train, "XNACK: thousands of served faults a second on 48 GiB", 5),
	CALM(xe_tools, "xe: a server, speech and pictures, VMAs bound again", 6),
	CALM(tile_upscale, "jobs of 0.8 to 1.1 s under a timeout of 2 s", 5),
	CALM(deep_chats, "100,000 tokens, jobs of 4.6 s under 10 s", 5),
	CALM(agent_runs, "llama-cli again and again at 92 % of 8 GiB", 5),
	CALM(whisper_stream, "speech is written down without a pause", 5),
	CALM(mixed_cards, "a card at 98 % for hours, another one draws", 5),
	CALM(late_join, "the agent starts days after a server", 5),
	CALM(lossy_games, "a third of the events is lost in games", 6),
	CALM(driver_reload, "amdgpu is unloaded and loaded each 40 min", 5),
	CALM(ctrl_c, "NVIDIA: vLLM is stopped often, Xid 45 follows", 5),
	CALM(oversub_line, "an oversubscribed runlist each 7 min, all ends well", 5),
	CALM(guest_fallbacks, "late interrupts of a card in a guest", 6),
	CALM(dock_pme, "a dock's spurious PME lines, corrected errors", 6),
	CALM(few_hogs, "five lines about a restore worker in hours", 6),
	CALM(net_alloc_warns, "a NIC's driver gets no pages at times", 5),
	CALM(map_warns, "NVIDIA: host memory is not pinned at each load", 5),
	CALM(host_swaps, "a host that swaps, a card that does not care", 5),
	CALM(quiet_fans, "NVIDIA: clocks at the limit of power and heat", 5),
};

const size_t davy_check4_scenario_count =
	sizeof(davy_check4_scenarios) / sizeof(davy_check4_scenarios[0]);
