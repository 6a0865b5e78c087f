/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scenarios of the fourth held-out set are built of, besides check3_parts.h. */
#ifndef DAVY_CHECK4_PARTS_H
#define DAVY_CHECK4_PARTS_H

#include "lab/check3_parts.h"

/* The first documented sign of the failure is now. */
void davy_check4_sign(struct davy_sim *s);

/* It fails now, after its signs. "p" may be NULL. */
void davy_check4_fails(struct davy_sim *s, const struct davy_sim_device *d,
		       const struct davy_sim_process *p);

/* From now on a job of a ring runs; its age is a sign from an eighth of the timeout on. */
void davy_check4_hold(struct davy_sim *s, struct davy_sim_ring *r,
		      const struct davy_sim_process *p);

/* A full reset of a device, which ends well after "ns"; with "lost" its VRAM is empty then. */
void davy_check4_reset(struct davy_sim *s, struct davy_sim_device *d, uint64_t ns, bool lost);

/* The ring of a process was reset well: "device wedged, but recovered through reset". */
void davy_check4_recovered(struct davy_sim *s, const struct davy_sim_process *p);

/* An engine by Vulkan aborts: nobody catches that its device is lost. */
void davy_check4_lost(struct davy_sim *s, struct davy_sim_process *p);

/* A graphics card by xe with this VRAM, and the host's second one. */
struct davy_sim_device *davy_check4_xe(struct davy_sim *s, uint64_t mib);
struct davy_sim_device *davy_check4_second_xe(struct davy_sim *s, uint64_t mib);

/* A line of the log about a PCI port. */
void davy_check4_port_line(struct davy_sim *s, enum davy_log_kind kind, const char *port);

/* "count" lines, one each "ns", from "at_ns" on. */
void davy_check4_lines(struct davy_sim *s, enum davy_log_kind kind, struct davy_sim_device *d,
		       uint64_t at_ns, uint64_t ns, uint32_t count);

/* A line of a port each period, for ever. */
void davy_check4_port_each(struct davy_sim *s, enum davy_log_kind kind, const char *port,
			   uint64_t period_ns);

/* A device disappears for "gone_ns" each period; its engines end before, and start after. */
void davy_check4_reloads(struct davy_sim *s, struct davy_sim_device *d, uint64_t period_ns,
			 uint64_t gone_ns);

#define DAVY_CHECK4(name) void davy_check4_##name(struct davy_sim *s, uint64_t arg)

/* check4_fault.c */
DAVY_CHECK4(page_alloc);
DAVY_CHECK4(second_model);
DAVY_CHECK4(hogs_to_1027);
DAVY_CHECK4(map_xid31);
DAVY_CHECK4(runlist_fault);
DAVY_CHECK4(discovery_30s);
DAVY_CHECK4(sdma_queues);
DAVY_CHECK4(full_gibberish);
/* check4_reset.c */
DAVY_CHECK4(cosmic_baco);
DAVY_CHECK4(game_mes);
DAVY_CHECK4(aer_79);
DAVY_CHECK4(plugin_scan);
DAVY_CHECK4(slot_reset);
DAVY_CHECK4(decode_595);
DAVY_CHECK4(baco_exit);
/* check4_hang.c */
DAVY_CHECK4(gsp_game);
DAVY_CHECK4(xid45_task);
DAVY_CHECK4(bcs_fault);
DAVY_CHECK4(sycl_51743);
DAVY_CHECK4(halo_half);
DAVY_CHECK4(renoir_flux);
DAVY_CHECK4(svd_gnome);
/* check4_memory.c */
DAVY_CHECK4(quiesce_panic);
DAVY_CHECK4(xorg_full);
DAVY_CHECK4(tlb_fences);
DAVY_CHECK4(mmproj);
DAVY_CHECK4(overreport);
DAVY_CHECK4(prompt_pool);
DAVY_CHECK4(two_b70);
DAVY_CHECK4(mtp_gtt);
/* check4_days.c */
DAVY_CHECK4(writer_desk);
DAVY_CHECK4(two_shifts);
DAVY_CHECK4(game_weekend);
DAVY_CHECK4(kernel_builds);
DAVY_CHECK4(training_day);
DAVY_CHECK4(guest_vms);
DAVY_CHECK4(train_laptop);
DAVY_CHECK4(night_rag);
/* check4_work.c */
DAVY_CHECK4(video_frames);
DAVY_CHECK4(sdxl_queue);
DAVY_CHECK4(bench_brim);
DAVY_CHECK4(xnack_train);
DAVY_CHECK4(xe_tools);
DAVY_CHECK4(tile_upscale);
DAVY_CHECK4(deep_chats);
DAVY_CHECK4(agent_runs);
DAVY_CHECK4(whisper_stream);
DAVY_CHECK4(mixed_cards);
DAVY_CHECK4(late_join);
/* check4_noise.c */
DAVY_CHECK4(lossy_games);
DAVY_CHECK4(driver_reload);
DAVY_CHECK4(ctrl_c);
DAVY_CHECK4(oversub_line);
DAVY_CHECK4(guest_fallbacks);
DAVY_CHECK4(dock_pme);
DAVY_CHECK4(few_hogs);
DAVY_CHECK4(net_alloc_warns);
DAVY_CHECK4(map_warns);
DAVY_CHECK4(host_swaps);
DAVY_CHECK4(quiet_fans);

#undef DAVY_CHECK4

#endif
