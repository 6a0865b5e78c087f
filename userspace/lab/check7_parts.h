/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the seventh held-out set are built of, besides check6_parts.h. */
#ifndef DAVY_CHECK7_PARTS_H
#define DAVY_CHECK7_PARTS_H

#include "lab/check6_parts.h"

/* amdgpu reports a page fault of no process: vmid 0, pasid 0. */
void davy_check7_driver_fault(struct davy_sim *s, struct davy_sim_device *d, uint64_t addr,
			      uint32_t count);

/* A game takes this VRAM, from others if it must, and gives it back; they return then. */
void davy_check7_plays(struct davy_sim *s, struct davy_sim_process *game, uint64_t bytes,
		       uint64_t play_ns, uint64_t rest_ns);

/* An Xid that names a process each period, for ever. */
void davy_check7_xid_each(struct davy_sim *s, struct davy_sim_process *p, uint32_t xid,
			  uint64_t period_ns);

/* xe serves page faults, evicts addresses and binds again, each period, for ever. */
void davy_check7_xe_churn(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns);

/* *field rises evenly from "low" to "high" within "over_ns", stays, drops at once; for ever. */
void davy_check7_saws(struct davy_sim *s, uint64_t *field, uint64_t low, uint64_t high,
		      uint64_t over_ns);

/* A process without a GPU is killed each period at the limit of its cgroup, and starts again. */
void davy_check7_at_limit(struct davy_sim *s, struct davy_sim_process *p, uint64_t period_ns);

#define DAVY_CHECK7(name) void davy_check7_##name(struct davy_sim *s, uint64_t arg)

/* check7_fault.c */
DAVY_CHECK7(vital_107s);
DAVY_CHECK7(fences_retry);
DAVY_CHECK7(vmid0_700ms);
DAVY_CHECK7(vmid0_gibberish);
/* check7_reset.c */
DAVY_CHECK7(blender_kiq);
DAVY_CHECK7(vmc_sdma0);
DAVY_CHECK7(clinfo_9s);
DAVY_CHECK7(d3hot_w7800);
DAVY_CHECK7(cuda_after_s3);
/* check7_hang.c */
DAVY_CHECK7(guc_436s);
DAVY_CHECK7(b70_both);
DAVY_CHECK7(warp_then_109);
DAVY_CHECK7(dsv4_turns);
DAVY_CHECK7(forcewake_41s);
DAVY_CHECK7(spark_prefill);
/* check7_memory.c */
DAVY_CHECK7(dkms_leak);
DAVY_CHECK7(embed_segments);
DAVY_CHECK7(never_unloads);
DAVY_CHECK7(cuinit_3);
DAVY_CHECK7(xid62_watchdog);
/* check7_days.c */
DAVY_CHECK7(photo_agency);
DAVY_CHECK7(handheld);
DAVY_CHECK7(lab_queue);
DAVY_CHECK7(arc_router);
DAVY_CHECK7(clinic_igpu);
DAVY_CHECK7(dubbing_house);
/* check7_work.c */
DAVY_CHECK7(brim_turns);
DAVY_CHECK7(pytest_rocm);
DAVY_CHECK7(hunyuan_fill);
DAVY_CHECK7(splat_saws);
DAVY_CHECK7(sweeps_7s);
DAVY_CHECK7(mi210_xnack);
DAVY_CHECK7(arc_tests);
/* check7_noise.c */
DAVY_CHECK7(lossy_arcade);
DAVY_CHECK7(tb_desk);
DAVY_CHECK7(health_restarts);
DAVY_CHECK7(quota_workers);
DAVY_CHECK7(next_kernel);
DAVY_CHECK7(s2idle_shifts);
DAVY_CHECK7(nv_profilers);

#undef DAVY_CHECK7

#endif
