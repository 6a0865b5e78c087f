/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where to put a uprobe on a function of an ELF file. The file is outside input: every size
 * and count in it has a limit, and at most 64 MiB of it are in memory.
 */
#ifndef DAVY_ELF_SITE_H
#define DAVY_ELF_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks "symbol" up in .dynsym, then .symtab, and gives a file offset that every call passes once:
 * the entry when the program reads the call's arguments, else the first instruction that the kernel
 * emulates, which makes a hit thirty times cheaper. -ENOENT: no such function; -ENOEXEC: not an
 * x86-64 ELF file.
 */
int davy_elf_site(const char *path, const char *symbol, bool keeps_arguments, uint64_t *ret_offset);

/*
 * The entries of several functions that the file exports, in one pass over .dynsym; offset 0: it
 * exports no such function. Returns how many it has, or -errno.
 */
int davy_elf_exports(const char *path, const char *const *symbols, size_t count,
		     uint64_t *ret_offsets);

#endif
