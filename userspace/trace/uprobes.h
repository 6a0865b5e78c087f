/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes for all processes, attached while a thread waits for them. Does not use libbpf's attach,
 * which takes twice as long (libbpf 1.1 reads sysfs for each probe and attaches one at a time).
 */
#ifndef DAVY_UPROBES_H
#define DAVY_UPROBES_H

#include <stddef.h>
#include <stdint.h>

/* expected_attach_type of their programs: BPF_TRACE_UPROBE_MULTI. */
#define DAVY_UPROBE_MULTI 48

struct davy_uprobes;

/* -ENOENT: the kernel has no uprobes. */
int davy_uprobes_new(struct davy_uprobes **ret_uprobes);

/* Removes all: several RCU grace periods (0.1 s); on Linux 6.1 to 6.5 for each probe. */
void davy_uprobes_free(struct davy_uprobes *u);

/*
 * Attaches at file offsets in "path", each with its cookie. Returns the number attached (it may be
 * smaller), or -errno if none.
 */
int davy_uprobes_put(struct davy_uprobes *u, int program, const char *path, const uint64_t *offsets,
		     const uint64_t *cookies, size_t count);

#endif
