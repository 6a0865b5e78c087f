/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undoes the effect of an open intent: for the next agent, for 'davylamp release --all', and for
 * the undo of an action. Verifies the identity first: the process's start time, the value that we
 * wrote. Waits at most 100 ms.
 */
#ifndef DAVY_UNDO_H
#define DAVY_UNDO_H

#include "core/event/intent.h"

/*
 * 0: undone and verified; 1: nothing to undo, "why" has the reason; -errno: failed, the intent
 * stays open.
 */
int davy_undo(const struct davy_intent *intent, const char *boot_id, char why[DAVY_REASON_LEN]);

#endif
