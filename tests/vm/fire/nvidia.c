// SPDX-License-Identifier: GPL-2.0
/*
 * The stand-in for NVIDIA's module is built without BTF, to need no extra tool; the few types of
 * a typed tracepoint are made here from the running kernel's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "fire.h"

#define ROOM	      1024 /* bytes of the section .BTF, see inject/nvidia.c */
#define ROOM_TEXT     "davylamp: room for BTF"
#define FILE_SIZE_MAX (4u << 20)

/* typedef void (*btf_trace_nvidia_dev_xid)(void *, const struct pci_dev *, u32, const char *) */
static struct btf *make(const struct btf *kernel)
{
	struct btf *btf = btf__new_empty_split((struct btf *)kernel);
	int pci = btf__find_by_name_kind(kernel, "pci_dev", BTF_KIND_STRUCT);
	int number = btf__find_by_name_kind(kernel, "unsigned int", BTF_KIND_INT);
	int letter = btf__find_by_name_kind(kernel, "char", BTF_KIND_INT);
	int nothing, text, proto;

	if (!btf || pci < 0 || number < 0 || letter < 0)
		return NULL;
	nothing = btf__add_ptr(btf, 0);
	pci = btf__add_ptr(btf, btf__add_const(btf, pci));
	text = btf__add_ptr(btf, btf__add_const(btf, letter));
	proto = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "", nothing);
	btf__add_func_param(btf, "", pci);
	btf__add_func_param(btf, "", number);
	btf__add_func_param(btf, "", text);
	if (btf__add_typedef(btf, "btf_trace_nvidia_dev_xid", btf__add_ptr(btf, proto)) < 0)
		return NULL;
	return btf;
}

/* The strings are last, and any number of zeroes may follow. */
static void fill(struct fire_session *s, char *room, const struct btf *btf)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);
	struct btf_header *head = (struct btf_header *)room;

	if (!raw || size > ROOM) {
		fire_fail(s, -E2BIG, "no BTF of %d bytes or less", ROOM);
		return;
	}
	memset(room, 0, ROOM);
	memcpy(room, raw, size);
	head->str_len += ROOM - size;
}

void fire_btf_write(struct fire_session *s, const char *path)
{
	FILE *file = fopen(path, "r+");
	char *bytes = malloc(FILE_SIZE_MAX), *room;
	struct btf *btf;
	size_t len;

	if (!file || !bytes || fire_btf_open(s, NULL)) {
		fire_fail(s, -errno, "cannot open '%s': %s", path, strerror(errno));
		return;
	}
	len = fread(bytes, 1, FILE_SIZE_MAX, file);
	room = memmem(bytes, len, ROOM_TEXT, sizeof(ROOM_TEXT));
	btf = make(s->vmlinux);
	if (!btf || !room) {
		fire_fail(s, -ENOENT, "'%s' has no room for BTF, or the kernel no types", path);
	} else {
		fill(s, room, btf);
		rewind(file);
		if (fwrite(bytes, 1, len, file) != len)
			fire_fail(s, -EIO, "cannot write '%s'", path);
	}
	btf__free(btf);
	free(bytes);
	if (fclose(file))
		fire_fail(s, -EIO, "cannot write '%s'", path);
}
