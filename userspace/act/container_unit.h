/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopted containers, in the place of systemd units: davylamp-container, a child without
 * capabilities, passes one request to the container's runtime and ends. Never waits.
 */
#ifndef DAVY_CONTAINER_CLIENT_H
#define DAVY_CONTAINER_CLIENT_H

#include <string.h>
#include <systemd/sd-event.h>

#include "act/unit.h"

/* A line of the environment file: the next container gets no GPU. */
#define DAVY_CONTAINER_CPU_ONLY "DAVYLAMP_CPU_ONLY=1"

/*
 * The length of "docker:", "podman:" or "pod:" in front of a name; 0: another unit. Only a name of
 * a pod has "/".
 */
size_t davy_container_unit(const char *unit);

/* Its name in file names; returns "name". No name has "=". */
static inline const char *davy_container_file_name(const char *unit, char name[DAVY_UNIT_LEN])
{
	davy_copy_name(name, DAVY_UNIT_LEN, unit);
	for (char *at = name; (at = strchr(at, '/'));)
		*at = '=';
	return name;
}

/*
 * "operation" of davylamp-container, with the environment files of "dir". On success "done" is
 * called once, from the loop, with the container's state also after a change; otherwise returns
 * -errno.
 */
int davy_container_request(sd_event *loop, const char *dir, const char *operation, const char *unit,
			   uint32_t limit_ms, davy_unit_done done, void *arg);

#endif
