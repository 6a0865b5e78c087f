/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/fleet_status.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "store/policy_file.h"

json_t *davy_fleet_status_read(const char *state_dir, const char **ret_why)
{
	char path[PATH_MAX], *text = malloc(DAVY_FLEET_STATUS_MAX + 1);
	json_t *status = NULL;
	ssize_t n = -ENOMEM;

	if (text && snprintf(path, sizeof(path), "%s/" DAVY_FLEET_NAME "/" DAVY_FLEET_STATUS,
			     state_dir) < (int)sizeof(path))
		n = davy_read_whole(path, text, DAVY_FLEET_STATUS_MAX + 1);
	*ret_why = n < 0 ? strerror((int)-n) : "it is no JSON object";
	if (n >= 0)
		status = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (json_is_object(status))
		return status;
	json_decref(status);
	return NULL;
}
