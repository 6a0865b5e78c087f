/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf reads and parses the kernel's BTF (5 to 6 MB) for each object that it loads, and looks at
 * each of its 140,000 types for each name: half of the agent's start. Its own calls of these three
 * functions come here, because the dynamic linker binds them by name (seen with libbpf 1.1.2;
 * tests/bpf checks it). With -Bsymbolic in libbpf the start is slower, and no more; a static libbpf
 * has the same names and cannot be linked.
 */
#include "sensors/bpf/kernel_types.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define SLOTS (1u << 18)

static struct btf *held;
static uint32_t *ids; /* of its functions and typedefs, an open hash table by name; NULL: none */

static void *libbpf_has(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static struct btf *kernel_types_read(void)
{
	struct btf *(*read)(void) = libbpf_has("btf__load_vmlinux_btf");

	errno = ENOSYS;
	return read ? read() : NULL;
}

static void kernel_types_free(struct btf *btf)
{
	void (*free_btf)(struct btf *) = libbpf_has("btf__free");

	if (free_btf)
		free_btf(btf);
}

struct btf *btf__load_vmlinux_btf(void)
{
	return held ? held : kernel_types_read();
}

void btf__free(struct btf *btf)
{
	if (btf && btf != held)
		kernel_types_free(btf);
}

static const char *kernel_types_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

static bool kernel_types_is(const struct btf *btf, uint32_t id, const char *name, uint32_t kind)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	return btf_kind(t) == kind && !strcmp(kernel_types_name(btf, t), name);
}

/* The slot of the first type with that name, or the free one for it. */
static uint32_t *slot_of(const char *name, uint32_t kind)
{
	uint32_t at = (uint32_t)davy_fnv_text(DAVY_FNV_START, name) + kind;

	while (ids[at % SLOTS] && !kernel_types_is(held, ids[at % SLOTS], name, kind))
		at++;
	return &ids[at % SLOTS];
}

static void make_ids(void)
{
	uint32_t count = btf__type_cnt(held), used = 0;

	ids = calloc(SLOTS, sizeof(*ids));
	for (uint32_t id = 1; ids && id < count; id++) {
		const struct btf_type *t = btf__type_by_id(held, id);
		uint32_t *slot;

		if (btf_kind(t) != BTF_KIND_FUNC && btf_kind(t) != BTF_KIND_TYPEDEF)
			continue;
		slot = slot_of(kernel_types_name(held, t), btf_kind(t));
		used += !*slot;
		if (!*slot)
			*slot = id;
		if (used <= SLOTS / 2)
			continue;
		free(ids); /* a kernel with more names than any today */
		ids = NULL;
	}
}

int btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind)
{
	int (*find)(const struct btf *, const char *, __u32) = libbpf_has("btf__find_by_name_kind");
	uint32_t id;

	if (ids && (kind == BTF_KIND_FUNC || kind == BTF_KIND_TYPEDEF) &&
	    (btf == held || btf__base_btf(btf) == held)) {
		id = *slot_of(name, kind);
		for (uint32_t own = btf__type_cnt(held); !id && own < btf__type_cnt(btf); own++)
			if (kernel_types_is(btf, own, name, kind))
				id = own;
		errno = ENOENT;
		return id ? (int)id : -ENOENT;
	}
	errno = ENOSYS;
	return find ? find(btf, name, kind) : -ENOSYS;
}

struct btf *davy_kernel_types(void)
{
	if (held)
		return held;
	held = kernel_types_read();
	if (held)
		make_ids();
	return held;
}

bool davy_kernel_types_drop(void)
{
	struct btf *btf = held;

	held = NULL;
	free(ids);
	ids = NULL;
	btf__free(btf);
	return btf != NULL;
}
