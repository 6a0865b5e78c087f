/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a process uses only the CPU, judged by its open and mapped device files and by what the
 * drivers report about them. The rule for each driver is in cpu_only.c.
 */
#ifndef DAVY_CPU_ONLY_H
#define DAVY_CPU_ONLY_H

#include <stddef.h>
#include <sys/types.h>

/*
 * 1: it uses no GPU; 0: it uses one, see "ret_path"; -errno: unknown. A mapped driver library
 * proves nothing: ggml loads the libraries of all its backends.
 */
int davy_keeps_to_cpu(pid_t pid, char *ret_path, size_t size);

/* 1: a file whose path contains "part" is mapped; 0: none; -errno: unknown. */
int davy_maps_file(pid_t pid, const char *part);

#endif
