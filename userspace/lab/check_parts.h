/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the held-out set are built of. Only check_*.c includes it. */
#ifndef DAVY_CHECK_PARTS_H
#define DAVY_CHECK_PARTS_H

#include "lab/synth.h"

#define DAVY_CHECK_NO_RING 255

struct davy_check_engine {
	const char *comm, *model;
	uint32_t engine, role, backend;
	uint32_t context, ubatch;
	uint32_t ring; /* index of the device's; DAVY_CHECK_NO_RING */
	uint64_t model_bytes;
	bool found; /* it ran for hours before the agent did */
};

/* A started engine; "bytes" are on the GPU already. */
struct davy_sim_process *davy_check_engine(struct davy_sim *s, struct davy_sim_device *d,
					   const struct davy_check_engine *e, uint64_t bytes);
/* A started process that is no engine. */
struct davy_sim_process *davy_check_app(struct davy_sim *s, struct davy_sim_device *d,
					const char *comm, uint64_t bytes);
/* An ended process starts again, with another pid. */
void davy_check_start_again(struct davy_sim *s, struct davy_sim_process *p);

/* llama-server by Vulkan on the first compute ring, and by ROCm. */
struct davy_check_engine davy_check_by_vulkan(const char *model, uint64_t model_bytes,
					      uint32_t context);
struct davy_check_engine davy_check_by_rocm(const char *model, uint64_t model_bytes,
					    uint32_t context);

/* Chats with a pause of "think_ns". */
struct davy_sim_load *davy_check_chat(struct davy_sim *s, struct davy_sim_process *p,
				      uint64_t think_ns);
/* The load of an ended or stopped process goes on. */
void davy_check_go_on(struct davy_sim *s, struct davy_sim_load *l);
struct davy_sim_load *davy_check_load_of(struct davy_sim *s, const struct davy_sim_process *p);

/* Its main memory: VRAM, or GTT of an integrated GPU. */
uint64_t *davy_check_memory(struct davy_sim_process *p);

/* Moves *field to "to" between at_ns and at_ns + over_ns, in steps. */
void davy_check_ramp(struct davy_sim *s, uint64_t *field, uint64_t to, uint64_t at_ns,
		     uint64_t over_ns);
/* Sets *field to something in a range, each period. */
void davy_check_wander(struct davy_sim *s, uint64_t *field, uint64_t least, uint64_t most,
		       uint64_t period_ns);

/*
 * VRAM as TTM gives it: what is missing is taken from others, then put into GTT. -ENOMEM: neither
 * has room; the ioctl fails.
 */
int davy_check_allocate(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes);
/* hipMalloc: no eviction. -ENOMEM: KFD's limit (amdgpu_amdkfd_reserve_mem_limit). */
int davy_check_hip_allocate(struct davy_sim *s, struct davy_sim_process *p, uint64_t bytes);

/* KFD stops and restores the queues of a process; "again": it failed and is tried again. */
void davy_check_evict_queues(struct davy_sim *s, struct davy_sim_process *p, uint32_t trigger);
void davy_check_restore_queues(struct davy_sim *s, struct davy_sim_process *p, uint64_t after_ns,
			       bool again);

/* The frames of a process that draws. */
void davy_check_frames(struct davy_sim *s, struct davy_sim_process *p, uint64_t frame_ns,
		       uint32_t per_second);

/* "burst" lines of the kernel's log at most, each period, for ever. */
void davy_check_line_each(struct davy_sim *s, enum davy_log_kind kind, struct davy_sim_device *d,
			  uint64_t period_ns, uint32_t burst);

/*
 * "count" processes that were added one after another are loaded in turn, at "rate" bytes in a ms,
 * serve for "serve_ns", and are killed, as Ollama's runners and llama-swap's servers are.
 */
void davy_check_turns(struct davy_sim *s, struct davy_sim_process *first, uint32_t count,
		      uint64_t rate, uint64_t serve_ns);

/*
 * PyTorch's memory (check_torch.c): from "base" to a peak in each period and back; the next peak is
 * "growth" permille higher. When hipMalloc fails it frees its cache and tries again; without any
 * cache the process ends with status 1, which is the failure.
 */
struct davy_check_peaks {
	uint64_t base, peak, period_ns;
	uint64_t growth_permille; /* after the calm */
	uint64_t cache;		  /* unused blocks that it holds */
};
void davy_check_peaks(struct davy_sim *s, struct davy_sim_process *p,
		      const struct davy_check_peaks *peaks);

/* As the agent reports an Xid: by the driver's tracepoint and by the kernel's log. */
void davy_check_xid(struct davy_sim *s, const struct davy_sim_device *d,
		    const struct davy_sim_process *p, uint32_t xid);

/* A running job of it that never ends, for at least a second. */
void davy_check_stuck(struct davy_sim *s, struct davy_sim_load *l);

#define DAVY_CHECK(name) void davy_check_##name(struct davy_sim *s, uint64_t arg)

/* check_ring.c */
DAVY_CHECK(vega_depth);
DAVY_CHECK(model_switch);
DAVY_CHECK(image_encoder);
DAVY_CHECK(i915_fence);
DAVY_CHECK(reset_again);
DAVY_CHECK(xe_two_resets);
/* check_memory.c */
DAVY_CHECK(fini_leak);
DAVY_CHECK(sawtooth);
DAVY_CHECK(second_process);
DAVY_CHECK(context_growth);
DAVY_CHECK(xe_rebind);
DAVY_CHECK(gtt_creep);
DAVY_CHECK(prompt_cache);
/* check_kfd.c */
DAVY_CHECK(restore_loop);
DAVY_CHECK(queue_thrash);
DAVY_CHECK(hog_doubles);
DAVY_CHECK(fault_then_mes);
DAVY_CHECK(silent_mes);
DAVY_CHECK(killed_entity);
/* check_hardware.c */
DAVY_CHECK(ras_pages);
DAVY_CHECK(double_bit);
DAVY_CHECK(xid13_then_31);
DAVY_CHECK(gsp_silent);
DAVY_CHECK(iommu_garbage);
/* check_runner.c */
DAVY_CHECK(lost_by_throw);
DAVY_CHECK(exit_codes);
DAVY_CHECK(node_refused);
DAVY_CHECK(uncaught);
/* check_desk.c */
DAVY_CHECK(office_day);
DAVY_CHECK(game_evening);
DAVY_CHECK(compile_day);
DAVY_CHECK(laptop_sleeps);
DAVY_CHECK(watching_tools);
DAVY_CHECK(idle_reset);
DAVY_CHECK(driver_update);
DAVY_CHECK(harmless_lines);
DAVY_CHECK(killed_by_user);
DAVY_CHECK(page_cache);
/* check_server.c */
DAVY_CHECK(brim_loads);
DAVY_CHECK(two_models);
DAVY_CHECK(brim_bench);
DAVY_CHECK(long_jobs);
DAVY_CHECK(deep_below);
DAVY_CHECK(home_voices);
DAVY_CHECK(indexing);
DAVY_CHECK(vllm_full);
DAVY_CHECK(carve_out);
DAVY_CHECK(i915_shrinks);
DAVY_CHECK(arc_day);
DAVY_CHECK(lossy);
DAVY_CHECK(late_agent);
/* check_torch.c */
DAVY_CHECK(torch_retries);
DAVY_CHECK(comfy_day);
DAVY_CHECK(even_peaks);
DAVY_CHECK(xnack_retries);
DAVY_CHECK(steady_spill);

#undef DAVY_CHECK

#endif
