/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/check5_set.h"

#include "lab/check5_parts.h"

#define FAIL(name, what, class, calm_s)                                                            \
	{                                                                                          \
		"check5_" #name, what, DAVY_CLASS_##class, calm_s, davy_check5_##name, 0           \
	}
#define CALM(name, what, hours)                                                                    \
	{                                                                                          \
		"check5_" #name, what, DAVY_CLASS_NONE, (hours)*3600, davy_check5_##name, 0        \
	}

const struct davy_scenario davy_check5_scenarios[] = {
	FAIL(peer_map, "each rocminfo prints failed mappings, then a program faults", PAGE_FAULT,
	     1800),
	FAIL(brim_70b, "a 70B fills VRAM, its first prompt is endless, SDMA faults", PAGE_FAULT,
	     1800),
	FAIL(after_ccs, "xe: darktable gets ccs reset, 63 s later a fault of SYCL", PAGE_FAULT,
	     1800),
	FAIL(dflash_again, "Xid 31, a restart, minutes later Xid 31 again", PAGE_FAULT, 1500),
	FAIL(opcode_navi31, "an illegal opcode of kwin, its ring's reset fails, MODE1", GPU_RESET,
	     1800),
	FAIL(p2p_restore, "a bandwidth test faults, queues cannot be restored", GPU_RESET, 1800),
	FAIL(hbm_rows, "a row is remapped, 20 min later Xid 48, 94 and 154", GPU_RESET, 1800),
	FAIL(game_fault, "a game's page fault, 10 s later its ring, a full reset", GPU_RESET, 2400),
	FAIL(rpc_45s, "nvidia-smi waits 45 s for the GSP twice, then Xid 175", HANG, 1800),
	FAIL(mmhub_task, "mmhub of a second card faults, 150 s later blocked tasks", HANG, 1800),
	FAIL(rlw_links, "Xid 145 and 45, a restarted engine never answers", HANG, 1800),
	FAIL(bench_depths, "llama-bench goes deeper until a job takes 2 s", RING_TIMEOUT, 1500),
	FAIL(kwin_10s, "a compositor's job does not end, each 10 s a timeout", RING_TIMEOUT, 1800),
	FAIL(lru_oops, "a NULL pointer in TTM, 26 s later soft lockups", HOST_CRASH, 1800),
	FAIL(kwin_twice, "two ring resets, 5 min later a hogged CPU, a freeze", HOST_CRASH, 1800),
	FAIL(tp4_allreduce, "an allreduce of four cards does not return", DEVICE_LOST, 1500),
	FAIL(silent_ccs, "xe: a job without a timeout, its kill wedges the GPU", DEVICE_LOST, 1800),
	FAIL(agent_178k, "a session of 178,000 tokens takes the host's last memory", OOM_GTT_HOST,
	     1500),
	FAIL(stuck_stopping, "runners stay in VRAM one after another", OOM_VRAM, 1800),
	FAIL(userptr_slow, "failed mappings, user pages invalid again and again", EVICTION_THRASH,
	     1500),
	FAIL(not_started, "xe: a job of the kernel does not start, a start ends", RUNNER_CRASH_INIT,
	     1800),
	FAIL(athub_then_none, "an uncorrectable error, a failed reset, no device is found",
	     DISCOVERY_MISS, 1800),
	FAIL(soft_clip, "a picture's job is soft recovered, its text is wrong", WRONG_OUTPUT, 1500),
	FAIL(not_prepared, "VRAM does not fit for a suspend, twice, then s2idle fails", OTHER,
	     2400),
};

const size_t davy_check5_scenario_count =
	sizeof(davy_check5_scenarios) / sizeof(davy_check5_scenarios[0]);
