/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of a failure: files in STATE/incidents, at most so many, the oldest go first.
 */
#ifndef DL_STORE_INCIDENT_H
#define DL_STORE_INCIDENT_H

#include <stddef.h>
#include <stdint.h>

#define DL_INCIDENT_BYTES (16u << 20) /* kept of one coredump */
#define DL_INCIDENTS_MAX  32

/*
 * Copies at most DL_INCIDENT_BYTES of "from" into a new file of the state folder and writes its
 * name. What was not copied is cut off. Returns the bytes kept, or -errno: then nothing is left
 * behind.
 */
int64_t dl_incident_keep(const char *state_dir, const char *from, const char *prefix,
			 char *ret_name, size_t size);

#endif
