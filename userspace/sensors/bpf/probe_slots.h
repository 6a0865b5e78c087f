/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may have how many uprobes: a table of slots, one for each function of a library file that
 * carries a uprobe, and of the processes that map these files. Pure: it attaches nothing; time
 * comes from the caller. Rules:
 *
 * - A process of a workload claims for its workload, any other process for its user. A workload
 *   holds DL_PROBE_QUOTA slots at most, a user other than root as well.
 * - A slot that a workload claims is never taken away.
 * - A full table gives up slots that no process claims any more, and then the oldest slot of the
 *   user with the most slots. The newcomer counts: a user with the most slots loses one of its own.
 * - A process that lost a slot, or was refused one, gets it back only when there is room.
 * - A user other than root has a limited rate of new slots: to attach and to detach takes the
 * kernel
 *   milliseconds.
 */
#ifndef DL_SENSORS_PROBE_SLOTS_H
#define DL_SENSORS_PROBE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DL_PROBE_SLOTS	  256
#define DL_PROBE_QUOTA	  64
#define DL_PROBE_CLAIMS	  512 /* processes */
#define DL_PROBE_KINDS	  32
#define DL_PROBE_BURST	  24		     /* new slots at once, of one user */
#define DL_PROBE_RATE_NS  (250 * 1000000ULL) /* and one more each */
#define DL_PROBE_ACCOUNTS 64

struct dl_probe_owner {
	uint32_t pid;
	uint32_t uid;	   /* the user who answers for it */
	uint32_t workload; /* 0: none */
};

struct dl_probe_site {
	uint64_t dev, ino;
	uint32_t kind; /* below DL_PROBE_KINDS */
};

struct dl_probe_slot {
	struct dl_probe_site site;
	uint64_t serial; /* 0: free; a higher one is younger */
};

struct dl_probe_claims {
	struct dl_probe_owner owner; /* pid 0: empty */
	uint32_t lost;		     /* 1 << kind: taken away or refused */
	uint32_t tried;		     /* of these: to be had again only when there is room */
	uint64_t held[DL_PROBE_SLOTS / 64];
};

/* When the account may have all its burst again. */
struct dl_probe_account {
	uint32_t uid;
	uint64_t full_ns;
};

struct dl_probe_slots {
	struct dl_probe_slot slot[DL_PROBE_SLOTS];
	struct dl_probe_claims claims[DL_PROBE_CLAIMS];
	struct dl_probe_account account[DL_PROBE_ACCOUNTS];
	uint64_t serial;
	uint64_t change_count; /* of what processes hold, and of room */
	uint64_t evicted_count;
	uint64_t refused_count;
	uint32_t last_uid; /* whom the last eviction or refusal was about */
};

/*
 * 1: *ret_slot is new and the caller attaches there (what was attached there before goes), or tells
 * dl_probe_slots_drop; 0: another process maps the same file, the slot is shared. -EDQUOT: the
 * quota is used up; -ENOSPC: no slot is to be had; -EAGAIN: too many in a short time.
 */
int dl_probe_slots_claim(struct dl_probe_slots *s, const struct dl_probe_owner *owner,
			 const struct dl_probe_site *site, uint64_t now_ns, size_t *ret_slot);

/*
 * A process has become a workload's, or another user's, since it claimed: a workload takes its
 * slots along, any other account must claim them.
 */
void dl_probe_slots_owner(struct dl_probe_slots *s, const struct dl_probe_owner *owner);

/* Nothing could be attached there. */
void dl_probe_slots_drop(struct dl_probe_slots *s, size_t slot);

/* The process ended, runs another program, or is not followed any more. Its slots stay attached. */
void dl_probe_slots_gone(struct dl_probe_slots *s, uint32_t pid);

/* Frees one slot that no process claims; false: there is none. The caller detaches. */
bool dl_probe_slots_free_idle(struct dl_probe_slots *s, size_t *ret_slot);

bool dl_probe_slots_holds(const struct dl_probe_slots *s, uint32_t pid, uint32_t kind);

/* It mapped such a file and has no slot for it. */
bool dl_probe_slots_lost(const struct dl_probe_slots *s, uint32_t pid);

size_t dl_probe_slots_used(const struct dl_probe_slots *s);

#endif
