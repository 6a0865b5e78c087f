/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup of a service, as far as children that are still root may enter it. For who_place.c. */
#ifndef DAVY_WHO_CGROUP_H
#define DAVY_WHO_CGROUP_H

enum davy_who_cgroup {
	DAVY_WHO_CGROUP_OURS = 0, /* a unit's that root alone controls */
	DAVY_WHO_CGROUP_STRANGERS = 1,
	DAVY_WHO_CGROUP_FROZEN = 2, /* it, or one above it; whoever controls it */
	DAVY_WHO_CGROUP_FULL = 3,   /* less than 1 GiB is left of its memory limit */
	DAVY_WHO_CGROUP_GONE = 4,
};

/*
 * "path" below "mount", of any hierarchy. Opens its cgroup.procs if the cgroup is OURS; *ret_fd is
 * -1 otherwise.
 */
enum davy_who_cgroup davy_who_cgroup_open(const char *mount, const char *path, int *ret_fd);

#endif
