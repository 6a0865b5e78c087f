/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident memory of a process that lives for months. */
#ifndef DAVY_RESIDENT_H
#define DAVY_RESIDENT_H

/*
 * After work that is done once, such as the start: returns freed memory to the kernel, and unmaps
 * the pages of programs and libraries. Those that are used again come back from the page cache.
 */
void davy_resident_shed(void);

#endif
