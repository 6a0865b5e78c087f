/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of a failure: files in STATE/incidents, at most so many, the oldest go first.
 */
#ifndef DAVY_INCIDENT_DIR_H
#define DAVY_INCIDENT_DIR_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_INCIDENT_BYTES (16u << 20) /* kept of one coredump */
#define DAVY_INCIDENTS_MAX  32

/*
 * Copies at most DAVY_INCIDENT_BYTES of "from" into a new file of the state folder and writes its
 * name. What was not copied is cut off. Returns the bytes kept, or -errno: then nothing is left
 * behind.
 */
int64_t davy_incident_keep(const char *state_dir, const char *from, const char *prefix,
			   char *ret_name, size_t size);

#endif
