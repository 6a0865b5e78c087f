/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "amdgpu.skel.h"
#include "amdgpu_tdr.skel.h"
#include "bpf_state.h"
#include "drm.skel.h"
#include "drm_sched.skel.h"
#include "elf_site.h"
#include "engine.skel.h"
#include "process.skel.h"
#include "ttm.skel.h"

#include "../lib/log.h"

#define RETRY_NS    (200 * DL_NS_PER_MS)
#define RETRY_COUNT 50

static const struct {
	const char *name;
	const char *module;
	const void *(*bytes)(size_t *size);
} rows[DL_OBJ_COUNT] = {
	[DL_OBJ_PROCESS] = { "process", NULL, dl_bpf_process__elf_bytes },
	[DL_OBJ_ENGINE] = { "engine", NULL, dl_bpf_engine__elf_bytes },
	[DL_OBJ_DRM_SCHED] = { "drm_sched", "gpu_sched", dl_bpf_drm_sched__elf_bytes },
	[DL_OBJ_TTM] = { "ttm", "ttm", dl_bpf_ttm__elf_bytes },
	[DL_OBJ_DRM] = { "drm", "drm", dl_bpf_drm__elf_bytes },
	[DL_OBJ_AMDGPU] = { "amdgpu", "amdgpu", dl_bpf_amdgpu__elf_bytes },
	[DL_OBJ_AMDGPU_TDR] = { "amdgpu_tdr", "amdgpu", dl_bpf_amdgpu_tdr__elf_bytes },
};

uint64_t dl_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = 0;
	dl_debug("%s", line);
	return 0;
}

static void tell(struct dl_bpf *b, const struct dl_bpf_object *o, uint64_t now_ns, uint64_t gap_ns)
{
	struct dl_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now_ns;
	ev.kind = DL_EV_SENSOR;
	ev.sensor = o->state;
	ev.sensor.gap_ns = gap_ns;
	dl_sensor_say(b, &ev);
}

static int open_ring(struct dl_bpf *b)
{
	int events = b->shared.fd[DL_SHARED_EVENTS], urgent = b->shared.fd[DL_SHARED_URGENT];

	if (b->ring || events < 0 || urgent < 0)
		return 0;
	/* In this order they are read: what is urgent first. */
	b->ring = ring_buffer__new(urgent, dl_bpf_record, b, NULL);
	return b->ring ? ring_buffer__add(b->ring, events, dl_bpf_record, b) : -errno;
}

static void load(struct dl_bpf *b, struct dl_bpf_object *o, uint64_t now_ns)
{
	bool was_absent = o->state.state == DL_SENSOR_ABSENT && o->attempts;
	int err = dl_bpf_object_load(o, &b->shared);
	uint64_t gap_ns = o->lost_ns && now_ns > o->lost_ns ? now_ns - o->lost_ns : 0;

	o->attempts++;
	if (err && o->retry_ns && o->attempts < RETRY_COUNT) {
		/* The module's functions are traceable once it is live. */
		o->retry_ns = now_ns + RETRY_NS;
		return;
	}
	o->retry_ns = 0;
	if (err && was_absent && o->state.state == DL_SENSOR_ABSENT)
		return;
	if (!err) {
		o->lost_ns = 0;
		err = open_ring(b);
		if (err)
			dl_log("event ring: %s; kernel events will be missed", strerror(-err));
	}
	tell(b, o, now_ns, gap_ns);
}

