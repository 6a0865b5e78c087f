/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/build_id.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NOTES_MAX    4096 /* bytes of a segment that are searched */
#define SEGMENTS_MAX 64
#define GO_BUILD_ID  4 /* Go, cmd/link/internal/ld/elf.go: ELF_NOTE_GOBUILDID_TAG */

static size_t build_id_padded(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

static int build_id_is_one(const Elf64_Nhdr *note, const unsigned char *name)
{
	return (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		!memcmp(name, "GNU", 4)) ||
	       (note->n_type == GO_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "Go\0", 4));
}

int davy_build_id_in_notes(const unsigned char *notes, size_t size, size_t align,
			   struct davy_build_id *ret_id)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		const unsigned char *name = notes + at + sizeof(Elf64_Nhdr);
		size_t room = size - at - sizeof(Elf64_Nhdr), text, all;
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		text = build_id_padded(note.n_namesz, align);
		if (text > room || note.n_descsz > room - text)
			return -EBADMSG;
		if (note.n_descsz && note.n_descsz <= DAVY_BUILD_ID_MAX &&
		    build_id_is_one(&note, name)) {
			ret_id->size = note.n_descsz;
			memcpy(ret_id->bytes, name + text, note.n_descsz);
			return 0;
		}
		all = sizeof(note) + text + build_id_padded(note.n_descsz, align);
		if (all > size - at)
			break;
		at += all;
	}
	return -ENOENT;
}

static int build_id_in_segment(int fd, const Elf64_Phdr *segment, struct davy_build_id *ret_id)
{
	unsigned char notes[NOTES_MAX];
	size_t size = segment->p_filesz < NOTES_MAX ? segment->p_filesz : NOTES_MAX;
	ssize_t n = -1;

	if (segment->p_offset <= INT64_MAX)
		n = pread(fd, notes, size, (off_t)segment->p_offset);
	if (n <= 0)
		return -ENOENT;
	return davy_build_id_in_notes(notes, (size_t)n, segment->p_align == 8 ? 8 : 4, ret_id);
}

int davy_build_id_read(int fd, struct davy_build_id *ret_id)
{
	Elf64_Phdr segment;
	Elf64_Ehdr head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment) || head.e_phoff > INT32_MAX)
		return -ENOEXEC;
	for (size_t i = 0; i < head.e_phnum && i < SEGMENTS_MAX; i++) {
		off_t at = (off_t)(head.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return -ENOEXEC;
		if (segment.p_type == PT_NOTE && !build_id_in_segment(fd, &segment, ret_id))
			return 0;
	}
	return -ENOENT;
}

uint64_t davy_build_id_head(const struct davy_build_id *id)
{
	uint64_t head = 0;

	for (size_t i = 0; i < sizeof(head); i++)
		head = head << 8 | (i < id->size ? id->bytes[i] : 0);
	return head;
}
