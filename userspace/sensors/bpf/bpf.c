/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/bpf/bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sensors/bpf/bpf_refusal.h"
#include "sensors/bpf/bpf_state.h"

#include "lib/log.h"

#define RETRY_NS    (200 * DL_NS_PER_MS)
#define RETRY_COUNT 50

uint64_t dl_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[16384]; /* a verifier's log; one thread */
	char *rest = text, *line;

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	while ((line = strsep(&rest, "\n")))
		if (*line)
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

/* Parsed when it is needed, dropped when nothing waits for a module any more. */
static struct btf *kernel_btf(struct dl_bpf *b)
{
	if (!b->kernel)
		b->kernel = btf__load_vmlinux_btf();
	return b->kernel;
}

static void drop_btf(struct dl_bpf *b)
{
	if (!b->kernel)
		return;
	for (size_t i = 0; i < DL_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns)
			return;
	btf__free(b->kernel);
	b->kernel = NULL;
	malloc_trim(0); /* parsing it took megabytes */
}

static void set_up(struct dl_bpf *b)
{
	int err = open_ring(b);

	if (err)
		dl_log("event ring: %s; kernel events will be missed", strerror(-err));
	dl_bpf_set_thresholds(b);
	dl_bpf_set_verdicts(b);
	dl_bpf_set_settings(b, NULL);
}

/* A module's functions are traceable once it is live; before, trying again helps. */
static bool too_early(const struct dl_bpf_object *o, enum dl_module_state before, int err)
{
	return o->module && before != DL_MODULE_LIVE && o->attempts < RETRY_COUNT &&
	       (o->retry_ns || before == DL_MODULE_YOUNG) && dl_refusal_may_pass(err);
}

static void load(struct dl_bpf *b, struct dl_bpf_object *o, uint64_t now_ns)
{
	enum dl_module_state before = o->module ? dl_module_state(o->module) : DL_MODULE_NONE;
	bool was_absent = o->state.state == DL_SENSOR_ABSENT && o->attempts;
	bool last = before != DL_MODULE_YOUNG || o->attempts + 1 >= RETRY_COUNT, waits;
	uint64_t gap_ns = o->lost_ns && now_ns > o->lost_ns ? now_ns - o->lost_ns : 0;
	int err = -ENOENT;

	waits = o->functions && before == DL_MODULE_YOUNG && o->attempts + 1 < RETRY_COUNT;
	if (!waits)
		err = dl_bpf_object_load(o, &b->shared, kernel_btf(b), last);
	o->attempts++;
	if (waits || (err && too_early(o, before, err))) {
		o->retry_ns = now_ns + RETRY_NS;
		return;
	}
	o->retry_ns = 0;
	if (err && was_absent && o->state.state == DL_SENSOR_ABSENT)
		return;
	if (!err) {
		o->lost_ns = 0;
		set_up(b);
	}
	tell(b, o, now_ns, gap_ns);
}

static const char *const shared_maps[DL_BPF_SHARED_MAPS] = {
	[DL_SHARED_EVENTS] = "events",
	[DL_SHARED_URGENT] = "urgent",
	[DL_SHARED_LOSSES] = "losses",
	[DL_SHARED_SETTINGS] = "settings",
	[DL_SHARED_SUMS] = "sums",
	[DL_SHARED_THRESHOLDS] = "thresholds",
	[DL_SHARED_JOBS] = "jobs",
	[DL_SHARED_SCHEDS] = "scheds",
	[DL_SHARED_TIMES] = "times",
	[DL_SHARED_MOVERS] = "movers",
	[DL_SHARED_EVICTED] = "evicted",
	[DL_SHARED_OWNERS] = "owners",
	[DL_SHARED_PASIDS] = "pasids",
	[DL_SHARED_VERDICTS] = "verdicts",
	[DL_SHARED_IOCTL_MARKS] = "ioctl_marks",
};

static void add(struct dl_bpf *b, enum dl_object_index index, uint64_t now_ns)
{
	const struct dl_object_row *row = &dl_object_rows[index];
	struct dl_bpf_object *o = &b->objects[index];

	o->name = row->name;
	o->module = row->module;
	o->functions = row->functions;
	o->bytes = row->bytes;
	dl_copy_name(o->state.name, sizeof(o->state.name), row->name);
	dl_bpf_object_list(o);
	load(b, o, now_ns);
}

int dl_bpf_new(const struct dl_bpf_hooks *hooks, struct dl_bpf **ret_bpf)
{
	struct dl_bpf *b = calloc(1, sizeof(*b));
	uint64_t now_ns = dl_boot_ns();

	if (!b)
		return -ENOMEM;
	b->hooks = *hooks;
	b->self = (uint32_t)getpid();
	memcpy(b->shared.name, shared_maps, sizeof(shared_maps));
	memset(b->shared.fd, -1, sizeof(b->shared.fd));
	b->sums_told = calloc(DL_TOLD_MAX, sizeof(*b->sums_told));
	b->functions_off = dl_functions_off();
	libbpf_set_print(quiet);
	for (size_t i = 0; b->sums_told && i < DL_OBJ_COUNT; i++)
		add(b, (enum dl_object_index)i, now_ns);
	drop_btf(b);
	if (!b->sums_told) {
		free(b);
		return -ENOMEM;
	}
	dl_bpf_measure_hz(b);
	*ret_bpf = b;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return -ENOTSUP;
	return b->ring ? 0 : -EPERM;
}

