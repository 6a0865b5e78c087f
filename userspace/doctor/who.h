/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's user: user, groups, environment, mounts and cgroup of a service, process or user;
 * and our children that take them over. A child changes its user before it runs anything that the
 * user can influence, such as libraries named in the environment.
 */
#ifndef DAVY_WHO_H
#define DAVY_WHO_H

#include "sensors/proc/process_start.h"
#include "doctor/facts.h"

#define DAVY_WHO_ENV_MAX  1024
#define DAVY_WHO_FDS_MAX  4
#define DAVY_WHO_TEXT_MAX ((size_t)64 * 1024)

struct davy_who {
	struct davy_doctor_service *service; /* points into the facts */
	struct davy_process_start *start;    /* of its process; NULL: not running */
	char *envp[DAVY_WHO_ENV_MAX + 1];
	char text[DAVY_WHO_TEXT_MAX]; /* storage for envp, if read from systemd */
	char exec[PATH_MAX];	      /* program of the unit's ExecStart, "" unknown */
	int mounts_fd;		      /* its mount namespace; -1: the same as ours */
	int root_fd;		      /* its root; -1: the same as ours */
	int cgroup_fd[2];	      /* cgroup.procs of v2, and of v1's devices; -1: not entered */
};

/* One of these. All NULL: the running engine, else the caller. */
struct davy_who_asked {
	const char *unit;
	const char *user; /* name, UID, UID:GID or UID:GID:GROUP,GROUP */
	const char *pid;
};

/* 0 or -errno with "why" filled. The caller frees *ret_who in any case. */
int davy_who_read(const struct davy_who_asked *asked, struct davy_doctor_service *service,
		  struct davy_who **ret_who, char why[DAVY_DOCTOR_WHY]);
void davy_who_free(struct davy_who *who);

/* NULL: not set. */
const char *davy_who_variable(const struct davy_who *who, const char *name);

/* who_systemd.c: reads user, groups, environment and main pid of a unit from systemd. */
int davy_who_ask_systemd(struct davy_who *who, const char *unit, char why[DAVY_DOCTOR_WHY]);

/* who_place.c: cgroup, mounts and root of a process, if we may enter them. */
void davy_who_place(struct davy_who *who, uint32_t pid);

/* Whether a child can take over this user: as root, or if it is our user. */
bool davy_who_possible(const struct davy_who *who);

/*
 * Whether programs may run as it; if not, why. Root in a container may not: the container's loader
 * and libraries would run as root outside of the container's confinement.
 */
bool davy_who_may_run(const struct davy_who *who, const char **ret_why);

/*
 * Called in a child: enters cgroup and mounts, sets user, groups and limits permanently. Open files
 * above stderr stay open. 0 or -errno.
 */
int davy_who_become(const struct davy_who *who);

/* The descriptors that davy_who_become() needs, at most DAVY_WHO_FDS_MAX. Returns the count. */
size_t davy_who_fds(const struct davy_who *who, int *ret_fds);

/*
 * who_do.c: calls "work" in a child like "who" and waits for it. "facts" are in shared memory
 * (davy_facts_new), so that results survive a hang. 0; -EPERM: not possible; -ETIMEDOUT: killed; or
 * the error of davy_who_become().
 */
int davy_who_do(const struct davy_who *who, struct davy_doctor_facts *facts, const char *what,
		void (*work)(struct davy_doctor_facts *facts, const struct davy_who *who));

/* Zeroed; NULL: out of memory. */
struct davy_doctor_facts *davy_facts_new(void);
void davy_facts_free(struct davy_doctor_facts *facts);

#endif
