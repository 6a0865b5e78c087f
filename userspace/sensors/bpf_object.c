/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAMS_MAX 16 /* of one object */
#define KERNEL_BTF   "/sys/kernel/btf/vmlinux"

static bool has_hook(const struct btf *btf, const char *section)
{
	char name[128];

	if (!strncmp(section, "tp_btf/", 7)) {
		snprintf(name, sizeof(name), "btf_trace_%s", section + 7);
		return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
	}
	if (!strncmp(section, "fentry/", 7))
		return btf__find_by_name_kind(btf, section + 7, BTF_KIND_FUNC) > 0;
	if (!strncmp(section, "fexit/", 6))
		return btf__find_by_name_kind(btf, section + 6, BTF_KIND_FUNC) > 0;
	return true; /* uprobe, syscall: nothing in the kernel to look for */
}

/* Turns on every program whose hook the kernel's or the module's BTF proves; returns how many. */
static int prove_hooks(struct dl_bpf_object *o, const struct btf *kernel, const struct btf *module)
{
	struct bpf_program *p;
	int count = 0;

	bpf_object__for_each_program(p, o->object)
	{
		const char *section = bpf_program__section_name(p);
		bool proven = has_hook(kernel, section) || (module && has_hook(module, section));

		bpf_program__set_autoload(p, proven);
		count += proven;
	}
	return count;
}

static int share_maps(struct dl_bpf_object *o, const struct dl_shared_maps *shared)
{
	for (size_t i = 0; i < DL_BPF_SHARED_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(o->object, shared->name[i]);
		int err;

		if (!map || shared->fd[i] < 0)
			continue;
		err = bpf_map__reuse_fd(map, shared->fd[i]);
		if (err)
			return err;
	}
	return 0;
}

static void keep_maps(struct dl_bpf_object *o, struct dl_shared_maps *shared)
{
	for (size_t i = 0; i < DL_BPF_SHARED_MAPS; i++) {
		int fd = dl_bpf_object_map(o, shared->name[i]);

		if (shared->fd[i] < 0 && fd >= 0)
			shared->fd[i] = dup(fd);
	}
}

/* Uprobes are attached later, file by file; a syscall program is run, not attached. */
static bool attached_now(const char *section)
{
	return !strncmp(section, "tp_btf/", 7) || !strncmp(section, "fentry/", 7) ||
	       !strncmp(section, "fexit/", 6);
}

static int attach_all(struct dl_bpf_object *o)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, o->object)
	{
		struct bpf_link *link;

		if (!bpf_program__autoload(p) || !attached_now(bpf_program__section_name(p)))
			continue;
		if (o->link_count == DL_BPF_LINKS)
			return -E2BIG;
		link = bpf_program__attach(p);
		if (!link)
			return -errno;
		o->links[o->link_count++] = link;
	}
	return 0;
}

static const char *explain(int err, const struct dl_bpf_object *o)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "the kernel refused (not root, lockdown, or verifier); see --verbose";
	case -ENOENT:
	case -ESRCH:
		return o->module ? "its kernel module is not loaded" : "hook not found";
	case -ENODATA:
		return access(KERNEL_BTF, F_OK) ? "this kernel has no BTF"
						: "the kernel's BTF cannot be read (memory?)";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerrordesc_np(-err) ? strerrordesc_np(-err) : "unknown error";
	}
}

static int open_object(struct dl_bpf_object *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = o->name);
	const void *bytes;
	size_t size;

	bytes = o->bytes(&size);
	o->object = bpf_object__open_mem(bytes, size, &opts);
	return o->object ? 0 : -errno;
}

/* Opens it with the programs whose hook is proven, less those in "refused"; returns how many. */
static int open_with(struct dl_bpf_object *o, struct dl_shared_maps *shared,
		     const struct btf *kernel, const struct btf *module, uint64_t refused)
{
	struct bpf_program *p;
	int err = open_object(o), count, i = 0;

	if (err)
		return err;
	count = prove_hooks(o, kernel, module);
	bpf_object__for_each_program(p, o->object)
	{
		if ((refused >> i++ & 1) && bpf_program__autoload(p)) {
			bpf_program__set_autoload(p, false);
			count--;
		}
	}
	err = share_maps(o, shared);
	return err ? err : count;
}

/* Which programs the kernel refuses one by one, so that the others can go without them. */
static uint64_t find_refused(struct dl_bpf_object *o, struct dl_shared_maps *shared,
			     const struct btf *kernel, const struct btf *module)
{
	uint64_t refused = 0;

	for (int i = 0; i < PROGRAMS_MAX; i++) {
		int count = open_with(o, shared, kernel, module, ~(1ULL << i));

		if (count > 0 && bpf_object__load(o->object))
			refused |= 1ULL << i;
		dl_bpf_object_unload(o);
	}
	return refused;
}

static int load_with(struct dl_bpf_object *o, struct dl_shared_maps *shared,
		     const struct btf *kernel, const struct btf *module)
{
	int count = open_with(o, shared, kernel, module, 0), err = 0;

	if (count > 0 && bpf_object__load(o->object)) {
		err = -errno;
		o->partial = true;
		dl_bpf_object_unload(o);
		count = open_with(o, shared, kernel, module,
				  find_refused(o, shared, kernel, module));
		if (count > 0)
			err = bpf_object__load(o->object);
	}
	if (count <= 0)
		return err ? err : count ? count : -ENOENT;
	o->state.count = (uint64_t)count;
	if (!err)
		err = attach_all(o);
	if (!err)
		keep_maps(o, shared);
	return err;
}

int dl_bpf_object_load(struct dl_bpf_object *o, struct dl_shared_maps *shared)
{
	struct btf *kernel, *module = NULL;
	int err;

	if (o->object)
		return 0;
	o->partial = false;
	kernel = btf__load_vmlinux_btf();
	err = kernel ? 0 : -ENODATA; /* its errno is of the last place it looked in */
	if (!err && o->module)
		module = btf__load_module_btf(o->module, kernel);
	if (!err)
		err = load_with(o, shared, kernel, module);
	btf__free(module);
	btf__free(kernel);
	if (!err) {
		o->state.state = DL_SENSOR_LIVE;
		dl_copy_name(o->state.reason, sizeof(o->state.reason),
			     o->partial ? "this kernel refuses some of its programs" : "");
		return 0;
	}
	dl_bpf_object_unload(o);
	o->state.count = 0;
	o->state.state = err == -ENOENT || err == -ESRCH ? DL_SENSOR_ABSENT : DL_SENSOR_REFUSED;
	dl_copy_name(o->state.reason, sizeof(o->state.reason), explain(err, o));
	return err;
}

void dl_bpf_object_unload(struct dl_bpf_object *o)
{
	for (size_t i = 0; i < o->link_count; i++)
		bpf_link__destroy(o->links[i]);
	o->link_count = 0;
	bpf_object__close(o->object);
	o->object = NULL;
}

int dl_bpf_object_map(const struct dl_bpf_object *o, const char *name)
{
	struct bpf_map *map = o->object ? bpf_object__find_map_by_name(o->object, name) : NULL;

	return map ? bpf_map__fd(map) : -1;
}
