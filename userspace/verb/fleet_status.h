/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of davylamp-fleet, a file of the state directory. */
#ifndef DAVY_FLEET_STATUS_H
#define DAVY_FLEET_STATUS_H

#include <jansson.h>

#define DAVY_FLEET_STATUS_MAX ((size_t)256 * 1024) /* bytes */

/* A new reference; NULL: there is none, or it is no JSON object; "why" says which. */
json_t *davy_fleet_status_read(const char *state_dir, const char **ret_why);

#endif
