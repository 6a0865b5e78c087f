/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where to put uprobes on a function of an ELF file: its entry and every place it returns from.
 * The file is outside input: libelf checks its structure, everything else is bounded here.
 */
#ifndef DL_SENSORS_ELF_SITES_H
#define DL_SENSORS_ELF_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DL_RETURN_SITES 16

struct dl_elf_sites {
	uint64_t entry;			  /* file offset */
	uint64_t returns[DL_RETURN_SITES]; /* file offsets of ret instructions */
	size_t return_count;
};

/*
 * Looks "symbol" up in .dynsym, then .symtab. -ENOENT: no such function; -E2BIG: more returns than
 * fit; -ENOEXEC: not an x86-64 ELF file; -ENOTSUP: returns are wanted and no libcapstone is there.
 */
int dl_elf_sites(const char *path, const char *symbol, bool wants_returns, struct dl_elf_sites *ret_sites);

#endif
