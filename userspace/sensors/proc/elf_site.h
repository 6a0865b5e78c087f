/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the place for a uprobe on a function of an ELF file. The file is untrusted: every size and
 * count is limited, and at most 64 MiB of it are in memory.
 */
#ifndef DAVY_ELF_SITE_H
#define DAVY_ELF_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks up "symbol" in .dynsym, then .symtab. Returns a file offset that each call executes once:
 * the entry if the BPF program reads the arguments, otherwise the first instruction that the kernel
 * emulates, which makes a hit thirty times cheaper. -ENOENT: no such function; -ENOEXEC: not an
 * x86-64 ELF file.
 */
int davy_elf_site(const char *path, const char *symbol, bool keeps_arguments, uint64_t *ret_offset);

/*
 * The places at which "symbol" returns, with its result in eax: each return instruction, or the
 * conditional jump before it that the kernel emulates. Returns their number, at most "max".
 * -ENOTSUP: one of its ends is a jump to another function; -E2BIG: it is too long or has more ends.
 */
int davy_elf_returns(const char *path, const char *symbol, size_t max, uint64_t *ret_offsets);

/*
 * The entries of several exported functions, in one pass over .dynsym; offset 0: not exported.
 * Returns the number found, or -errno.
 */
int davy_elf_exports(const char *path, const char *const *symbols, size_t count,
		     uint64_t *ret_offsets);

#endif
