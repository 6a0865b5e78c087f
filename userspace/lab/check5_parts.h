/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the fifth held-out set are built of, besides check4_parts.h. */
#ifndef DAVY_CHECK5_PARTS_H
#define DAVY_CHECK5_PARTS_H

#include "lab/check4_parts.h"

/* A card of NVIDIA with this VRAM; "bus" 0 to 2. */
struct davy_sim_device *davy_check5_nvidia(struct davy_sim *s, uint32_t bus, uint64_t mib);

/* A fact about a device and a process, either may be NULL; "name" may be NULL. */
void davy_check5_fact(struct davy_sim *s, enum davy_fact fact, const struct davy_sim_device *d,
		      const struct davy_sim_process *p, const char *name, int32_t error);

/* A kworker's line: it hogged a CPU "times" times. */
void davy_check5_hogged(struct davy_sim *s, enum davy_log_kind kind, uint32_t times);

/* amdgpu finds an illegal opcode in the commands of a process. */
void davy_check5_illegal(struct davy_sim *s, const struct davy_sim_process *p);

/* A line of the log about a page fault, without an event of the driver; xe: it is not served. */
void davy_check5_xe_fault(struct davy_sim *s, const struct davy_sim_device *d, uint64_t addr);

/* The ring of a process fails to reset after "ns"; a full reset of "reset_ns" loses VRAM. */
void davy_check5_mode1(struct davy_sim *s, const struct davy_sim_process *p, uint64_t ns,
		       uint64_t reset_ns);

/* The driver gives its device up. */
void davy_check5_wedged(struct davy_sim *s, const struct davy_sim_device *d);

/* The kernel's OOM killer ends a process; "group": of its cgroup, not of the host. */
void davy_check5_oom_kill(struct davy_sim *s, struct davy_sim_process *p, bool group);

/* A field wanders no longer: its process hangs. */
void davy_check5_still(struct davy_sim *s, const uint64_t *field);

/* XNACK: faults that the driver serves, about "per_second", for ever. */
void davy_check5_served_faults(struct davy_sim *s, struct davy_sim_process *p, uint32_t per_second);

/* A load rests for "off_ns" after each "on_ns". */
void davy_check5_shifts(struct davy_sim *s, struct davy_sim_load *l, uint64_t on_ns,
			uint64_t off_ns);

/* Someone stops a running answer each period. */
void davy_check5_cancels(struct davy_sim *s, struct davy_sim_load *l, uint64_t period_ns);

/* A load's jobs take "least" to "most" permille of their usual time, another value each period. */
void davy_check5_unsteady(struct davy_sim *s, struct davy_sim_load *l, uint32_t least,
			  uint32_t most, uint64_t period_ns);

/* Tasks wait for memory: PSI up to "most" permille, another value each period. */
void davy_check5_pressure(struct davy_sim *s, uint32_t most, uint64_t period_ns);

#define DAVY_CHECK5(name) void davy_check5_##name(struct davy_sim *s, uint64_t arg)

/* check5_fault.c */
DAVY_CHECK5(peer_map);
DAVY_CHECK5(brim_70b);
DAVY_CHECK5(after_ccs);
DAVY_CHECK5(dflash_again);
DAVY_CHECK5(not_started);
DAVY_CHECK5(athub_then_none);
/* check5_reset.c */
DAVY_CHECK5(opcode_navi31);
DAVY_CHECK5(p2p_restore);
DAVY_CHECK5(hbm_rows);
DAVY_CHECK5(game_fault);
DAVY_CHECK5(tp4_allreduce);
DAVY_CHECK5(silent_ccs);
/* check5_hang.c */
DAVY_CHECK5(rpc_45s);
DAVY_CHECK5(mmhub_task);
DAVY_CHECK5(rlw_links);
DAVY_CHECK5(bench_depths);
DAVY_CHECK5(kwin_10s);
DAVY_CHECK5(lru_oops);
DAVY_CHECK5(kwin_twice);
/* check5_memory.c */
DAVY_CHECK5(agent_178k);
DAVY_CHECK5(stuck_stopping);
DAVY_CHECK5(userptr_slow);
DAVY_CHECK5(soft_clip);
DAVY_CHECK5(not_prepared);
/* check5_days.c */
DAVY_CHECK5(studio_desk);
DAVY_CHECK5(rag_office);
DAVY_CHECK5(halo_agents);
DAVY_CHECK5(swap_for_games);
DAVY_CHECK5(ci_containers);
DAVY_CHECK5(night_backup);
DAVY_CHECK5(sleeping_card);
/* check5_work.c */
DAVY_CHECK5(spec_draft);
DAVY_CHECK5(vision_queue);
DAVY_CHECK5(embed_flood);
DAVY_CHECK5(slow_200k);
DAVY_CHECK5(comfy_brim);
DAVY_CHECK5(lora_night);
DAVY_CHECK5(xnack_apu_sweeps);
DAVY_CHECK5(arc_pair);
DAVY_CHECK5(imatrix_run);
/* check5_noise.c */
DAVY_CHECK5(stop_button);
DAVY_CHECK5(probe_hammer);
DAVY_CHECK5(bystander_oom);
DAVY_CHECK5(lossy_batch);
DAVY_CHECK5(update_evening);
DAVY_CHECK5(nv_restarts);
DAVY_CHECK5(igpu_tabs);
DAVY_CHECK5(three_users);

#undef DAVY_CHECK5

#endif
