/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes for every process, put while somebody waits for them: without libbpf's own way, which
 * takes twice as long (libbpf 1.1 reads sysfs for each, and knows no more than one at a time).
 */
#ifndef DAVY_UPROBES_H
#define DAVY_UPROBES_H

#include <stddef.h>
#include <stdint.h>

/* As programs for them are to be loaded: expected_attach_type BPF_TRACE_UPROBE_MULTI. */
#define DAVY_UPROBE_MULTI 48

struct davy_uprobes;

/* -ENOENT: the kernel has no uprobes. */
int davy_uprobes_new(struct davy_uprobes **ret_uprobes);

/* Takes all of them away; several grace periods of RCU, on Linux 6.1 to 6.5 for each, 0.1 s. */
void davy_uprobes_free(struct davy_uprobes *u);

/*
 * At file offsets in "path", each with its cookie. Returns how many were put, which may be fewer,
 * or -errno if none was.
 */
int davy_uprobes_put(struct davy_uprobes *u, int program, const char *path, const uint64_t *offsets,
		     const uint64_t *cookies, size_t count);

#endif
