/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_POLICY_CHECK_H
#define DAVY_POLICY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Each file by itself over the built-in values; without any, what an agent on this host would read.
 * Says what is wrong, or what differs. Exit status.
 */
int davy_policy_check(char *const *paths, size_t count, const char *state_dir,
		      const char *config_dir, bool json);

/* Has the agent read its files again. DAVY_EXIT_FAILED: refused, the reason has been said. */
int davy_policy_ask_reload(const char *socket_path, bool json);

#endif
