/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the simulated host: reported at once, or counted for the next tick. */
#ifndef DAVY_SIM_SAY_H
#define DAVY_SIM_SAY_H

#include "lab/sim.h"

#define DAVY_LOST      "N2vk15DeviceLostErrorE"
#define DAVY_NO_MEMORY "N2vk22OutOfDeviceMemoryErrorE"

/* An event with the current time. */
struct davy_event davy_sim_event(const struct davy_sim *s, enum davy_event_kind kind, uint32_t pid);

/* Emits the event with the current time. */
void davy_sim_tell(struct davy_sim *s, struct davy_event *ev);

/* A kernel log line; "d" and "p" may be NULL. "code": Xid, "N times". */
void davy_sim_log(struct davy_sim *s, enum davy_log_kind kind, const struct davy_sim_device *d,
		  const struct davy_sim_process *p, uint32_t code);
/* The same with all fields of the event. */
void davy_sim_log_event(struct davy_sim *s, struct davy_event *ev);
struct davy_event davy_sim_log_of(const struct davy_sim *s, enum davy_log_kind kind,
				  const struct davy_sim_device *d,
				  const struct davy_sim_process *p);

/* A fact to fill in and emit. */
struct davy_event davy_sim_fact(const struct davy_sim *s, enum davy_fact fact,
				const struct davy_sim_device *d, const struct davy_sim_process *p);
void davy_sim_kfd(struct davy_sim *s, enum davy_kfd_event event, const struct davy_sim_process *p,
		  uint32_t trigger, uint32_t flags);

/* Counted: "count" more of them. */
void davy_sim_alloc_failed(struct davy_sim *s, const struct davy_sim_process *p,
			   enum davy_alloc_stage stage, int32_t error, uint64_t bytes,
			   uint32_t count);
void davy_sim_fault(struct davy_sim *s, const struct davy_sim_process *p,
		    enum davy_fault_class fault_class, uint64_t addr, uint32_t count);
void davy_sim_hot_fact(struct davy_sim *s, enum davy_fact fact, const struct davy_sim_process *p,
		       uint64_t bytes, uint32_t count);

/* "evictor" (a pid) moves memory of "owner" out of VRAM, or back in. */
void davy_sim_move_out(struct davy_sim *s, uint32_t evictor, struct davy_sim_process *owner,
		       uint64_t bytes);
void davy_sim_move_in(struct davy_sim *s, uint32_t evictor, struct davy_sim_process *owner,
		      uint64_t bytes);

/* Reports the events that were lost since the last report. */
void davy_sim_tell_lost(struct davy_sim *s, const char *sensor);

void davy_sim_throw(struct davy_sim *s, const struct davy_sim_process *p, const char *type);
/* "status" as of wait(2). Frees its memory. */
void davy_sim_exit(struct davy_sim *s, struct davy_sim_process *p, int32_t status);
void davy_sim_job_timeout(struct davy_sim *s, const struct davy_sim_process *p, uint64_t age_ns);
void davy_sim_reset(struct davy_sim *s, const struct davy_sim_device *d, bool begun,
		    int32_t result);
void davy_sim_ring_reset(struct davy_sim *s, const struct davy_sim_process *p, int32_t error);

/* Reports pending sums of facts and moves (sim_watch.c, on the tick). */
void davy_sim_tell_sums(struct davy_sim *s);
void davy_sim_tell_movers(struct davy_sim *s);
void davy_sim_tell_said(struct davy_sim *s);

#endif
