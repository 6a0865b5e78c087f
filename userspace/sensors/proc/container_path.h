/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files of other processes without blocking: inside the process's own root and mount
 * namespace only, by names that are cached or on a local file system. Files are opened with O_PATH,
 * which calls neither a driver nor a file system. Errors are -errno.
 */
#ifndef DAVY_CONTAINER_PATH_H
#define DAVY_CONTAINER_PATH_H

#include <stdbool.h>
#include <stdint.h>

/* "path" as seen by process "pid", relative to its current directory. -EAGAIN: it could block. */
int davy_open_in_root(uint32_t pid, const char *path);

/*
 * The same, one component at a time from "root", without relying on the cache; "path" is absolute.
 */
int davy_walk_in_root(uint32_t pid, int root, const char *path);

/* A mapped file as reported by davy_process_traces. */
int davy_open_mapped(uint32_t pid, const char *path);

/* 0: readable without blocking. -EAGAIN: its file system may block; -EACCES: no regular file. */
int davy_local_file(uint32_t pid, int fd);
bool davy_is_regular(int fd);

/* Opens the same file for reading. Only for files known to be local. */
int davy_reopen(int fd);

/* A path to an open file, independent of its name. */
#define DAVY_SELF_FD_SIZE 32
const char *davy_self_fd(int fd, char ret_path[DAVY_SELF_FD_SIZE]);

#endif
