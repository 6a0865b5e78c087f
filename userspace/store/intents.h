/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of intents, in the database of the state directory. An intent is stored before its act
 * begins and stays open until the effect of the act has ended (intent.h). After a killed agent, the
 * next one therefore knows what to undo. The last DAVY_INTENTS_KEPT closed intents are kept for
 * operators.
 *
 * Errors are those of db.h. After a power failure, lost intents concern processes and kernel files
 * that are gone too.
 */
#ifndef DAVY_INTENTS_H
#define DAVY_INTENTS_H

#include <stddef.h>

#include "core/event/intent.h"

#define DAVY_INTENTS_KEPT 1000
#define DAVY_INTENTS_OPEN 256 /* open at the same time; more are refused */

struct davy_intents;

/*
 * Opens or creates DIR/davylamp.db. If it is read-only, it is opened and davy_intent_begin() fails.
 */
int davy_intents_open(const char *dir, struct davy_intents **ret_intents);
void davy_intents_close(struct davy_intents *intents);

/* The id, greater than 0, or -errno: then the act must not begin. Sets id, time and boot. */
int64_t davy_intent_begin(struct davy_intents *intents, struct davy_intent *intent);

/* "result": 0 or -errno of the act. 0, or -ENOENT if it is not open. */
int davy_intent_close(struct davy_intents *intents, int64_t id, int result);

/*
 * Calls "found" for every open intent, latest first; it may close it. A row in another form than
 * davy_intent_begin() writes is closed with -EBADMSG and skipped. Returns the number of calls.
 */
int davy_intents_each_open(struct davy_intents *intents,
			   void (*found)(void *arg, const struct davy_intent *intent), void *arg);

/* The id of this boot; "" if the kernel does not provide it. */
void davy_boot_id(char ret_id[DAVY_BOOT_ID_LEN]);

#endif
