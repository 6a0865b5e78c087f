/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may have how many uprobes: a table of slots, one for each place in a library file that
 * carries a uprobe, and of the processes that map these files. Pure: it attaches nothing; time
 * comes from the caller. Rules:
 *
 * - A process of a workload claims for its workload, any other process for its user. A workload
 *   holds DAVY_PROBE_QUOTA slots at most, a user other than root as well.
 * - A slot that a workload claims is never taken away.
 * - A full table gives up slots that no process claims any more, and then the oldest slot of the
 *   user with the most slots. The newcomer counts: a user with the most slots loses one of its own.
 * - A process that lost a slot, or was refused one, gets it back only when there is room.
 * - A user other than root has a limited rate of new slots: to attach and to detach takes the
 * kernel
 *   milliseconds.
 */
#ifndef DAVY_PROBE_SLOTS_H
#define DAVY_PROBE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_PROBE_SLOTS    256
#define DAVY_PROBE_QUOTA    64
#define DAVY_PROBE_CLAIMS   512 /* processes */
#define DAVY_PROBE_KINDS    32
#define DAVY_PROBE_BURST    24		       /* new slots at once, of one user */
#define DAVY_PROBE_RATE_NS  (250 * 1000000ULL) /* and one more each */
#define DAVY_PROBE_ACCOUNTS 64

struct davy_probe_owner {
	uint32_t pid;
	uint32_t uid;	   /* the user who answers for it */
	uint32_t workload; /* 0: none */
};

struct davy_probe_site {
	uint64_t dev, ino;
	uint32_t kind; /* below DAVY_PROBE_KINDS */
	uint64_t offset;
};

struct davy_probe_slot {
	struct davy_probe_site site;
	uint64_t serial; /* 0: free; a higher one is younger */
};

struct davy_probe_claims {
	struct davy_probe_owner owner; /* pid 0: empty */
	uint32_t lost;		       /* 1 << kind: taken away or refused */
	uint32_t tried;		       /* of these: to be had again only when there is room */
	uint64_t held[DAVY_PROBE_SLOTS / 64];
};

/* When the account may have all its burst again. */
struct davy_probe_account {
	uint32_t uid;
	uint64_t full_ns;
};

struct davy_probe_slots {
	struct davy_probe_slot slot[DAVY_PROBE_SLOTS];
	struct davy_probe_claims claims[DAVY_PROBE_CLAIMS];
	struct davy_probe_account account[DAVY_PROBE_ACCOUNTS];
	uint64_t serial;
	uint64_t change_count; /* of what processes hold, and of room */
	uint64_t evicted_count;
	uint64_t refused_count;
	uint32_t last_uid; /* whom the last eviction or refusal was about */
};

/*
 * 1: *ret_slot is new and the caller attaches there (what was attached there before goes), or tells
 * davy_probe_slots_drop; 0: another process maps the same file, the slot is shared. -EDQUOT: the
 * quota is used up; -ENOSPC: no slot is to be had; -EAGAIN: too many in a short time.
 */
int davy_probe_slots_claim(struct davy_probe_slots *s, const struct davy_probe_owner *owner,
			   const struct davy_probe_site *site, uint64_t now_ns, size_t *ret_slot);

/*
 * A process has become a workload's, or another user's, since it claimed: a workload takes its
 * slots along, any other account must claim them.
 */
void davy_probe_slots_owner(struct davy_probe_slots *s, const struct davy_probe_owner *owner);

/* Nothing could be attached there. */
void davy_probe_slots_drop(struct davy_probe_slots *s, size_t slot);

/* The process ended, runs another program, or is not followed any more. Its slots stay attached. */
void davy_probe_slots_gone(struct davy_probe_slots *s, uint32_t pid);

/* Frees one slot that no process claims; false: there is none. The caller detaches. */
bool davy_probe_slots_free_idle(struct davy_probe_slots *s, size_t *ret_slot);

bool davy_probe_slots_holds(const struct davy_probe_slots *s, uint32_t pid, uint32_t kind);

/* It mapped such a file and has no slot for it. */
bool davy_probe_slots_lost(const struct davy_probe_slots *s, uint32_t pid);

size_t davy_probe_slots_used(const struct davy_probe_slots *s);

#endif
