/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shows that a process makes headway, and that it has a reason to: tokens, ended jobs, a busy
 * device. Inner part of world.h.
 */
#ifndef DAVY_WORLD_LIFE_H
#define DAVY_WORLD_LIFE_H

#include "core/event/event.h"

#define DAVY_WORLD_BUSY_SETS 32
#define DAVY_WORLD_BUSY_WAYS 8

struct davy_life { /* of a process; 0 where nothing was told yet */
	struct davy_ev_progress progress;
	uint64_t progress_ns;
	uint64_t token_ns;     /* its tokens or its depth moved, or it got work after a rest */
	uint64_t made_ns;      /* it made a token */
	uint64_t done_ns;      /* a job or a graph of it ended */
	uint64_t busy_from_ns; /* since when its device works for it without a pause */
	uint64_t busy_ns;      /* last time that was seen */
	uint64_t ring_ns;      /* last time a job of it was seen to run */
	uint32_t prefill;      /* it computes a prompt, as far as its tokens tell */
	uint32_t depth_told;   /* it has said how deep it is */
	uint32_t batch;	       /* tokens computed since it told the last time */
	uint32_t pad;
};

struct davy_busy_state { /* an open file of a device */
	char device[DAVY_DEVICE_LEN];
	uint64_t used_ns; /* 0: empty */
	uint64_t client_id;
	uint64_t busy_ns; /* last cumulative value */
	uint32_t pid;
	uint32_t pad;
};

struct davy_busy {
	struct davy_busy_state files[DAVY_WORLD_BUSY_SETS][DAVY_WORLD_BUSY_WAYS];
};

struct davy_world;
struct davy_process;

/* "p" may be NULL: then nobody is known to whom it could matter. */
void davy_life_done(struct davy_process *p, uint64_t now_ns);
void davy_life_busy(struct davy_process *p, uint64_t from_ns, uint64_t now_ns);

/* Take an event's facts over; parts of davy_world_apply(). */
void davy_life_apply_progress(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_client(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_graph(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_sensor(struct davy_world *w, const struct davy_event *ev);

#endif
