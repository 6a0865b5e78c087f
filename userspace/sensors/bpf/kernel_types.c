/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf reads and parses the kernel's BTF (5 to 6 MB) for each object that it loads: with eight
 * objects a third of the agent's start. Its own calls of these two functions come here, because the
 * linker binds them by name (libbpf 1.1 to 1.5 call them as any program does); if they did not,
 * each object would have its own copy again.
 */
#include "sensors/bpf/kernel_types.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

static struct btf *held;

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

struct btf *davy_kernel_types(void)
{
	if (!held)
		held = kernel_types_read();
	return held;
}

bool davy_kernel_types_drop(void)
{
	struct btf *btf = held;

	held = NULL;
	btf__free(btf);
	return btf != NULL;
}
