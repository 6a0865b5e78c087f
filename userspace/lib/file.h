/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files: bounded reads, atomic replacement, and the root directory of /proc, /sys and the cgroup
 * tree (tests set their own root). Errors are -errno.
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

/* "" unless a test sets it. */
void davy_root_set(const char *root);

/* Writes root + formatted path; -ENAMETOOLONG if it does not fit. */
int davy_root_path(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Path of program "name" in the directory of this program; -ENAMETOOLONG, or -errno of access(). */
int davy_program_path(const char *name, char *buf, size_t size);

/*
 * Reads at most size - 1 bytes and terminates them; returns the number of bytes. Truncates longer
 * files: use it for kernel files and where the beginning is enough.
 */
ssize_t davy_read_file(const char *path, char *buf, size_t size);
ssize_t davy_read_fd(int fd, char *buf, size_t size);

/*
 * Keeps a descriptor for davy_read_file, which then works in a process that has no other one left:
 * "no such process" and "no descriptor to look" must not be mistaken for each other. One thread.
 */
int davy_spare_fd_keep(void);

/* Reads the whole file or fails: -EFBIG if the file has "size" bytes or more. */
ssize_t davy_read_whole(const char *path, char *buf, size_t size);

/*
 * Reads one number at the start of a file, decimal or with a prefix (0x, 0); -EBADMSG if invalid.
 */
int davy_read_number(const char *path, uint64_t *ret_value);

/* Writes all bytes, or returns -errno. */
int davy_write_all(int fd, const void *data, size_t size);

/* Writes a value to an existing file such as a cgroup's. */
int davy_write_file(const char *path, const char *text);

/*
 * Replaces a file atomically: temporary file in the same directory, fsync, rename, fsync of the
 * directory. The file has the old or the new content, never a mixture.
 */
int davy_replace_file(const char *path, const void *data, size_t size, mode_t mode);

/* mkdir with mode 0755 regardless of the umask: the agent's umask excludes other users. */
int davy_make_dir(const char *path);

/* Creates all missing components of a path; 0 if the directory exists. */
int davy_make_dirs(const char *path);

#endif
