/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services that the running agent controls; each function returns an exit status. */
#ifndef DAVY_POLICY_UNIT_H
#define DAVY_POLICY_UNIT_H

#include <stdbool.h>

int davy_policy_adopt(const char *socket_path, const char *unit, bool json);
int davy_policy_release(const char *socket_path, const char *unit, bool json);
int davy_policy_adopted(const char *socket_path, bool json);

#endif
