/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources of versions: the bytes as an ELF file, as its notes in both alignments, and as the text
 * of a driver about its firmware.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sensors/proc/build_id.h"
#include "sensors/gpu/firmware.h"

static void try_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct davy_build_id id;

	if (fd < 0)
		fd = memfd_create("elf", 0);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!davy_build_id_read(fd, &id) && (!id.size || id.size > DAVY_BUILD_ID_MAX))
		abort();
}

static void try_notes(const uint8_t *data, size_t size, size_t align)
{
	struct davy_build_id id;
	uint8_t *exact = malloc(size ? size : 1); /* reads beyond its end are detected */

	if (!exact)
		abort();
	memcpy(exact, data, size);
	if (!davy_build_id_in_notes(exact, size, align, &id) &&
	    !memmem(data, size, id.bytes, id.size))
		abort();
	free(exact);
}

static void try_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), version[32];

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	if (davy_firmware_intel(text, version, sizeof(version))) {
		if (!isdigit((unsigned char)version[0]) ||
		    strspn(version, "0123456789.") != strlen(version))
			abort();
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_file(data, size);
	try_notes(data, size, 4);
	try_notes(data, size, 8);
	try_text(data, size);
	return 0;
}
