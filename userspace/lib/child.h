/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place that starts child processes. A child gets the descriptors that its spec names and
 * no other, default signal dispositions, an empty signal mask and lower limits; the parent gets a
 * pid and a pidfd. No function here waits for a child longer than the limit that it states.
 * tests/lint/layers refuses fork() and its relatives elsewhere.
 */
#ifndef DAVY_CHILD_H
#define DAVY_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define DAVY_CHILD_FDS_MAX  16
#define DAVY_CHILD_START_MS 2000 /* an exec may hang: its file lies on a file system that does */
#define DAVY_CHILD_FAILED   127	 /* exit status of a child that could not be set up */

/* Values of "stdio" that are no descriptors. */
enum {
	DAVY_CHILD_DEFAULT = 0, /* stdin and stdout: /dev/null; stderr: the parent's */
	DAVY_CHILD_KEEP = -1,	/* the parent's, or /dev/null if the parent has none */
	DAVY_CHILD_NULL = -2,	/* /dev/null */
};

struct davy_child_limit {
	int resource; /* RLIMIT_AS, ... */
	rlim_t value; /* soft and hard limit; a lower limit that is in force stays */
};

/* All zero but "path" or "run" is a valid spec. */
struct davy_child_spec {
	/* The program; searched for in PATH if it has no slash. NULL: "run" is all that is done. */
	const char *path;
	char *const *argv;
	char *const *envp; /* NULL: the child's environment at the time of its exec */

	/*
	 * Runs in the child. Without "path" its result is the exit status. With "path" it runs
	 * before the exec, and its -errno is the result of davy_child_start; 0: go on.
	 */
	int (*run)(void *arg);
	void *arg;

	int stdio[3]; /* descriptors of the parent (not 0), or one of the values above */
	/* With "path" they become 3, 4, ...; without it they keep their numbers. */
	const int *fds;
	size_t fd_count;
	/* A user's command: it also gets all descriptors without close-on-exec. No "fds" then. */
	bool inherit_fds;

	const sigset_t *mask; /* NULL: empty */
	bool keep_ignored;    /* signals that are ignored stay so, except SIGPIPE and SIGCHLD */
	const struct davy_child_limit *limits;
	size_t limit_count;
	bool own_group;
	bool own_session;
	int death_signal; /* sent to the child when the parent dies; 0: none */
	const char *name; /* comm, up to 15 characters; without "path" only */
};

struct davy_child {
	pid_t pid; /* 0: none */
	int pidfd; /* close-on-exec, readable once the child has ended; -1: none */
};

/* All zero is none, too. */
#define DAVY_CHILD_NONE ((struct davy_child){ .pid = 0, .pidfd = -1 })

/*
 * Starts a child. With "path" it waits until the exec has succeeded or failed, at most
 * DAVY_CHILD_START_MS: an exec that fails later ends the child with DAVY_CHILD_FAILED. Without
 * "path" the child may not run yet. 0 or -errno, of the exec too.
 */
int davy_child_start(const struct davy_child_spec *spec, struct davy_child *ret_child);

/*
 * The same with a pipe as the child's stdout. Returns the descriptor to read from, close-on-exec
 * and with the file status "flags" (O_NONBLOCK or 0), or -errno.
 */
int davy_child_start_piped(const struct davy_child_spec *spec, int flags,
			   struct davy_child *ret_child);

/* Signals the child and its process group, if it leads one. No effect without a child. */
void davy_child_kill(const struct davy_child *child, int signal);

/*
 * 1: the child has ended and is reaped; 0: it lives, or there is none. The wait status is written
 * if "ret_status" is not NULL. Closes the pidfd.
 */
int davy_child_reap(struct davy_child *child, int *ret_status);

/* The same, but waits for the end up to "timeout_ms". 1, or 0 if the child still lives. */
int davy_child_wait(struct davy_child *child, int timeout_ms, int *ret_status);

/*
 * Sends SIGKILL and waits up to "timeout_ms". A child that still lives then (D state) is given to
 * davy_child_leave(). 0, or -ETIMEDOUT for such a child. "child" is empty afterwards.
 */
int davy_child_end(struct davy_child *child, int timeout_ms);

/*
 * Gives the child up: davy_child_reap_left() reaps it after its end. "child" is empty afterwards.
 */
void davy_child_leave(struct davy_child *child);

/* Reaps what was left and has ended; each start does so, too. Returns how many still live. */
size_t davy_child_reap_left(void);

/* Gives the pidfd to the caller, who closes it; -1 if there is none. */
int davy_child_take_pidfd(struct davy_child *child);

#endif
