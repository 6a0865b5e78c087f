/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process keeps to the CPU, told from the process: what it has open and what it maps. */
#ifndef DAVY_STRICT_H
#define DAVY_STRICT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * 1: it has no GPU's device file open and none mapped; 0: it has, and "ret_path" says which; -errno
 * when it cannot be looked at. A mapped driver library proves nothing: ggml loads it in every case.
 */
int davy_keeps_to_cpu(pid_t pid, char *ret_path, size_t size);

/* 1: a file whose path has "part" is mapped; 0: none; -errno when it cannot be looked at. */
int davy_maps_file(pid_t pid, const char *part);

#endif
