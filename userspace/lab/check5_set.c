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

	CALM(studio_desk, "photographs are developed at 96 % of 12 GiB, a small model", 24),
	CALM(rag_office, "chat, embeddings and a reranker of an office, with pauses", 24),
	CALM(halo_agents, "agents on 128 GiB: deep contexts, a prompt cache that grows", 24),
	CALM(swap_for_games, "a model is unloaded before each game, and loaded after", 24),
	CALM(ci_containers, "tests in containers come and go, a third is killed", 24),
	CALM(night_backup, "a backup takes an APU's host memory and stalls it", 24),
	CALM(sleeping_card, "a card sleeps when its server rests, VRAM moves", 24),
	CALM(spec_draft, "a draft model and a target at 93 %, unsteady jobs", 5),
	CALM(vision_queue, "pictures: jobs of 1.2 to 1.7 s under 10 s", 5),
	CALM(embed_flood, "embeddings in ubatches of 8192 without a pause", 5),
	CALM(slow_200k, "contexts of 200,000 tokens, jobs of 11 s under 60 s", 5),
	CALM(comfy_brim, "ComfyUI: 25 to 97 % each half minute, blocks are refused", 5),
	CALM(lora_night, "two cards train at 96 %, states on the host", 5),
	CALM(xnack_apu_sweeps, "XNACK on an APU: thousands of served faults", 5),
	CALM(arc_pair, "xe: two cards at 94 %, memory is bound again", 5),
	CALM(imatrix_run, "llama-imatrix at 98 % for hours", 5),
	CALM(stop_button, "answers are stopped, llama-cli ends by Ctrl-C", 5),
	CALM(probe_hammer, "four probes a second, rocm-smi each 6 s", 5),
	CALM(bystander_oom, "OOM kills of a JVM and a browser beside 95 %", 5),
	CALM(lossy_batch, "batch jobs in turns, a quarter of the events is lost", 5),
	CALM(update_evening, "xe is loaded again each 45 min, containers restart", 5),
	CALM(nv_restarts, "NVIDIA: servers restart on two cards at their limit", 5),
	CALM(igpu_tabs, "i915: a browser fills the host, buffers shrink", 5),
	CALM(three_users, "three users' models come and go on 24 GiB", 5),
};

const size_t davy_check5_scenario_count =
	sizeof(davy_check5_scenarios) / sizeof(davy_check5_scenarios[0]);
