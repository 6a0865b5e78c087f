/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence of progress and of work: tokens, finished jobs, a busy device. Part of world.h. */
#ifndef DAVY_WORLD_LIFE_H
#define DAVY_WORLD_LIFE_H

#include "core/event/event.h"

#define DAVY_WORLD_BUSY_SETS 32
#define DAVY_WORLD_BUSY_WAYS 8

struct davy_life { /* of a process; 0 where unknown */
	struct davy_ev_progress progress;
	uint64_t progress_ns;
	uint64_t token_ns;     /* last change of token counts or depth, or first work after idle */
	uint64_t made_ns;      /* last generated token */
	uint64_t done_ns;      /* last finished job or graph */
	uint64_t busy_from_ns; /* start of uninterrupted device activity */
	uint64_t busy_ns;      /* last observation of that */
	uint64_t ring_ns;      /* last observation of a running job */
	uint32_t prefill;      /* computes a prompt, according to its token counts */
	uint32_t depth_known;  /* reports its depth */
	uint32_t batch;	       /* tokens computed since the last report */
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

/* "p" may be NULL: no effect. */
void davy_life_done(struct davy_process *p, uint64_t now_ns);
void davy_life_busy(struct davy_process *p, uint64_t from_ns, uint64_t now_ns);

/* Apply the facts of an event; called by davy_world_apply(). */
void davy_life_apply_progress(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_client(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_graph(struct davy_world *w, const struct davy_event *ev);
void davy_life_apply_sensor(struct davy_world *w, const struct davy_event *ev);

#endif