int dl_bpf_new(const struct dl_bpf_hooks *hooks, struct dl_bpf **ret_bpf)
{
	struct dl_bpf *b = calloc(1, sizeof(*b));
	uint64_t now_ns = dl_boot_ns();

	if (!b)
		return -ENOMEM;
	b->hooks = *hooks;
	b->shared.name[DL_SHARED_EVENTS] = "events";
	b->shared.name[DL_SHARED_URGENT] = "urgent";
	b->shared.name[DL_SHARED_LOSSES] = "losses";
	b->shared.name[DL_SHARED_JOBS] = "jobs";
	memset(b->shared.fd, -1, sizeof(b->shared.fd));
	libbpf_set_print(quiet);
	for (size_t i = 0; i < DL_OBJ_COUNT; i++) {
		b->objects[i].name = rows[i].name;
		b->objects[i].module = rows[i].module;
		b->objects[i].bytes = rows[i].bytes;
		dl_copy_name(b->objects[i].state.name, sizeof(b->objects[i].state.name),
			     rows[i].name);
		load(b, &b->objects[i], now_ns);
	}
	dl_bpf_measure_hz(b);
	malloc_trim(0); /* parsing the kernel's BTF took megabytes */
	*ret_bpf = b;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return -ENOTSUP;
	return b->ring ? 0 : -EPERM;
}

void dl_bpf_free(struct dl_bpf *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < DL_LIBRARIES_MAX; i++)
		bpf_link__destroy(b->libraries[i].link);
	ring_buffer__free(b->ring);
	for (size_t i = 0; i < DL_OBJ_COUNT; i++)
		dl_bpf_object_unload(&b->objects[i]);
	for (size_t i = 0; i < DL_BPF_SHARED_MAPS; i++)
		if (b->shared.fd[i] >= 0)
			close(b->shared.fd[i]);
	free(b);
}

int dl_bpf_fd(const struct dl_bpf *b)
{
	return b->ring ? ring_buffer__epoll_fd(b->ring) : -1;
}

void dl_bpf_read(struct dl_bpf *b)
{
	b->batch = 0;
	if (b->ring)
		ring_buffer__consume(b->ring);
}

void dl_bpf_tick(struct dl_bpf *b, uint64_t now_ns)
{
	dl_bpf_read(b);
	dl_bpf_measure_hz(b);
	for (size_t i = 0; i < DL_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns && now_ns >= b->objects[i].retry_ns)
			load(b, &b->objects[i], now_ns);
	dl_bpf_poll_rings(b, now_ns);
	dl_bpf_poll_graphs(b, now_ns);
	dl_bpf_poll_movers(b, now_ns);
	dl_bpf_poll_losses(b, now_ns);
}

bool dl_bpf_jobs_running(const struct dl_bpf *b)
{
	return b->jobs_running;
}

static bool uses(const struct dl_bpf_object *o, const char *module)
{
	return o->module && !strcmp(o->module, module);
}

static void empty_map(int fd)
{
	uint64_t key[2]; /* room for the larger of the two keys */

	_Static_assert(sizeof(key) >= sizeof(struct dl_job_key), "room for a key");
	for (size_t i = 0; fd >= 0 && i < DL_MAX_JOBS && !bpf_map_get_next_key(fd, NULL, key); i++)
		bpf_map_delete_elem(fd, key);
}

/* A driver that goes takes its schedulers along: their addresses may be used again. */
static void forget_rings(struct dl_bpf *b)
{
	empty_map(dl_bpf_object_map(&b->objects[DL_OBJ_DRM_SCHED], "jobs"));
	empty_map(dl_bpf_object_map(&b->objects[DL_OBJ_DRM_SCHED], "scheds"));
}

static void let_go(struct dl_bpf *b, struct dl_bpf_object *o, enum dl_sensor_state state,
		   const char *reason, uint64_t now_ns)
{
	dl_bpf_object_unload(o);
	if (!o->lost_ns)
		o->lost_ns = now_ns;
	o->retry_ns = 0;
	o->state.count = 0;
	o->state.state = state;
	dl_copy_name(o->state.reason, sizeof(o->state.reason), reason);
	tell(b, o, now_ns, 0);
}

