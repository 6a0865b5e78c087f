/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every call by which this program, and SQLite and jansson in it, opens or reads a file or asks for
 * memory: the n-th of its kind fails, alone or with all that follow. Writes: faults.h.
 */
#ifndef TESTS_UNIT_READ_FAULTS_H
#define TESTS_UNIT_READ_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum read_fault_mode {
	READ_FAULT_NONE,
	READ_FAULT_ONCE,
	READ_FAULT_ON, /* from the n-th on */
	READ_FAULT_MODES,
};

enum read_fault_kind {
	READ_FAULT_OPEN,   /* EMFILE */
	READ_FAULT_READ,   /* EIO */
	READ_FAULT_MEMORY, /* SQLite's and jansson's */
	READ_FAULT_KINDS,
};

static struct {
	enum read_fault_mode mode;
	enum read_fault_kind kind;
	long at;
	long calls; /* so far */
} read_fault;

static void read_fault_plan(enum read_fault_mode mode, enum read_fault_kind kind, long at)
{
	read_fault.mode = mode;
	read_fault.kind = kind;
	read_fault.at = at;
	read_fault.calls = 0;
}

static bool read_fault_here(enum read_fault_kind kind)
{
	if (read_fault.mode == READ_FAULT_NONE || read_fault.kind != kind)
		return false;
	read_fault.calls++;
	return read_fault.mode == READ_FAULT_ONCE ? read_fault.calls == read_fault.at
						  : read_fault.calls >= read_fault.at;
}

#define READ_FAULT_DEFINE_OPEN(name)                                                               \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list args;                                                                      \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		va_start(args, flags);                                                             \
		if (flags & (O_CREAT | __O_TMPFILE))                                               \
			mode = (mode_t)va_arg(args, int);                                          \
		va_end(args);                                                                      \
		if (read_fault_here(READ_FAULT_OPEN)) {                                            \
			errno = EMFILE;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                      \
	}

READ_FAULT_DEFINE_OPEN(open)
READ_FAULT_DEFINE_OPEN(open64)

static ssize_t read_fault_pread(int fd, void *data, size_t size, off_t offset)
{
	if (read_fault_here(READ_FAULT_READ)) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	return read_fault_pread(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	return read_fault_pread(fd, data, size, offset);
}

ssize_t read(int fd, void *data, size_t size)
{
	if (read_fault_here(READ_FAULT_READ)) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, data, size);
}

static void *read_fault_malloc(size_t size)
{
	return read_fault_here(READ_FAULT_MEMORY) ? NULL : malloc(size);
}

static sqlite3_mem_methods read_fault_sqlite;

static void *read_fault_sqlite_malloc(int size)
{
	return read_fault_here(READ_FAULT_MEMORY) ? NULL : read_fault_sqlite.xMalloc(size);
}

static void *read_fault_sqlite_realloc(void *at, int size)
{
	return read_fault_here(READ_FAULT_MEMORY) ? NULL : read_fault_sqlite.xRealloc(at, size);
}

/* Before SQLite is used. */
static void read_fault_setup(void)
{
	static sqlite3_mem_methods methods;

	json_set_alloc_funcs(read_fault_malloc, free);
	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &read_fault_sqlite);
	methods = read_fault_sqlite;
	methods.xMalloc = read_fault_sqlite_malloc;
	methods.xRealloc = read_fault_sqlite_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

/* Copies without read(). */
static void read_fault_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) || sendfile(out, in, NULL, (size_t)st.st_size) < 0)
		abort();
	close(in);
	close(out);
}

#endif
