/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of an engine under davylamp exec: start, agent's orders, signals, end. */
#ifndef DL_VERBS_SUPERVISE_H
#define DL_VERBS_SUPERVISE_H

#include "../act/launch.h"

/*
 * Starts the engine and stays until it has ended for good. Returns the exit status to end with: the
 * engine's own, 128 + signal when one killed it, 126 or 127 when it could not be started.
 */
int dl_supervise(struct dl_launch *launch, const char *socket_path);

#endif
