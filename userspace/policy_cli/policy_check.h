/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_POLICY_CHECK_H
#define DAVY_POLICY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Checks each file alone against the built-in values; without files, those that an agent on this
 * host would read. Prints errors, or the differences. Exit status.
 */
int davy_policy_check(char *const *paths, size_t count, const char *state_dir,
		      const char *config_dir, bool json);

/* Makes the agent read its files again. DAVY_EXIT_FAILED: refused, the reason is logged. */
int davy_policy_ask_reload(const char *socket_path, bool json);

#endif
