/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors 0, 1 and 2. If the caller closed one of them, the next opened file gets its number
 * and receives the program's output. Every main() calls this first.
 */
#ifndef DAVY_STANDARD_FDS_H
#define DAVY_STANDARD_FDS_H

/* Opens /dev/null for each closed one. 0, or -errno: then the program must not open any file. */
int davy_standard_fds_open(void);

#endif
