/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every call by which this program, and SQLite in it, changes a file: the n-th of them fails, or
 * kills the process. A program's own definition of a function goes before a library's, also for
 * calls from other libraries.
 */
#ifndef TESTS_UNIT_FAULTS_H
#define TESTS_UNIT_FAULTS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum fault_mode {
	FAULT_NONE,
	FAULT_FAILS,	     /* the n-th call: ENOSPC */
	FAULT_FULL,	     /* it and every later one that needs room */
	FAULT_KILLED,	     /* SIGKILL instead of it */
	FAULT_KILLED_WITHIN, /* half of what it writes is written; of others all is done */
	FAULT_MODES,
};

struct fault_plan {
	enum fault_mode mode;
	long at;
	long calls; /* so far */
};

static struct fault_plan *fault; /* shared with the children */

static void fault_setup(void)
{
	fault = mmap(NULL, sizeof(*fault), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
}

static void fault_plan(enum fault_mode mode, long at)
{
	*fault = (struct fault_plan){ mode, at, 0 };
}

static void fault_kill(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* True: the call must fail. With FAULT_KILLED_WITHIN the caller kills; *ret_within reports it. */
static bool fault_here(bool needs_room, bool *ret_within)
{
	*ret_within = false;
	if (!fault || fault->mode == FAULT_NONE)
		return false;
	fault->calls++;
	if (fault->calls < fault->at || (fault->calls > fault->at && fault->mode != FAULT_FULL))
		return false;
	if (fault->mode == FAULT_KILLED)
		fault_kill();
	*ret_within = fault->mode == FAULT_KILLED_WITHIN;
	errno = ENOSPC;
	return !*ret_within && (needs_room || fault->mode == FAULT_FAILS);
}

/* A call that returns 0 or -1. */
#define FAULT_CALL(needs_room, call)                                                               \
	do {                                                                                       \
		bool within;                                                                       \
		long result;                                                                       \
                                                                                                   \
		if (fault_here(needs_room, &within))                                               \
			return -1;                                                                 \
		result = call;                                                                     \
		if (within)                                                                        \
			fault_kill();                                                              \
		return (int)result;                                                                \
	} while (0)

int fsync(int fd)
{
	FAULT_CALL(true, syscall(SYS_fsync, fd));
}

int fdatasync(int fd)
{
	FAULT_CALL(true, syscall(SYS_fdatasync, fd));
}

int rename(const char *from, const char *to)
{
	FAULT_CALL(false, syscall(SYS_rename, from, to));
}

int unlink(const char *path)
{
	FAULT_CALL(false, syscall(SYS_unlink, path));
}

int ftruncate(int fd, off_t size)
{
	FAULT_CALL(false, syscall(SYS_ftruncate, fd, size));
}

int ftruncate64(int fd, off64_t size)
{
	FAULT_CALL(false, syscall(SYS_ftruncate, fd, size));
}

int mkostemp(char *name, int flags)
{
	int (*real)(char *, int) = (int (*)(char *, int))dlsym(RTLD_NEXT, "mkostemp");

	FAULT_CALL(true, real(name, flags));
}

static int fault_open(const char *path, int flags, mode_t mode)
{
	if (!(flags & O_CREAT))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	FAULT_CALL(true, syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

#define FAULT_OPEN(name)                                                                           \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list args;                                                                      \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (flags & (O_CREAT | __O_TMPFILE))                                               \
			mode = (mode_t)va_arg(args, int);                                          \
		va_end(args);                                                                      \
		return fault_open(path, flags, mode);                                              \
	}

FAULT_OPEN(open)
FAULT_OPEN(open64)

ssize_t write(int fd, const void *data, size_t size)
{
	bool within;
	ssize_t n;

	if (fault_here(true, &within))
		return -1;
	n = syscall(SYS_write, fd, data, within ? size / 2 : size);
	if (within)
		fault_kill();
	return n;
}

static ssize_t fault_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	bool within;
	ssize_t n;

	if (fault_here(true, &within))
		return -1;
	n = syscall(SYS_pwrite64, fd, data, within ? size / 2 : size, offset);
	if (within)
		fault_kill();
	return n;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return fault_pwrite(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	return fault_pwrite(fd, data, size, offset);
}

#endif
