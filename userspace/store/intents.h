/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of intents, in the database of the state directory. An intent is in it before its act
 * begins and open until the act's effect is gone (intent.h), so whoever comes after a killed
 * agent knows what to undo. Closed ones are kept for people, the last DAVY_INTENTS_KEPT of them.
 *
 * Errors are those of db.h. What a power failure takes away of the log was an act on
 * processes and kernel files that went with it.
 */
#ifndef DAVY_INTENTS_H
#define DAVY_INTENTS_H

#include <stddef.h>

#include "core/event/intent.h"

#define DAVY_INTENTS_KEPT 1000
#define DAVY_INTENTS_OPEN 256 /* at a time; more are refused */

struct davy_intents;

/* Opens or makes DIR/davylamp.db; a read-only one is opened, and refuses davy_intent_begin. */
int davy_intents_open(const char *dir, struct davy_intents **ret_intents);
void davy_intents_close(struct davy_intents *intents);

/* The id, greater than 0, or -errno: then the act must not begin. Fills id, time and boot in. */
int64_t davy_intent_begin(struct davy_intents *intents, struct davy_intent *intent);

/* A hold that goes on; 0, or -ENOENT when it is not open any more. */
int davy_intent_renew(struct davy_intents *intents, int64_t id, uint64_t lease_until_ns);

/* "result": 0 or -errno, how it ended. 0, or -ENOENT when it is not open. */
int davy_intent_close(struct davy_intents *intents, int64_t id, int result);

/*
 * Calls "found" for every open intent, oldest first; it may close it. What is in no form that
 * davy_intent_begin writes is closed with -EBADMSG and not shown. Returns how many were shown.
 */
int davy_intents_each_open(struct davy_intents *intents,
			   void (*found)(void *arg, const struct davy_intent *intent), void *arg);

/* This boot's id; "" when the kernel does not tell. */
void davy_boot_id(char ret_id[DAVY_BOOT_ID_LEN]);

#endif
