/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of failures in STATE/incidents: a limited number, the oldest are removed first. */
#ifndef DAVY_INCIDENT_DIR_H
#define DAVY_INCIDENT_DIR_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_INCIDENT_BYTES (16u << 20) /* limit for one coredump */
#define DAVY_INCIDENTS_MAX  32

/*
 * Copies at most DAVY_INCIDENT_BYTES of "from" into a new file of the state folder, and writes its
 * name. The rest is cut off. Returns the saved bytes, or -errno: then no file is left.
 */
int64_t davy_incident_keep(const char *state_dir, const char *from, const char *prefix,
			   char *ret_name, size_t size);

#endif
