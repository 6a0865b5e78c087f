/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes back what an open intent may have left behind: by the next agent, by 'davylamp release
 * --all', and when an act is undone. Whoever it touches must be who it was: the process with that
 * start time, the value that we wrote. Nothing here waits longer than 100 ms.
 */
#ifndef DAVY_UNDO_H
#define DAVY_UNDO_H

#include "core/event/intent.h"

/*
 * 0: undone, and seen to be; 1: there was nothing to undo (any more), "why" says why; -errno: it
 * failed, the intent stays open.
 */
int davy_undo(const struct davy_intent *intent, const char *boot_id, char why[DAVY_REASON_LEN]);

#endif
