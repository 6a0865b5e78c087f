/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services put into the running agent's care; each returns an exit status. */
#ifndef DL_VERBS_POLICY_UNIT_H
#define DL_VERBS_POLICY_UNIT_H

#include <stdbool.h>

int dl_policy_adopt(const char *socket_path, const char *unit, bool json);
int dl_policy_release(const char *socket_path, const char *unit, bool json);
int dl_policy_adopted(const char *socket_path, bool json);

#endif
