/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State machine of one freeze with a lease: freezing, frozen (with its duty cycle), thawing. Only
 * guard*.c include this. Never waits, never allocates; the caller passes the time (CLOCK_BOOTTIME).
 */
#ifndef DAVY_GUARD_FREEZE_H
#define DAVY_GUARD_FREEZE_H

#include "act/freeze.h"
#include "act/guard_order.h"

enum davy_freeze_state {
	DAVY_FREEZE_FREE = 0,
	DAVY_FREEZE_FREEZING = 1, /* ordered, not yet verified */
	DAVY_FREEZE_FROZEN = 2,
	DAVY_FREEZE_THAWING = 3,
};

struct davy_freeze {
	uint32_t state; /* enum davy_freeze_state; written last on open, first on release */
	uint32_t id;
	uint32_t plan;
	uint32_t on_permille;
	/* Files of a cgroup, kept open so that a thaw needs no new descriptor; -1: use the tree. */
	int freezer_fd;
	int events_fd;
	uint64_t dev, inode; /* identity of the cgroup */
	struct davy_tree tree;
	bool frozen;	   /* the wanted state */
	bool failed;	   /* never frozen: report FAILED at the end */
	int32_t result;	   /* reported at the end */
	uint64_t lease_ns; /* end of the lease */
	uint64_t period_ns;
	uint64_t edge_ns;   /* next edge of the duty cycle; UINT64_MAX: none */
	uint64_t look_ns;   /* next verification; UINT64_MAX: none */
	uint64_t verify_ns; /* time limit of the verification */
	uint64_t pause_ns;  /* interval of verifications */
	uint64_t since_ns;  /* frozen since */
	uint64_t frozen_ns;
};

/* The answer to send: FROZEN or an end; stage 0: none. */
typedef struct davy_guard_answer davy_freeze_news;

/*
 * Opens the target of "order"; takes "dir_fd" in any case. On success the slot is FREEZING with its
 * times set; nothing is frozen yet.
 */
int davy_freeze_open(struct davy_freeze *f, const struct davy_guard_order *order, int dir_fd,
		     uint64_t now_ns);

/* Whether "order" with "dir_fd" has the same target. */
bool davy_freeze_same(const struct davy_freeze *f, const struct davy_guard_order *order,
		      int dir_fd);

/* Freezes for the first time. */
void davy_freeze_begin(struct davy_freeze *f, uint64_t now_ns);

int davy_freeze_valid(const struct davy_guard_order *order);

/* Sets a new (validated) lease, plan and duty; also while thawing. */
void davy_freeze_renew(struct davy_freeze *f, const struct davy_guard_order *order,
		       uint64_t now_ns);

/* Begins the thaw; davy_freeze_step reports its result. */
void davy_freeze_end(struct davy_freeze *f, int result, uint64_t now_ns);

/* Does what is due. Frees the slot at the end. */
davy_freeze_news davy_freeze_step(struct davy_freeze *f, uint64_t now_ns);

/* Deadline of the next call of davy_freeze_step. */
uint64_t davy_freeze_due_ns(const struct davy_freeze *f);

/* Thaws the target without verification. */
void davy_freeze_thaw(const struct davy_freeze *f);

#endif
