/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One hold of the guard, step by step: freezing, held (with its duty cycle), thawing. Only guard*.c
 * include this. Nothing here waits or takes memory; time is what the caller says (CLOCK_BOOTTIME).
 */
#ifndef DL_GUARD_HOLD_H
#define DL_GUARD_HOLD_H

#include "act/freeze.h"
#include "act/guard_order.h"

enum dl_hold_state {
	DL_HOLD_FREE = 0,
	DL_HOLD_FREEZING = 1, /* ordered, not yet seen */
	DL_HOLD_HELD = 2,
	DL_HOLD_THAWING = 3,
};

struct dl_hold {
	uint32_t state; /* enum dl_hold_state; written last, and first when it is freed */
	uint32_t id;
	uint32_t plan;
	uint32_t on_permille;
	/*
	 * Both of a cgroup, or -1: then the tree. They are open so that a thaw needs no
	 * descriptor.
	 */
	int freezer_fd;
	int events_fd;
	uint64_t dev, inode; /* of the cgroup */
	struct dl_tree tree;
	bool frozen;	   /* what we want just now */
	bool failed;	   /* it was never held: its end is told as FAILED */
	int32_t result;	   /* of its end */
	uint64_t lease_ns; /* when it ends */
	uint64_t period_ns;
	uint64_t edge_ns; /* the next change of the duty cycle, UINT64_MAX: none */
	uint64_t look_ns; /* when to look whether what was ordered has happened, UINT64_MAX: not */
	uint64_t verify_ns; /* until when that may take */
	uint64_t pause_ns;  /* between two such looks */
	uint64_t since_ns;  /* frozen since */
	uint64_t frozen_ns;
};

/* An end, or HELD, that is to be told; stage 0: nothing. */
typedef struct dl_guard_answer dl_hold_news;

/*
 * Takes the target of "order" ("dir_fd" becomes the hold's in any case). On success the slot is
 * FREEZING, with its times set, and nothing is frozen yet.
 */
int dl_hold_open(struct dl_hold *h, const struct dl_guard_order *order, int dir_fd,
		 uint64_t now_ns);

/* Whether "order" with "dir_fd" means what the hold has. */
bool dl_hold_same(const struct dl_hold *h, const struct dl_guard_order *order, int dir_fd);

/* Freezes for the first time. */
void dl_hold_begin(struct dl_hold *h, uint64_t now_ns);

int dl_hold_valid(const struct dl_guard_order *order);

/* New lease, plan and duty, all valid, of one that stands or is just thawing. */
void dl_hold_renew(struct dl_hold *h, const struct dl_guard_order *order, uint64_t now_ns);

/* Begins the end; what comes of it, dl_hold_step tells. */
void dl_hold_end(struct dl_hold *h, int result, uint64_t now_ns);

/* Does what is due. At its end the slot is free. */
dl_hold_news dl_hold_step(struct dl_hold *h, uint64_t now_ns);

/* When dl_hold_step wants to be called next, at the latest. */
uint64_t dl_hold_due_ns(const struct dl_hold *h);

/* Lets go of the target without looking what comes of it. */
void dl_hold_thaw(const struct dl_hold *h);

#endif
