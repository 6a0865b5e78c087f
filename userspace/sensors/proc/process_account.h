/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user who is charged for a process. Shared tables are divided by it, so a user must not be
 * able to imitate other users or root.
 */
#ifndef DAVY_PROCESS_ACCOUNT_H
#define DAVY_PROCESS_ACCOUNT_H

#include <stdint.h>

/*
 * The real user id. The effective one is root's in a set-user-ID program, and the owner of
 * /proc/PID is root for a process that is not dumpable. In user namespaces, the user who created
 * the outermost one: newuidmap gives a user 65536 ids there. 0 also if the process is gone.
 */
uint32_t davy_process_account(uint32_t pid);

#endif
