/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the cgroup of a service, if children may enter it as root. For who_place.c. */
#ifndef DAVY_WHO_CGROUP_H
#define DAVY_WHO_CGROUP_H

enum davy_who_cgroup {
	DAVY_WHO_CGROUP_OURS = 0, /* a unit's, controlled by root alone */
	DAVY_WHO_CGROUP_STRANGERS = 1,
	DAVY_WHO_CGROUP_FROZEN = 2, /* it, or one above it, regardless of its owner */
	DAVY_WHO_CGROUP_FULL = 3,   /* less than 1 GiB is left of its memory limit */
	DAVY_WHO_CGROUP_GONE = 4,
};

/*
 * "path" below "mount", of any hierarchy. Opens its cgroup.procs if the cgroup is OURS; *ret_fd is
 * -1 otherwise.
 */
enum davy_who_cgroup davy_who_cgroup_open(const char *mount, const char *path, int *ret_fd);

#endif
