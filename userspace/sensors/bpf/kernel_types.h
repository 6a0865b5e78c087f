/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's type information (BTF): one copy for all objects that are loaded. */
#ifndef DAVY_SENSORS_KERNEL_TYPES_H
#define DAVY_SENSORS_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stdbool.h>

/*
 * Reads it, unless it is held. NULL and errno: there is none. Until it is dropped, libbpf uses this
 * copy, too. One thread.
 */
struct btf *davy_kernel_types(void);

/* Frees it; true if it was held. */
bool davy_kernel_types_drop(void);

#endif
