/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One hold of the guard, step by step: freezing, held (with its duty cycle), thawing. Only guard*.c
 * include this. Nothing here waits or takes memory; time is what the caller says (CLOCK_BOOTTIME).
 */
#ifndef DAVY_GUARD_HOLD_H
#define DAVY_GUARD_HOLD_H

#include "act/freeze.h"
#include "act/guard_order.h"

enum davy_hold_state {
	DAVY_HOLD_FREE = 0,
	DAVY_HOLD_FREEZING = 1, /* ordered, not yet seen */
	DAVY_HOLD_HELD = 2,
	DAVY_HOLD_THAWING = 3,
};

struct davy_hold {
	uint32_t state; /* enum davy_hold_state; written last, and first when it is freed */
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
	struct davy_tree tree;
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
typedef struct davy_guard_answer davy_hold_news;

/*
 * Takes the target of "order" ("dir_fd" becomes the hold's in any case). On success the slot is
 * FREEZING, with its times set, and nothing is frozen yet.
 */
int davy_hold_open(struct davy_hold *h, const struct davy_guard_order *order, int dir_fd,
		   uint64_t now_ns);

/* Whether "order" with "dir_fd" means what the hold has. */
bool davy_hold_same(const struct davy_hold *h, const struct davy_guard_order *order, int dir_fd);

/* Freezes for the first time. */
void davy_hold_begin(struct davy_hold *h, uint64_t now_ns);

int davy_hold_valid(const struct davy_guard_order *order);

/* New lease, plan and duty, all valid, of one that stands or is just thawing. */
void davy_hold_renew(struct davy_hold *h, const struct davy_guard_order *order, uint64_t now_ns);

/* Begins the end; what comes of it, davy_hold_step tells. */
void davy_hold_end(struct davy_hold *h, int result, uint64_t now_ns);

/* Does what is due. At its end the slot is free. */
davy_hold_news davy_hold_step(struct davy_hold *h, uint64_t now_ns);

/* When davy_hold_step wants to be called next, at the latest. */
uint64_t davy_hold_due_ns(const struct davy_hold *h);

/* Lets go of the target without looking what comes of it. */
void davy_hold_thaw(const struct davy_hold *h);

#endif
