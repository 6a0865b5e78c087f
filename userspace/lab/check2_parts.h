/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the second held-out set are built of, besides check_parts.h. */
#ifndef DAVY_CHECK2_PARTS_H
#define DAVY_CHECK2_PARTS_H

#include "lab/check_parts.h"

/* Calls "act" when the failing part of a scenario begins. */
struct davy_sim_actor *davy_check2_then(struct davy_sim *s, davy_sim_act act, void *of);

/* Only VRAM of this size, in MiB, and at most "other" of it used by unlisted processes. */
void davy_check2_vram(struct davy_sim_device *d, uint64_t mib, uint64_t other_mib);

/* The host's memory, of which an integrated GPU may use three quarters. */
void davy_check2_host(struct davy_sim *s, struct davy_sim_device *d, uint64_t gib);

/* *field rises to "high" at "rate" bytes in a ms, stays, falls to "low", stays; for ever. */
struct davy_check2_tide {
	uint64_t low, high, rate;
	uint64_t high_ns, low_ns;
	bool exact; /* each high tide is the same; otherwise 85 % to 100 % of it */
};
void davy_check2_tide(struct davy_sim *s, uint64_t *field, const struct davy_check2_tide *tide);

/*
 * "count" processes that were added one after another: one is loaded at "rate" bytes in a ms,
 * works for "serve_ns", ends with "status"; after "gap_ns" it is the turn of the next one.
 */
struct davy_check2_rounds {
	uint32_t count, status;
	uint64_t rate, serve_ns, gap_ns;
};
void davy_check2_rounds(struct davy_sim *s, struct davy_sim_process *first,
			const struct davy_check2_rounds *rounds);

/* A short-lived process starts each period and ends with the status of "status_of". */
struct davy_check2_visits {
	uint64_t period_ns, stay_ns;
	uint64_t bytes;
	int32_t status;
	bool refused; /* it may not open the render node */
};
void davy_check2_visits(struct davy_sim *s, struct davy_sim_process *p,
			const struct davy_check2_visits *visits);

/* A process that is not running yet; davy_check_start_again starts it. */
struct davy_sim_process *davy_check2_absent(struct davy_sim *s, struct davy_sim_device *d,
					    const char *comm);

/* An engine by CUDA, SYCL and so on: its jobs pass no DRM scheduler. */
struct davy_check_engine davy_check2_by(uint32_t backend, const char *model, uint64_t model_bytes,
					uint32_t context);

/* amdgpu reports a page fault without retry: by its interrupt, by KFD and by the log. */
void davy_check2_page_fault(struct davy_sim *s, const struct davy_sim_process *p, uint64_t addr,
			    uint32_t count);

/* MES does not answer REMOVE_QUEUE; KFD asks for a reset of the device, which ends well. */
void davy_check2_mes_reset(struct davy_sim *s, struct davy_sim_device *d,
			   const struct davy_sim_process *p);

/* A job of a ring timed out. "p" NULL: a job of the kernel. With the log's lines of amdgpu. */
void davy_check2_ring_timeout(struct davy_sim *s, const struct davy_sim_device *d,
			      const struct davy_sim_ring *r, const struct davy_sim_process *p);
/* The same by xe: the GuC resets the engine, the queue is banned, a coredump is kept. */
void davy_check2_xe_timeout(struct davy_sim *s, struct davy_sim_process *p);

/* For timed_out: the ring is reset, the engine lives on and computes nothing more. */
void davy_check2_zombie(struct davy_sim *s, struct davy_sim_load *l);

/* Starts a request of "prompt" tokens as soon as the engine rests; "stick": its job never ends. */
void davy_check2_ask_for(struct davy_sim *s, struct davy_sim_load *l, uint32_t prompt, bool stick);

/* Several lines of the log at once. */
void davy_check2_lines(struct davy_sim *s, enum davy_log_kind kind, const struct davy_sim_device *d,
		       const struct davy_sim_process *p, uint32_t count);

/* The host stops: nothing follows, not even the end of the trace's usual rest. */
void davy_check2_host_dies(struct davy_sim *s);

#define DAVY_CHECK2(name) void davy_check2_##name(struct davy_sim *s, uint64_t arg)

/* check2_ring.c */
DAVY_CHECK2(rag_prompt);
DAVY_CHECK2(xe_shader);
DAVY_CHECK2(i915_ecode);
DAVY_CHECK2(sdma_first);
DAVY_CHECK2(editor_victim);
DAVY_CHECK2(arc_wedge);
DAVY_CHECK2(sycl_prefill);
/* check2_memory.c */
DAVY_CHECK2(compositor);
DAVY_CHECK2(first_message);
DAVY_CHECK2(idle_suspend);
DAVY_CHECK2(podman_victims);
DAVY_CHECK2(evicted_for_good);
DAVY_CHECK2(lowvram);
/* check2_kfd.c */
DAVY_CHECK2(mes_first_use);
DAVY_CHECK2(swap_wedge);
DAVY_CHECK2(dead_card);
DAVY_CHECK2(wq_hogged);
DAVY_CHECK2(unevictable);
DAVY_CHECK2(spurious_pme);
DAVY_CHECK2(garbage);
/* check2_other.c */
DAVY_CHECK2(off_the_bus);
DAVY_CHECK2(nvidia_iommu);
DAVY_CHECK2(vllm_exit_zero);
DAVY_CHECK2(vulkan_on_nvidia);
DAVY_CHECK2(discovery_faults);
DAVY_CHECK2(nvidia_mismatch);
DAVY_CHECK2(heat);
/* check2_days.c */
DAVY_CHECK2(router_day);
DAVY_CHECK2(kube_pod);
DAVY_CHECK2(timer_restarts);
DAVY_CHECK2(hibernates);
DAVY_CHECK2(pin_failures);
DAVY_CHECK2(nvidia_kills);
DAVY_CHECK2(riser_cable);
DAVY_CHECK2(keep_alive);
/* check2_desk.c */
DAVY_CHECK2(films);
DAVY_CHECK2(vector_store);
DAVY_CHECK2(guests);
DAVY_CHECK2(refused_tools);
DAVY_CHECK2(vulkan_tests);
DAVY_CHECK2(egpu);
DAVY_CHECK2(hot_summer);
DAVY_CHECK2(cold_cache);
/* check2_server.c */
DAVY_CHECK2(rocm_reloads);
DAVY_CHECK2(small_ubatch);
DAVY_CHECK2(swap_often);
DAVY_CHECK2(arc_soak);
DAVY_CHECK2(vllm_sleeps);
DAVY_CHECK2(picture_batches);
DAVY_CHECK2(active_evicted);
DAVY_CHECK2(userptr_churn);
DAVY_CHECK2(experts_on_cpu);
DAVY_CHECK2(split_layers);
DAVY_CHECK2(half_on_cpu);

#undef DAVY_CHECK2

#endif
