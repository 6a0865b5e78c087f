/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build id of a file: GNU ld's or Go's. The file is untrusted: all sizes are limited. */
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
 * Parses ELF notes as the kernel and the loader lay them out, "align" 4 or 8. -ENOENT: no build id;
 * -EBADMSG: truncated note.
 */
int davy_build_id_in_notes(const unsigned char *notes, size_t size, size_t align,
			   struct davy_build_id *ret_id);

/* Reads an open 64-bit ELF file. -ENOENT: no build id; -ENOEXEC: not such a file. */
int davy_build_id_read(int fd, struct davy_build_id *ret_id);

/* The first eight bytes in order; a shorter id is padded with zeros. */
uint64_t davy_build_id_head(const struct davy_build_id *id);

#endif
