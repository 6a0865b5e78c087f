/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DL_VERBS_POLICY_CHECK_H
#define DL_VERBS_POLICY_CHECK_H

#include "core/event/config.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Each file by itself over the built-in values; without any, what an agent on this host would read.
 * Says what is wrong, or what differs. Exit status.
 */
int dl_policy_check(char *const *paths, size_t count, const char *state_dir, const char *config_dir,
		    bool json);

/* Has the agent read its files again. DL_EXIT_FAILED: refused, the reason has been said. */
int dl_policy_ask_reload(const char *socket_path, bool json);

/* Takes the thresholds of "--policy FILE" over; -errno, logged. */
int dl_thresholds_file_read(const char *path, struct dl_config *config);

#endif
