/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The builders of all families, for the table; what each argument means stands with the builder. */
#ifndef DL_TUNE_SCENARIOS_H
#define DL_TUNE_SCENARIOS_H

#include "lab/synth.h"

/* synth_ring.c: jobs that outlast their timeout */
#define DL_SHAPE_LINEAR		   0
#define DL_SHAPE_CURVE		   1
#define DL_SHAPE_NOISY		   2
#define DL_PREFILL(seconds, shape) ((uint64_t)(seconds) << 8 | (shape))
void dl_synth_prefill(struct dl_sim *s, uint64_t arg);
void dl_synth_decode_hang(struct dl_sim *s, uint64_t arg);
void dl_synth_desktop_victim(struct dl_sim *s, uint64_t arg);
void dl_synth_xe_prefill(struct dl_sim *s, uint64_t arg);

/* synth_reset.c: a first sign minutes or seconds before the fatal one */
void dl_synth_second_reset(struct dl_sim *s, uint64_t arg);
void dl_synth_fence_fallback(struct dl_sim *s, uint64_t arg);
void dl_synth_i915_fence(struct dl_sim *s, uint64_t arg);
void dl_synth_xe_engines(struct dl_sim *s, uint64_t arg);

/* synth_memory.c: VRAM */
void dl_synth_vram_leak(struct dl_sim *s, uint64_t arg);
void dl_synth_rocm_full(struct dl_sim *s, uint64_t arg);
void dl_synth_cs_flood(struct dl_sim *s, uint64_t arg);

/* synth_thrash.c: more is wanted than there is */
void dl_synth_ping_pong(struct dl_sim *s, uint64_t arg);
void dl_synth_spill(struct dl_sim *s, uint64_t arg);
void dl_synth_queue_thrash(struct dl_sim *s, uint64_t arg);

/* synth_host.c: memory of the host, and the host itself */
void dl_synth_uma(struct dl_sim *s, uint64_t arg);
void dl_synth_rpm(struct dl_sim *s, uint64_t arg);
void dl_synth_hung_workers(struct dl_sim *s, uint64_t arg);
void dl_synth_driver_warnings(struct dl_sim *s, uint64_t arg);
void dl_synth_over_temperature(struct dl_sim *s, uint64_t arg);

/* synth_kfd.c: ROCm */
void dl_synth_restore_hogs(struct dl_sim *s, uint64_t arg);
void dl_synth_restore_failed(struct dl_sim *s, uint64_t arg);
void dl_synth_svm_limit(struct dl_sim *s, uint64_t arg);
void dl_synth_silent_hang(struct dl_sim *s, uint64_t arg);
void dl_synth_mes(struct dl_sim *s, uint64_t arg);

/* synth_fault.c: page faults, runners that die, devices that are not opened */
void dl_synth_retry_storm(struct dl_sim *s, uint64_t arg);
void dl_synth_fault_then_mes(struct dl_sim *s, uint64_t arg);
void dl_synth_discovery_fault(struct dl_sim *s, uint64_t arg);
void dl_synth_crash_loop(struct dl_sim *s, uint64_t arg);
void dl_synth_open_refused(struct dl_sim *s, uint64_t arg);
void dl_synth_iommu(struct dl_sim *s, uint64_t arg);

/* synth_hardware.c: the card, its link, NVIDIA's Xid */
void dl_synth_ras(struct dl_sim *s, uint64_t arg);
void dl_synth_smu(struct dl_sim *s, uint64_t arg);
void dl_synth_link(struct dl_sim *s, uint64_t arg);
void dl_synth_xid(struct dl_sim *s, uint64_t arg);
void dl_synth_xid_ecc(struct dl_sim *s, uint64_t arg);

/* benign_work.c: ordinary work; benign_memory.c: full, moved, swapped; benign_noise.c: lines */
void dl_benign_idle(struct dl_sim *s, uint64_t arg);
void dl_benign_chats(struct dl_sim *s, uint64_t arg);
void dl_benign_deep(struct dl_sim *s, uint64_t arg);
void dl_benign_constant(struct dl_sim *s, uint64_t arg);
void dl_benign_first_graphs(struct dl_sim *s, uint64_t arg);
void dl_benign_flapping(struct dl_sim *s, uint64_t arg);
void dl_benign_sleep(struct dl_sim *s, uint64_t arg);
void dl_benign_discovery(struct dl_sim *s, uint64_t arg);
void dl_benign_swaps(struct dl_sim *s, uint64_t arg);
void dl_benign_filled(struct dl_sim *s, uint64_t arg);
void dl_benign_static(struct dl_sim *s, uint64_t arg);
void dl_benign_runtime_pm(struct dl_sim *s, uint64_t arg);
void dl_benign_tenants(struct dl_sim *s, uint64_t arg);
void dl_benign_evicted_once(struct dl_sim *s, uint64_t arg);
void dl_benign_retries(struct dl_sim *s, uint64_t arg);
void dl_benign_host_cache(struct dl_sim *s, uint64_t arg);
void dl_benign_lines(struct dl_sim *s, uint64_t arg);
void dl_benign_driver_faults(struct dl_sim *s, uint64_t arg);
void dl_benign_first_touch(struct dl_sim *s, uint64_t arg);
void dl_benign_queue_moves(struct dl_sim *s, uint64_t arg);

#endif
