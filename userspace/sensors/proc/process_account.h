/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user who answers for a process. Tables that users share are divided by it, so a user must not
 * be able to look like several, or like root.
 */
#ifndef DAVY_PROCESS_ACCOUNT_H
#define DAVY_PROCESS_ACCOUNT_H

#include <stdint.h>

/*
 * The real user id: an effective one is root's in a set-user-ID program, and the owner of /proc/PID
 * is root for a process that cannot be dumped. In user namespaces the user who made the outermost
 * one: newuidmap gives a user 65536 ids there. 0 also for a process that is gone.
 */
uint32_t davy_process_account(uint32_t pid);

#endif
