/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors 0, 1 and 2. Where the caller closed one of them, the next file that is opened gets
 * its number, and what is printed goes into that file. Every main() calls this first.
 */
#ifndef DAVY_STANDARD_FDS_H
#define DAVY_STANDARD_FDS_H

/* Opens /dev/null for each that is closed. 0, or -errno: nothing may be opened then. */
int davy_standard_fds_open(void);

#endif
