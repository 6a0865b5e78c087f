/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place that starts child processes. A child gets the descriptors that its spec names,
 * default signal dispositions, an empty signal mask and lowered limits. The parent gets a pid and a
 * pidfd. No function here waits for a child longer than its stated limit. tests/lint/layers refuses
 * fork() and similar calls elsewhere.
 */
#ifndef DAVY_CHILD_H
#define DAVY_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define DAVY_CHILD_FDS_MAX  16
#define DAVY_CHILD_START_MS 2000 /* an exec hangs if the file system of the program hangs */
#define DAVY_CHILD_FAILED   127	 /* exit status of a child that could not be set up */

/* Special values of "stdio". */
enum {
	DAVY_CHILD_DEFAULT = 0, /* stdin and stdout: /dev/null; stderr: the parent's */
	DAVY_CHILD_KEEP = -1,	/* the parent's, or /dev/null if the parent has none */
	DAVY_CHILD_NULL = -2,	/* /dev/null */
};

struct davy_child_limit {
	int resource; /* RLIMIT_AS, ... */
	rlim_t value; /* soft and hard limit; never raises a lower existing limit */
};

/* A spec needs only "path" or "run"; all other members may be zero. */
struct davy_child_spec {
	/* The program; searched in PATH if it contains no slash. NULL: only call "run". */
	const char *path;
	char *const *argv;
	char *const *envp; /* NULL: the child's environment at the time of exec */

	/*
	 * Runs in the child. Without "path", its result is the exit status. With "path", it runs
	 * before the exec; davy_child_start returns its -errno, 0 continues.
	 */
	int (*run)(void *arg);
	void *arg;

	/*
	 * Runs in the parent after "run" has succeeded; the child waits for its end before exec.
	 * Needs "path" and "inherit_fds".
	 */
	void (*before_exec)(void *arg, pid_t pid);

	int stdio[3]; /* descriptors of the parent (not 0), or special values */
	/* With "path" they become 3, 4, ...; without it they keep their numbers. */
	const int *fds;
	size_t fd_count;
	/* For a user's command: inherit all descriptors without close-on-exec. Excludes "fds". */
	bool inherit_fds;

	const sigset_t *mask; /* NULL: empty */
	bool keep_ignored;    /* ignored signals stay ignored, except SIGPIPE and SIGCHLD */
	const struct davy_child_limit *limits;
	size_t limit_count;
	bool own_group;
	bool own_session;
	int death_signal; /* sent to the child when the parent dies; 0: none */
	const char *name; /* comm, up to 15 characters; without "path" only */
};

struct davy_child {
	pid_t pid; /* 0: none */
	int pidfd; /* close-on-exec, readable when the child has ended; -1: none */
};

/* A zeroed struct also means "none". */
#define DAVY_CHILD_NONE ((struct davy_child){ .pid = 0, .pidfd = -1 })

/*
 * Starts a child. With "path", waits until the exec succeeds or fails, at most DAVY_CHILD_START_MS.
 * If the exec fails later, the child exits with DAVY_CHILD_FAILED. Without "path", the child may
 * not have run yet. Returns 0 or -errno, also for a failed exec.
 */
int davy_child_start(const struct davy_child_spec *spec, struct davy_child *ret_child);

/*
 * Like davy_child_start, with a pipe as stdout. Returns the read end, which is close-on-exec and
 * has the file status "flags" (O_NONBLOCK or 0), or -errno.
 */
int davy_child_start_piped(const struct davy_child_spec *spec, int flags,
			   struct davy_child *ret_child);

/* Signals the child and the process group that it leads. No effect without a child. */
void davy_child_kill(const struct davy_child *child, int signal);

/*
 * 1: the child has ended and is reaped; the pidfd is closed. 0: it runs, or there is no child.
 * Stores the wait status if "ret_status" is not NULL.
 */
int davy_child_reap(struct davy_child *child, int *ret_status);

/* Like davy_child_reap, but waits up to "timeout_ms". 0 if the child still runs. */
int davy_child_wait(struct davy_child *child, int timeout_ms, int *ret_status);

/*
 * Sends SIGKILL and waits up to "timeout_ms". Calls davy_child_leave() if the child still runs (D
 * state) and returns -ETIMEDOUT, otherwise 0. "child" is empty afterwards.
 */
int davy_child_end(struct davy_child *child, int timeout_ms);

/* Stops tracking the child. davy_child_reap_left() reaps it later. "child" is empty afterwards. */
void davy_child_leave(struct davy_child *child);

/* Reaps abandoned children that have ended. Each start calls it. Returns how many still run. */
size_t davy_child_reap_left(void);

/* Transfers the pidfd to the caller, who must close it. -1: none. */
int davy_child_take_pidfd(struct davy_child *child);

#endif
