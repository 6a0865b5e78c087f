/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of other processes, opened without waiting for anybody: inside of the process's own root
 * and mount namespace and never beyond, by names that are in memory or on a local file system. They
 * are opened with O_PATH, which asks neither a driver nor a file system. Errors are -errno.
 */
#ifndef DAVY_CONTAINER_PATH_H
#define DAVY_CONTAINER_PATH_H

#include <stdbool.h>
#include <stdint.h>

/* As process "pid" names it; a relative path from its current directory. -EAGAIN: not so. */
int davy_open_in_root(uint32_t pid, const char *path);

/* The same name by name from "root", whatever is in memory; "path" is absolute. */
int davy_walk_in_root(uint32_t pid, int root, const char *path);

/* What davy_process_traces gives of a mapped file. */
int davy_open_mapped(uint32_t pid, const char *path);

/* 0: read without waiting. -EAGAIN: its file system may wait; -EACCES: no regular file. */
int davy_local_file(uint32_t pid, int fd);
bool davy_is_regular(int fd);

/* For reading, once it is known to be a local file; the very same one. */
int davy_reopen(int fd);

/* A path to an open file, whatever names it has. */
#define DAVY_SELF_FD_SIZE 32
const char *davy_self_fd(int fd, char ret_path[DAVY_SELF_FD_SIZE]);

#endif
