/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens on a simulated host and is told at once, or counted for the next tick. */
#ifndef DL_TUNE_SIM_SAY_H
#define DL_TUNE_SIM_SAY_H

#include "lab/sim.h"

#define DL_LOST	     "N2vk15DeviceLostErrorE"
#define DL_NO_MEMORY "N2vk22OutOfDeviceMemoryErrorE"

/* An event of now. */
struct dl_event dl_sim_event(const struct dl_sim *s, enum dl_event_kind kind, uint32_t pid);

/* Out it goes, as of now. */
void dl_sim_tell(struct dl_sim *s, struct dl_event *ev);

/* A line of the kernel's log; "d", "p" may be NULL. "code": Xid, "N times". */
void dl_sim_log(struct dl_sim *s, enum dl_log_kind kind, const struct dl_sim_device *d,
		const struct dl_sim_process *p, uint32_t code);
/* The same with all that a line may have, as the event has it. */
void dl_sim_log_event(struct dl_sim *s, struct dl_event *ev);
struct dl_event dl_sim_log_of(const struct dl_sim *s, enum dl_log_kind kind,
			      const struct dl_sim_device *d, const struct dl_sim_process *p);

/* A fact to be filled and told. */
struct dl_event dl_sim_fact(const struct dl_sim *s, enum dl_fact fact,
			    const struct dl_sim_device *d, const struct dl_sim_process *p);
void dl_sim_kfd(struct dl_sim *s, enum dl_kfd_event event, const struct dl_sim_process *p,
		uint32_t trigger, uint32_t flags);

/* Counted: "count" more of them. */
void dl_sim_alloc_failed(struct dl_sim *s, const struct dl_sim_process *p,
			 enum dl_alloc_stage stage, int32_t error, uint64_t bytes, uint32_t count);
void dl_sim_fault(struct dl_sim *s, const struct dl_sim_process *p, enum dl_fault_class fault_class,
		  uint64_t addr, uint32_t count);
void dl_sim_hot_fact(struct dl_sim *s, enum dl_fact fact, const struct dl_sim_process *p,
		     uint64_t bytes, uint32_t count);

/* "evictor" (a pid) moves memory of "owner" out of VRAM, or back in. */
void dl_sim_move_out(struct dl_sim *s, uint32_t evictor, struct dl_sim_process *owner,
		     uint64_t bytes);
void dl_sim_move_in(struct dl_sim *s, uint32_t evictor, struct dl_sim_process *owner,
		    uint64_t bytes);

void dl_sim_throw(struct dl_sim *s, const struct dl_sim_process *p, const char *type);
/* Status as from wait(2); its memory is free again. */
void dl_sim_exit(struct dl_sim *s, struct dl_sim_process *p, int32_t status);
void dl_sim_job_timeout(struct dl_sim *s, const struct dl_sim_process *p, uint64_t age_ns);
void dl_sim_reset(struct dl_sim *s, const struct dl_sim_device *d, bool begun, int32_t result);
void dl_sim_ring_reset(struct dl_sim *s, const struct dl_sim_process *p, int32_t error);

/* What a hot fact and a mover have not told yet (sim_watch.c, on the tick). */
void dl_sim_tell_sums(struct dl_sim *s);
void dl_sim_tell_movers(struct dl_sim *s);
void dl_sim_tell_said(struct dl_sim *s);

#endif
