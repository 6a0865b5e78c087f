/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uprobes for every process, put while somebody waits for them: without libbpf's own way, which
 * takes twice as long (libbpf 1.1 reads sysfs for each, and knows no more than one at a time).
 */
#ifndef DL_DISCOVERY_UPROBES_H
#define DL_DISCOVERY_UPROBES_H

#include <stddef.h>
#include <stdint.h>

/* As programs for them are to be loaded: expected_attach_type BPF_TRACE_UPROBE_MULTI. */
#define DL_UPROBE_MULTI 48

struct dl_uprobes;

/* -ENOENT: the kernel has no uprobes. */
int dl_uprobes_new(struct dl_uprobes **ret_uprobes);

/* Takes all of them away; several grace periods of RCU, on Linux 6.1 to 6.5 for each, 0.1 s. */
void dl_uprobes_free(struct dl_uprobes *u);

/*
 * At file offsets in "path", each with its cookie. Returns how many were put, which may be fewer,
 * or -errno if none was.
 */
int dl_uprobes_put(struct dl_uprobes *u, int program, const char *path, const uint64_t *offsets,
		   const uint64_t *cookies, size_t count);

#endif
