/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program davylamp-guard; what it does is told in act/guard.h. */
#ifndef DL_GUARD_GUARD_H
#define DL_GUARD_GUARD_H

#include "../act/guard.h"

/* The guard's life; returns its exit status. */
int dl_guard_run(int fd);

#endif
