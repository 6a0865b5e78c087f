/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files: bounded reads, atomic replacement, and the root under which /proc, /sys and the cgroup
 * tree are looked for (tests hand the code a tree of their own). Errors are -errno.
 */
#ifndef DAVY_FILE_H
#define DAVY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static inline void davy_close_at_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void davy_fclose_at_end(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define DAVY_FD	  __attribute__((cleanup(davy_close_at_end))) int
#define DAVY_FILE __attribute__((cleanup(davy_fclose_at_end))) FILE *

/* "" unless a test set it. */
void davy_root_set(const char *root);

/* Writes root + formatted path; -ENAMETOOLONG when it does not fit. */
int davy_root_path(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The path of the program "name" beside this program; -ENAMETOOLONG, or -errno of access(). */
int davy_program_path(const char *name, char *buf, size_t size);

/*
 * Reads at most size - 1 bytes and terminates them; returns how many. What exceeds is cut off: for
 * files of the kernel, and where the beginning is enough.
 */
ssize_t davy_read_file(const char *path, char *buf, size_t size);
ssize_t davy_read_fd(int fd, char *buf, size_t size);

/* Reads the whole file or nothing of it: -EFBIG when it has "size" bytes or more. */
ssize_t davy_read_whole(const char *path, char *buf, size_t size);

/* One number at the beginning of a file, decimal or with its prefix; -EBADMSG when it is none. */
int davy_read_number(const char *path, uint64_t *ret_value);

/* Whole write, or -errno. */
int davy_write_all(int fd, const void *data, size_t size);

/* Writes a value to an existing file such as a cgroup's. */
int davy_write_file(const char *path, const char *text);

/*
 * Old content or new content, whatever happens: a temporary beside it, fsync, rename, fsync of the
 * directory. Mode as given.
 */
int davy_replace_file(const char *path, const void *data, size_t size, mode_t mode);

/* mkdir, mode 0755 under every umask: the agent has one that keeps others out. */
int davy_make_dir(const char *path);

/* The same for each missing part of the path; 0 when it is there. */
int davy_make_dirs(const char *path);

#endif
