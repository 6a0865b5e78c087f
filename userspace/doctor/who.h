/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose engine it is: user, groups, environment and surroundings of a service, a process or a user;
 * and children of ours that are like it. A child becomes that user before it runs anything that
 * the user could have a say in: libraries that the environment names are loaded by nobody else.
 */
#ifndef DAVY_WHO_H
#define DAVY_WHO_H

#include "sensors/proc/process_start.h"
#include "doctor/facts.h"

#define DAVY_WHO_ENV_MAX  1024
#define DAVY_WHO_FDS_MAX  4
#define DAVY_WHO_TEXT_MAX ((size_t)64 * 1024)

struct davy_who {
	struct davy_doctor_service *service; /* of the facts */
	struct davy_process_start *start;    /* of its process; NULL: none runs */
	char *envp[DAVY_WHO_ENV_MAX + 1];
	char text[DAVY_WHO_TEXT_MAX]; /* what envp points to, where it is systemd's */
	char exec[PATH_MAX];	      /* program of the unit's ExecStart, "" unknown */
	int mounts_fd;		      /* its mount namespace, where it is not ours; else -1 */
	int root_fd;		      /* its root, likewise */
	int cgroup_fd[2];	      /* cgroup.procs of v2, and of v1's devices; -1: not entered */
};

/* One of them; all NULL: a running engine, else whoever calls. */
struct davy_who_asked {
	const char *unit;
	const char *user; /* name, UID, UID:GID or UID:GID:GROUP,GROUP */
	const char *pid;
};

/* 0; -EINVAL, -ENOENT or what was met, with "why" filled; *ret_who is to be freed anyway. */
int davy_who_read(const struct davy_who_asked *asked, struct davy_doctor_service *service,
		  struct davy_who **ret_who, char why[DAVY_DOCTOR_WHY]);
void davy_who_free(struct davy_who *who);

/* NULL: it is not set. */
const char *davy_who_variable(const struct davy_who *who, const char *name);

/* who_systemd.c: what systemd says of a unit; fills user, groups, environment, main pid. */
int davy_who_ask_systemd(struct davy_who *who, const char *unit, char why[DAVY_DOCTOR_WHY]);

/* who_place.c: the cgroup, mounts and root of a process, as far as we may follow. */
void davy_who_place(struct davy_who *who, uint32_t pid);

/* Whether we can be like it: root can, and whoever is it already. */
bool davy_who_possible(const struct davy_who *who);

/*
 * Whether programs may be run as it; else why not. Root of a container is not: its loader and
 * libraries are the container's, and would run as root outside of the container's other walls.
 */
bool davy_who_may_run(const struct davy_who *who, const char **ret_why);

/*
 * In a child of ours: enters its cgroup and mounts, takes its user, groups and limits; what is open
 * above stderr stays. 0 or -errno. For good.
 */
int davy_who_become(const struct davy_who *who);

/* The descriptors that a child needs for it, at most DAVY_WHO_FDS_MAX; returns how many. */
size_t davy_who_fds(const struct davy_who *who, int *ret_fds);

/*
 * who_do.c: has a child that is like it call "work", and waits for it. "facts" are in shared memory
 * (davy_facts_new), so that what it has found stays, also when it hangs. 0; -EPERM: we cannot be
 * like it; -ETIMEDOUT: it was ended; or why it could not become it.
 */
int davy_who_do(const struct davy_who *who, struct davy_doctor_facts *facts, const char *what,
		void (*work)(struct davy_doctor_facts *facts, const struct davy_who *who));

/* All zero; NULL: no memory. */
struct davy_doctor_facts *davy_facts_new(void);
void davy_facts_free(struct davy_doctor_facts *facts);

#endif
