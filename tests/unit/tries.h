/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child changes files. At its n-th change of a file the call fails, the disk is full
 * from then on, or the child is killed before or within it; n = 1, 2, ... until none is left. The
 * result is the old or the new state; it is the new one if the child reported success.
 */
#ifndef TESTS_UNIT_TRIES_H
#define TESTS_UNIT_TRIES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "faults.h"

#include "store/adopted.h"
#include "store/db.h"
#include "store/generated.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "root.h"

#define BEFORE	  "/before"
#define CALLS_MAX 400

/* A change that is tried; DIR is a copy of BEFORE, which "prepare" has filled. */
struct subject {
	void (*prepare)(void);
	int (*act)(void);     /* in the child: 0 or more, or -errno */
	void (*check)(void);  /* before anything is repaired: no file is torn */
	bool (*is_new)(void); /* asserts that it is old otherwise */
	bool late;	      /* it may be done and fail: the sync of the directory comes last */
};

static char dir[32]; /* below root, another for each try */

static void path_in(char *path, size_t size, const char *where, const char *name)
{
	assert_true(snprintf(path, size, "%s%s/%s", root, where, name) < (int)size);
}

static bool there(const char *name)
{
	char path[256];

	path_in(path, sizeof(path), dir, name);
	return !access(path, F_OK);
}

static const char *content(const char *name)
{
	static char text[DAVY_GENERATED_MAX];
	char path[256];

	path_in(path, sizeof(path), dir, name);
	return davy_read_file(path, text, sizeof(text)) < 0 ? NULL : text;
}

static bool holds(const char *name, const char *text)
{
	const char *is = content(name);

	return text ? is && !strcmp(is, text) : !is;
}

static void copy_file(const char *name)
{
	char from[256], to[256], text[256 * 1024];
	struct stat st;
	int in, out;
	ssize_t n;

	path_in(from, sizeof(from), BEFORE, name);
	path_in(to, sizeof(to), dir, name);
	if (stat(from, &st))
		return;
	in = open(from, O_RDONLY);
	out = open(to, O_WRONLY | O_CREAT, 0600);
	n = read(in, text, sizeof(text));
	assert_true(n >= 0 && n == st.st_size);
	assert_int_equal(davy_write_all(out, text, (size_t)n), 0);
	close(in);
	close(out);
}

/* What a closed database and the files beside it come down to. */
static void begin_try(void)
{
	static const char *const names[] = { DAVY_DB_NAME, DAVY_POLICY_NAME, DAVY_LEARNED_NAME,
					     "a.env", DAVY_ADOPTED_OLD_NAME };
	static unsigned int tries;
	char path[128];

	snprintf(dir, sizeof(dir), "/try%u", tries++);
	snprintf(path, sizeof(path), "%s%s", root, dir);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		copy_file(names[i]);
}

/* 0: it is done, 1: it is reported as failed, -1: it was killed. */
static int try_it(const struct subject *s, enum fault_mode mode, long at)
{
	int status;
	pid_t pid;

	fault_plan(FAULT_NONE, 0);
	pid = fork();
	if (!pid) {
		fault_plan(mode, at);
		status = s->act() < 0;
		fault->mode = FAULT_NONE;
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fault->mode = FAULT_NONE;
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return -1;
	}
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status);
}

static void remove_try(void)
{
	static const char *const names[] = { DAVY_DB_NAME,
					     DAVY_DB_NAME "-wal",
					     DAVY_DB_NAME "-shm",
					     DAVY_POLICY_NAME,
					     DAVY_POLICY_NAME ".hand",
					     DAVY_LEARNED_NAME,
					     "a.env",
					     "a.env.hand",
					     DAVY_ADOPTED_OLD_NAME,
					     DAVY_ADOPTED_OLD_NAME ".imported" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(path, sizeof(path), dir, names[i]);
		unlink(path);
	}
	path_in(path, sizeof(path), dir, "");
	rmdir(path); /* not where a temporary file of a killed one lies */
}

static void at_every_call(const struct subject *s)
{
	char path[128];
	long calls = 0;

	fault_plan(FAULT_NONE, 0);
	snprintf(path, sizeof(path), "%s" BEFORE, root);
	assert_int_equal(mkdir(path, 0755), 0);
	s->prepare();
	for (int mode = FAULT_FAILS; mode < FAULT_MODES; mode++) {
		for (long at = 1; at < CALLS_MAX; at++) {
			int ended;
			bool is_new;

			begin_try();
			ended = try_it(s, (enum fault_mode)mode, at);
			calls = fault->calls;
			s->check();
			is_new = s->is_new();
			if (!ended || (ended > 0 && !s->late))
				assert_int_equal(is_new, !ended);
			remove_try();
			if (calls < at) {
				assert_int_equal(ended, 0);
				break;
			}
		}
		assert_in_range(calls, 4, CALLS_MAX - 2);
	}
	print_message("%ld calls\n", calls);
}

static void no_check(void)
{
}

#endif
