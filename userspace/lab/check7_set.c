/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check7_set.h"

#include "lab/check7_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check7_" #name, what, DAVY_CLASS_##class, calm_s, davy_check7_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check7_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check7_##name, 0        \
	}

const struct davy_scenario davy_check7_scenarios[] = {
	FAIL(vital_107s, "a server ends, its queues' buffers are freed, the next one faults",
	     PAGE_FAULT, 1800),
	FAIL(fences_retry, "a display waits for fences, 5 s later retry faults nobody serves",
	     PAGE_FAULT, 1500),
	FAIL(vmid0_700ms, "faults of vmid 0 each 0.7 s, then one of a runner", PAGE_FAULT, 1800),
	FAIL(blender_kiq, "fences for a frame of Blender time out, 5 s later a reset", GPU_RESET,
	     1800),
	FAIL(vmc_sdma0, "TLB flushes time out, work is slow, sdma0 hangs, MODE1", GPU_RESET, 1800),
	FAIL(clinfo_9s, "clinfo starts, queues are not preempted in 9 s, MODE2", GPU_RESET, 1500),
	FAIL(guc_436s, "i915: one TLB timeout, 436 s later more, the screen freezes", HANG, 1800),
	FAIL(b70_both, "xe: ccs of one card is reset, then bcs of the other one", HANG, 1800),
	FAIL(warp_then_109, "Xid 13, 5 s later Xid 109", RING_TIMEOUT, 1800),
	FAIL(dsv4_turns, "a larger model, jobs grow to 2 s in three turns", RING_TIMEOUT, 1500),
	FAIL(forcewake_41s, "i915: forcewake times out for 41 s, then an RCU stall", HOST_CRASH,
	     1800),
	FAIL(spark_prefill, "GB10: a prompt makes no progress, 5 s later the host freezes",
	     HOST_CRASH, 1800),
	FAIL(d3hot_w7800, "a card does not leave D3hot, its TLB flushes time out", DEVICE_LOST,
	     1800),
	FAIL(dkms_leak, "a driver keeps 22 MB of the host's memory each second", OOM_GTT_HOST,
	     1500),
	FAIL(embed_segments, "an embedding server's VRAM climbs for hours", OOM_VRAM, 1500),
	FAIL(never_unloads, "VRAM of unloaded models stays taken, all moves in and out",
	     EVICTION_THRASH, 1500),
	FAIL(cuinit_3, "Xid 31, 124 s later Xid 154 of three cards, the next start fails",
	     RUNNER_CRASH_INIT, 1800),
	FAIL(xid62_watchdog, "Xid 62 at rest, the next discovery does not end", DISCOVERY_MISS,
	     1800),
	FAIL(vmid0_gibberish, "faults of vmid 0 in deep contexts, answers are gibberish",
	     WRONG_OUTPUT, 1500),
	FAIL(cuda_after_s3, "Xid 13 after a suspend, the next request fails", OTHER, 2400),

	CALM(photo_agency, "exports, captions of pictures and a browser on 16 GiB", 24),
	CALM(handheld, "a console with a small model that sleeps often", 24),
	CALM(lab_queue, "notebooks on a card, batch jobs at 94 % on another", 24),
	CALM(arc_router, "xe: four models in turns beside a desktop", 24),
	CALM(clinic_igpu, "i915: a browser, a small model, an archive is read", 24),
	CALM(dubbing_house, "NVIDIA: translation all day, voices in rounds", 24),
	CALM(brim_turns, "three models in turns at 3 GB/s to 97 %", 6),
	CALM(pytest_rocm, "tests ask for too much memory on purpose", 6),
	CALM(hunyuan_fill, "22 to 97 % at 6 GB/s each two minutes", 6),
	CALM(splat_saws, "a training grows to 80 % for half an hour, again and again", 6),
	CALM(sweeps_7s, "jobs of 5.3 to 7.3 of 10 s at 96 %", 6),
	CALM(mi210_xnack, "XNACK: thousands of served faults a second at 85 %", 6),
	CALM(arc_tests, "xe: a driver's tests come and go beside two servers", 6),
	CALM(lossy_arcade, "games push a model out, two fifths of the events are lost", 6),
	CALM(tb_desk, "a dock's corrected errors and PME lines", 6),
	CALM(health_restarts, "a server is restarted each six minutes, 95 %", 6),
	CALM(quota_workers, "workers are killed in their cgroups beside an APU's model", 6),
	CALM(next_kernel, "a developer's kernel with many lines", 6),
	CALM(s2idle_shifts, "a workstation sleeps between shifts with 88 % in use", 6),
	CALM(nv_profilers, "NVIDIA: programs are profiled and killed, Xid 43 and 45", 6),
};

const size_t davy_check7_scenario_count =
	sizeof(davy_check7_scenarios) / sizeof(davy_check7_scenarios[0]);