int dl_bpf_release(struct dl_bpf *b, const char *module, uint64_t now_ns)
{
	int count = 0;

	for (size_t i = 0; i < DL_OBJ_COUNT; i++) {
		struct dl_bpf_object *o = &b->objects[i];

		if (!uses(o, module) || !o->object)
			continue;
		let_go(b, o, DL_SENSOR_RELEASED, "released for unloading, as asked", now_ns);
		count++;
	}
	return count;
}

void dl_bpf_module_changed(struct dl_bpf *b, const char *module, bool loaded, uint64_t now_ns)
{
	for (size_t i = 0; i < DL_OBJ_COUNT; i++) {
		struct dl_bpf_object *o = &b->objects[i];

		if (!uses(o, module))
			continue;
		if (!loaded && (o->object || o->state.state == DL_SENSOR_RELEASED)) {
			let_go(b, o, DL_SENSOR_ABSENT, "its kernel module was unloaded", now_ns);
			forget_rings(b);
		} else if (loaded && !o->object) {
			o->attempts = 0;
			o->retry_ns = now_ns; /* also on the tick, should it be too early */
			load(b, o, now_ns);
		}
	}
}

void dl_bpf_watch(struct dl_bpf *b, uint32_t pid)
{
	int fd = dl_bpf_object_map(&b->objects[DL_OBJ_PROCESS], "watched");
	uint8_t yes = 1;

	if (fd >= 0)
		bpf_map_update_elem(fd, &pid, &yes, BPF_ANY);
}

static int attach_site(struct dl_bpf *b, struct dl_library *lib, const char *path,
		       const char *symbol)
{
	static const struct {
		const char *symbol;
		const char *program;
		bool keeps_arguments;
	} table[] = {
		{ "__cxa_throw", "throw_seen", true },
		{ "ggml_backend_sched_graph_compute_async", "graph_entered", false },
		{ "ggml_backend_tensor_set", "copy_entered", false },
		{ "ggml_backend_tensor_get", "copy_entered", false },
		{ "ggml_backend_sched_synchronize", "graph_synced", false },
	};
	struct bpf_object *object = b->objects[DL_OBJ_ENGINE].object;
	struct bpf_program *p;
	uint64_t offset;
	size_t row = 0;
	int err;

	while (row < sizeof(table) / sizeof(table[0]) && strcmp(table[row].symbol, symbol) != 0)
		row++;
	if (!object || row == sizeof(table) / sizeof(table[0]))
		return -EINVAL;
	p = bpf_object__find_program_by_name(object, table[row].program);
	if (!p)
		return -ENOENT;
	err = dl_elf_site(path, symbol, table[row].keeps_arguments, &offset);
	if (err)
		return err;
	lib->link = bpf_program__attach_uprobe(p, false, -1, path, offset);
	return lib->link ? 0 : -errno;
}

int dl_bpf_attach_library(struct dl_bpf *b, const char *path, const char *symbol)
{
	struct dl_library *lib;
	struct stat st;
	int err;

	if (stat(path, &st))
		return -errno;
	for (size_t i = 0; i < DL_LIBRARIES_MAX; i++)
		if (b->libraries[i].link && b->libraries[i].dev == st.st_dev &&
		    b->libraries[i].ino == st.st_ino && !strcmp(b->libraries[i].symbol, symbol))
			return 0;
	lib = &b->libraries[b->library_count % DL_LIBRARIES_MAX]; /* the oldest makes room */
	bpf_link__destroy(lib->link);
	memset(lib, 0, sizeof(*lib));
	err = attach_site(b, lib, path, symbol);
	if (err)
		return err;
	lib->dev = st.st_dev;
	lib->ino = st.st_ino;
	dl_copy_name(lib->symbol, sizeof(lib->symbol), symbol);
	b->library_count++;
	return 1;
}

bool dl_bpf_sensor(const struct dl_bpf *b, size_t index, struct dl_ev_sensor *ret_sensor)
{
	if (index >= DL_OBJ_COUNT)
		return false;
	*ret_sensor = b->objects[index].state;
	return true;
}
