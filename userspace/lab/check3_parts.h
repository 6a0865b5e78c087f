/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the third held-out set are built of, besides check2_parts.h. */
#ifndef DAVY_CHECK3_PARTS_H
#define DAVY_CHECK3_PARTS_H

#include "lab/check2_parts.h"

/* A graphics card by amdgpu with this VRAM. Timeout 0: that of an old or a new kernel. */
struct davy_sim_device *davy_check3_card(struct davy_sim *s, uint64_t timeout_ns, uint64_t mib);
/* The host's second one; only the ring "comp_1.1.0". */
struct davy_sim_device *davy_check3_second(struct davy_sim *s, uint64_t timeout_ns, uint64_t mib);
/* An APU of a host with this memory. */
struct davy_sim_device *davy_check3_apu(struct davy_sim *s, uint64_t timeout_ns, uint64_t gib);

/* A started engine with "permille" of its device's memory, and its chats. */
struct davy_sim_load *davy_check3_serve(struct davy_sim *s, struct davy_sim_device *d,
					const struct davy_check_engine *e, uint32_t permille,
					uint64_t think_ns);
/* An engine that is not started: its time comes later. */
struct davy_sim_process *davy_check3_later(struct davy_sim *s, struct davy_sim_device *d,
					   const struct davy_check_engine *e);

/* It fails now, and nothing of the report came before. */
void davy_check3_fails(struct davy_sim *s, const struct davy_sim_device *d,
		       const struct davy_sim_process *p);

/* The next job of it, or the running one, never ends. */
void davy_check3_stick(struct davy_sim *s, struct davy_sim_load *l);

/* Stops all actors of a process: what it draws, for example. */
void davy_check3_stop(struct davy_sim *s, const struct davy_sim_process *p);

/* Suspends the host, unless a job runs: the kernel waits for it. */
bool davy_check3_suspend(struct davy_sim *s, uint64_t ns);
/* It sleeps and wakes, with the lines of a resumed device. */
void davy_check3_suspends(struct davy_sim *s, struct davy_sim_device *d, uint64_t awake_ns,
			  uint64_t asleep_ns);

/* A line of the log about a ring. */
void davy_check3_ring_line(struct davy_sim *s, enum davy_log_kind kind,
			   const struct davy_sim_device *d, const struct davy_sim_ring *r);

/* An ended engine starts, fills its memory at "rate" bytes in a ms, and serves if it has a load. */
void davy_check3_load(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes,
		      uint64_t rate);

#define DAVY_CHECK3(name) void davy_check3_##name(struct davy_sim *s, uint64_t arg)

/* check3_fault.c */
DAVY_CHECK3(vmm_chat);
DAVY_CHECK3(npu_first);
DAVY_CHECK3(hog_and_fault);
DAVY_CHECK3(mmhub_retry);
DAVY_CHECK3(cancelled);
DAVY_CHECK3(first_matmul);
DAVY_CHECK3(daemon_reload);
/* check3_ring.c */
DAVY_CHECK3(ub_4096);
DAVY_CHECK3(uhd_preempt);
DAVY_CHECK3(weak_card);
DAVY_CHECK3(xe_250k);
DAVY_CHECK3(decode_lost);
DAVY_CHECK3(partial_offload);
/* check3_reset.c */
DAVY_CHECK3(smu_busy);
DAVY_CHECK3(long_prompt);
DAVY_CHECK3(xid62_idle);
DAVY_CHECK3(second_loss);
DAVY_CHECK3(chrome_fault);
/* check3_hang.c */
DAVY_CHECK3(mmap_upload);
DAVY_CHECK3(engine_wedge);
DAVY_CHECK3(watchdog_kill);
DAVY_CHECK3(guc_tlb);
DAVY_CHECK3(vllm_escalates);
DAVY_CHECK3(shards_stall);
DAVY_CHECK3(alloc_crash);
DAVY_CHECK3(never_wakes);
/* check3_memory.c */
DAVY_CHECK3(radeon_890m);
DAVY_CHECK3(scout_on_cuda);
DAVY_CHECK3(image_growth);
DAVY_CHECK3(cancel_leak);
DAVY_CHECK3(long_context);
DAVY_CHECK3(swapped_idle);
/* check3_days.c */
DAVY_CHECK3(homelab);
DAVY_CHECK3(plasma_desk);
DAVY_CHECK3(comfy_weights);
DAVY_CHECK3(steam_nights);
DAVY_CHECK3(strix_router);
DAVY_CHECK3(arc_vllm);
DAVY_CHECK3(build_farm);
DAVY_CHECK3(power_capped);
DAVY_CHECK3(sleepy_laptop);
DAVY_CHECK3(quick_sync);
/* check3_noise.c */
DAVY_CHECK3(opencl_evictions);
DAVY_CHECK3(hog_lines);
DAVY_CHECK3(npu_errors);
DAVY_CHECK3(runtime_pm);
DAVY_CHECK3(fence_lag);
DAVY_CHECK3(nv_check_lines);
DAVY_CHECK3(row_remap);
DAVY_CHECK3(slurm_limit);
DAVY_CHECK3(memcg_kills);
DAVY_CHECK3(lossy_swaps);
/* check3_work.c */
DAVY_CHECK3(bench_loops);
DAVY_CHECK3(small_steps);
DAVY_CHECK3(torch_grid);
DAVY_CHECK3(xnack_apu);
DAVY_CHECK3(found_full);
DAVY_CHECK3(voice_chain);
DAVY_CHECK3(nightly_pulls);
DAVY_CHECK3(blender_hip);
DAVY_CHECK3(draft_model);
DAVY_CHECK3(short_evictions);
DAVY_CHECK3(embeddings);
DAVY_CHECK3(hybrid_laptop);

#undef DAVY_CHECK3

#endif