void dl_bpf_free(struct dl_bpf *b)
{
	if (!b)
		return;
	dl_bpf_probes_free(b);
	ring_buffer__free(b->ring);
	for (size_t i = 0; i < DL_OBJ_COUNT; i++)
		dl_bpf_object_unload(&b->objects[i]);
	btf__free(b->kernel);
	free(b->sums_told);
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

/* kernel.ftrace_enabled=0 blinds every program on a function, without a word. */
static void look_at_ftrace(struct dl_bpf *b, uint64_t now_ns)
{
	bool off = dl_functions_off();

	if (off == b->functions_off)
		return;
	b->functions_off = off;
	for (size_t i = 0; i < DL_OBJ_COUNT; i++) {
		struct dl_bpf_object *o = &b->objects[i];

		if (!o->functions || (!o->object && o->state.state != DL_SENSOR_REFUSED))
			continue;
		if (o->object && !o->lost_ns)
			o->lost_ns = now_ns; /* until it is live again: the gap is told */
		dl_bpf_set_settings(b, o);
		dl_bpf_object_unload(o);
		load(b, o, now_ns);
	}
}

/* Where the kernel does not tell of modules (lockdown=confidentiality), they are looked for. */
static void look_for_modules(struct dl_bpf *b, uint64_t now_ns)
{
	if (dl_bpf_object_has_live(&b->objects[DL_OBJ_PROCESS], "module_loaded"))
		return;
	for (size_t i = 0; i < DL_OBJ_COUNT; i++) {
		struct dl_bpf_object *o = &b->objects[i];

		if (o->module && !o->object && o->state.state == DL_SENSOR_ABSENT &&
		    dl_module_state(o->module) == DL_MODULE_LIVE)
			load(b, o, now_ns);
	}
}

void dl_bpf_tick(struct dl_bpf *b, uint64_t now_ns)
{
	b->read_ns = now_ns;
	dl_bpf_read(b);
	dl_bpf_measure_hz(b);
	for (size_t i = 0; i < DL_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns && now_ns >= b->objects[i].retry_ns)
			load(b, &b->objects[i], now_ns);
	if (now_ns - b->looked_ns >= DL_NS_PER_S) {
		b->looked_ns = now_ns;
		look_at_ftrace(b, now_ns);
		look_for_modules(b, now_ns);
	}
	dl_bpf_poll_rings(b, now_ns);
	dl_bpf_poll_graphs(b, now_ns);
	dl_bpf_poll_movers(b, now_ns);
	dl_bpf_poll_sums(b, now_ns);
	dl_bpf_poll_times(b, now_ns);
	dl_bpf_probes_tick(b, now_ns);
	drop_btf(b);
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

static void let_go(struct dl_bpf *b, struct dl_bpf_object *o, enum dl_sensor_state state,
		   const char *reason, uint64_t now_ns)
{
	dl_bpf_set_settings(b, o); /* who else tells the same takes over first */
	dl_bpf_object_off(o, state, reason);
	if (!o->lost_ns)
		o->lost_ns = now_ns;
	o->retry_ns = 0;
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
		if (!loaded && (o->object || o->state.state == DL_SENSOR_RELEASED))
			let_go(b, o, DL_SENSOR_ABSENT, "its kernel module was unloaded", now_ns);
		else if (loaded && !o->object) {
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

bool dl_bpf_sensor(const struct dl_bpf *b, size_t index, struct dl_ev_sensor *ret_sensor)
{
	if (index >= DL_OBJ_COUNT)
		return false;
	*ret_sensor = b->objects[index].state;
	return true;
}

bool dl_bpf_program(const struct dl_bpf *b, size_t index, struct dl_program_state_view *ret_view)
{
	static const char *const states[DL_PROGRAM_STATE_COUNT] = {
		[DL_PROGRAM_LIVE] = "live",	      [DL_PROGRAM_ABSENT] = "absent",
		[DL_PROGRAM_UNTRUSTED] = "untrusted", [DL_PROGRAM_REFUSED] = "refused",
		[DL_PROGRAM_ON_DEMAND] = "on demand",
	};
	const struct dl_bpf_object *o = b->objects;

	while (o < b->objects + DL_OBJ_COUNT && index >= o->program_count)
		index -= (o++)->program_count;
	if (o == b->objects + DL_OBJ_COUNT)
		return false;
	ret_view->object = o->name;
	ret_view->program = o->program[index].name;
	ret_view->hook = o->program[index].hook;
	ret_view->state = states[o->program[index].state];
	ret_view->reason = o->program[index].reason;
	return true;
}
