/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a linker wrote into a file to tell it from every other build: GNU ld's build id, or Go's.
 * The file is outside input: a little of it is read, and everything is bounded.
 */
#ifndef DAVY_BUILD_ID_H
#define DAVY_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_BUILD_ID_MAX 128 /* Go's are 83 characters */

struct davy_build_id {
	size_t size;
	unsigned char bytes[DAVY_BUILD_ID_MAX];
};

/*
 * ELF notes as the kernel and the loader lay them out, "align" 4 or 8. -ENOENT: none of them is
 * one; -EBADMSG: they end within a note.
 */
int davy_build_id_in_notes(const unsigned char *notes, size_t size, size_t align,
			   struct davy_build_id *ret_id);

/* Of an ELF file of 64 bits open for reading. -ENOENT: it has none; -ENOEXEC: no such file. */
int davy_build_id_read(int fd, struct davy_build_id *ret_id);

/* Its first eight bytes, as they are written; a shorter one is filled up with zeros. */
uint64_t davy_build_id_head(const struct davy_build_id *id);

#endif
