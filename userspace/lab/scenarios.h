/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The builders of all families, for the table. See each builder for its argument. */
#ifndef DAVY_SCENARIOS_H
#define DAVY_SCENARIOS_H

#include "lab/synth.h"

/* synth_ring.c: jobs that exceed their timeout */
#define DAVY_SHAPE_LINEAR	     0
#define DAVY_SHAPE_CURVE	     1
#define DAVY_SHAPE_NOISY	     2
#define DAVY_PREFILL(seconds, shape) ((uint64_t)(seconds) << 8 | (shape))
void davy_synth_prefill(struct davy_sim *s, uint64_t arg);
void davy_synth_decode_hang(struct davy_sim *s, uint64_t arg);
void davy_synth_desktop_victim(struct davy_sim *s, uint64_t arg);
void davy_synth_xe_prefill(struct davy_sim *s, uint64_t arg);

/* synth_reset.c: a precursor minutes or seconds before the failure */
void davy_synth_second_reset(struct davy_sim *s, uint64_t arg);
void davy_synth_fence_fallback(struct davy_sim *s, uint64_t arg);
void davy_synth_i915_fence(struct davy_sim *s, uint64_t arg);
void davy_synth_xe_engines(struct davy_sim *s, uint64_t arg);

/* synth_memory.c: VRAM */
void davy_synth_vram_leak(struct davy_sim *s, uint64_t arg);
void davy_synth_rocm_full(struct davy_sim *s, uint64_t arg);
void davy_synth_cs_flood(struct davy_sim *s, uint64_t arg);

/* synth_thrash.c: overcommitted memory */
void davy_synth_ping_pong(struct davy_sim *s, uint64_t arg);
void davy_synth_spill(struct davy_sim *s, uint64_t arg);
void davy_synth_queue_thrash(struct davy_sim *s, uint64_t arg);

/* synth_host.c: memory of the host, and the host itself */
void davy_synth_uma(struct davy_sim *s, uint64_t arg);
void davy_synth_rpm(struct davy_sim *s, uint64_t arg);
void davy_synth_hung_workers(struct davy_sim *s, uint64_t arg);
void davy_synth_driver_warnings(struct davy_sim *s, uint64_t arg);
void davy_synth_over_temperature(struct davy_sim *s, uint64_t arg);

/* synth_kfd.c: ROCm */
void davy_synth_restore_hogs(struct davy_sim *s, uint64_t arg);
void davy_synth_restore_failed(struct davy_sim *s, uint64_t arg);
void davy_synth_svm_limit(struct davy_sim *s, uint64_t arg);
void davy_synth_silent_hang(struct davy_sim *s, uint64_t arg);
void davy_synth_mes(struct davy_sim *s, uint64_t arg);

/* synth_fault.c: page faults, runners that die, devices that are not opened */
void davy_synth_retry_storm(struct davy_sim *s, uint64_t arg);
void davy_synth_fault_then_mes(struct davy_sim *s, uint64_t arg);
void davy_synth_discovery_fault(struct davy_sim *s, uint64_t arg);
void davy_synth_crash_loop(struct davy_sim *s, uint64_t arg);
void davy_synth_open_refused(struct davy_sim *s, uint64_t arg);
void davy_synth_iommu(struct davy_sim *s, uint64_t arg);

/* synth_hardware.c: the card, its link, NVIDIA's Xid */
void davy_synth_ras(struct davy_sim *s, uint64_t arg);
void davy_synth_smu(struct davy_sim *s, uint64_t arg);
void davy_synth_link(struct davy_sim *s, uint64_t arg);
void davy_synth_xid(struct davy_sim *s, uint64_t arg);
void davy_synth_xid_ecc(struct davy_sim *s, uint64_t arg);

/* benign_work.c: ordinary work; benign_memory.c: full, moved, swapped; benign_noise.c: lines */
void davy_benign_idle(struct davy_sim *s, uint64_t arg);
void davy_benign_chats(struct davy_sim *s, uint64_t arg);
void davy_benign_deep(struct davy_sim *s, uint64_t arg);
void davy_benign_constant(struct davy_sim *s, uint64_t arg);
void davy_benign_first_graphs(struct davy_sim *s, uint64_t arg);
void davy_benign_flapping(struct davy_sim *s, uint64_t arg);
void davy_benign_sleep(struct davy_sim *s, uint64_t arg);
void davy_benign_discovery(struct davy_sim *s, uint64_t arg);
void davy_benign_swaps(struct davy_sim *s, uint64_t arg);
void davy_benign_filled(struct davy_sim *s, uint64_t arg);
void davy_benign_static(struct davy_sim *s, uint64_t arg);
void davy_benign_runtime_pm(struct davy_sim *s, uint64_t arg);
void davy_benign_tenants(struct davy_sim *s, uint64_t arg);
void davy_benign_evicted_once(struct davy_sim *s, uint64_t arg);
void davy_benign_retries(struct davy_sim *s, uint64_t arg);
void davy_benign_host_cache(struct davy_sim *s, uint64_t arg);
void davy_benign_lines(struct davy_sim *s, uint64_t arg);
void davy_benign_driver_faults(struct davy_sim *s, uint64_t arg);
void davy_benign_first_touch(struct davy_sim *s, uint64_t arg);
void davy_benign_queue_moves(struct davy_sim *s, uint64_t arg);

#endif
