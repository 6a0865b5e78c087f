/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/bpf/bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "sensors/bpf/bpf_refusal.h"
#include "sensors/bpf/bpf_state.h"
#include "sensors/bpf/kernel_types.h"

#include "lib/log.h"
#include "lib/resident.h"

#define RETRY_NS     (200 * DAVY_NS_PER_MS)
#define RETRY_COUNT  50
#define JOB_NS	     (5 * DAVY_NS_PER_S)   /* a reported job keeps the agent awake */
#define FUNCTIONS_NS (600 * DAVY_NS_PER_S) /* between looks at an unchanged ftrace_enabled */

uint64_t davy_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * DAVY_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int bpf_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	static char text[16384]; /* a verifier's log; one thread */
	char *rest = text, *line;

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			davy_debug("%s", line);
	return 0;
}

static void bpf_tell(struct davy_bpf *b, const struct davy_bpf_object *o, uint64_t now_ns,
		     uint64_t gap_ns)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now_ns;
	ev.kind = DAVY_EV_SENSOR;
	ev.sensor = o->state;
	ev.sensor.gap_ns = gap_ns;
	davy_sensor_say(b, &ev);
}

static void close_rings(struct davy_bpf *b)
{
	davy_ring_close(&b->urgent);
	davy_ring_close(&b->events);
	if (b->rings_fd >= 0)
		close(b->rings_fd);
	b->rings_fd = -1;
}

static int open_rings(struct davy_bpf *b)
{
	int events = b->shared.fd[DAVY_SHARED_EVENTS], urgent = b->shared.fd[DAVY_SHARED_URGENT];
	struct epoll_event readable = { .events = EPOLLIN };
	int err;

	if (b->rings_fd >= 0 || events < 0 || urgent < 0)
		return 0;
	b->rings_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->rings_fd < 0 || epoll_ctl(b->rings_fd, EPOLL_CTL_ADD, urgent, &readable) ||
	    epoll_ctl(b->rings_fd, EPOLL_CTL_ADD, events, &readable))
		err = -errno;
	else
		err = davy_ring_open(&b->urgent, urgent);
	if (!err)
		err = davy_ring_open(&b->events, events);
	if (err)
		close_rings(b);
	return err;
}

/* Held until nothing waits for a module any more. */
static void drop_types(const struct davy_bpf *b)
{
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns)
			return;
	if (davy_kernel_types_drop())
		davy_resident_shed(); /* parsing them took megabytes */
}

static void bpf_set_up(struct davy_bpf *b)
{
	int err = open_rings(b);

	if (err)
		davy_log("event ring: %s; kernel events will be missed", strerror(-err));
	davy_bpf_set_thresholds(b);
	davy_bpf_set_verdicts(b);
	davy_bpf_set_settings(b, NULL);
}

/* A module's functions are traceable once it is live; before, trying again helps. */
static bool too_early(const struct davy_bpf_object *o, enum davy_module_state before, int err)
{
	return o->module && before != DAVY_MODULE_LIVE && o->attempts < RETRY_COUNT &&
	       (o->retry_ns || before == DAVY_MODULE_YOUNG) && davy_refusal_may_pass(err);
}

static bool bpf_is_unwanted(const struct davy_bpf *b, const struct davy_bpf_object *o)
{
	return o == &b->objects[DAVY_OBJ_ADMIT] && !b->vram_wanted;
}

static void bpf_load(struct davy_bpf *b, struct davy_bpf_object *o, uint64_t now_ns)
{
	enum davy_module_state before = o->module ? davy_module_state(o->module) : DAVY_MODULE_NONE;
	bool was_absent = o->state.state == DAVY_SENSOR_ABSENT && o->attempts;
	bool last = before != DAVY_MODULE_YOUNG || o->attempts + 1 >= RETRY_COUNT, waits;
	uint64_t gap_ns = o->lost_ns && now_ns > o->lost_ns ? now_ns - o->lost_ns : 0;
	int err = -ENOENT;

	if (bpf_is_unwanted(b, o)) {
		davy_bpf_object_off(o, DAVY_SENSOR_ABSENT,
				    "no vram_max, vram_reserve or vram_account");
		o->retry_ns = 0;
		return;
	}
	waits = o->functions && before == DAVY_MODULE_YOUNG && o->attempts + 1 < RETRY_COUNT;
	if (!waits)
		err = davy_bpf_object_load(o, &b->shared, davy_kernel_types(), last);
	o->attempts++;
	if (waits || (err && too_early(o, before, err))) {
		o->retry_ns = now_ns + RETRY_NS;
		return;
	}
	o->retry_ns = 0;
	if (err && was_absent && o->state.state == DAVY_SENSOR_ABSENT)
		return;
	if (!err) {
		o->lost_ns = 0;
		bpf_set_up(b);
		davy_bpf_object_iterate(o);
	}
	bpf_tell(b, o, now_ns, gap_ns);
}

static const char *const shared_maps[DAVY_BPF_SHARED_MAPS] = {
	[DAVY_SHARED_EVENTS] = "events",
	[DAVY_SHARED_URGENT] = "urgent",
	[DAVY_SHARED_LOSSES] = "losses",
	[DAVY_SHARED_SETTINGS] = "settings",
	[DAVY_SHARED_SUMS] = "sums",
	[DAVY_SHARED_THRESHOLDS] = "thresholds",
	[DAVY_SHARED_JOBS] = "jobs",
	[DAVY_SHARED_SCHEDS] = "scheds",
	[DAVY_SHARED_TIMES] = "times",
	[DAVY_SHARED_MOVERS] = "movers",
	[DAVY_SHARED_EVICTED] = "evicted",
	[DAVY_SHARED_OWNERS] = "owners",
	[DAVY_SHARED_PASIDS] = "pasids",
	[DAVY_SHARED_VERDICTS] = "verdicts",
	[DAVY_SHARED_IOCTL_MARKS] = "ioctl_marks",
};

static void bpf_add(struct davy_bpf *b, enum davy_object_index index, uint64_t now_ns)
{
	const struct davy_object_row *row = &davy_object_rows[index];
	struct davy_bpf_object *o = &b->objects[index];

	o->name = row->name;
	o->module = row->module;
	o->functions = row->functions;
	o->bytes = row->bytes;
	o->keeps = index == DAVY_OBJ_ADMIT;
	davy_copy_name(o->state.name, sizeof(o->state.name), row->name);
	davy_bpf_object_list(o);
	bpf_load(b, o, now_ns);
}

int davy_bpf_new(const struct davy_bpf_hooks *hooks, struct davy_bpf **ret_bpf)
{
	struct davy_bpf *b = calloc(1, sizeof(*b));
	uint64_t now_ns = davy_boot_ns();

	if (!b)
		return -ENOMEM;
	b->hooks = *hooks;
	b->self = (uint32_t)getpid();
	memcpy(b->shared.name, shared_maps, sizeof(shared_maps));
	memset(b->shared.fd, -1, sizeof(b->shared.fd));
	b->rings_fd = -1;
	b->sums_reported = calloc(DAVY_REPORTED_MAX, sizeof(*b->sums_reported));
	b->functions_off = davy_functions_off();
	libbpf_set_print(bpf_quiet);
	for (size_t i = 0; b->sums_reported && i < DAVY_OBJ_COUNT; i++)
		bpf_add(b, (enum davy_object_index)i, now_ns);
	drop_types(b);
	if (!b->sums_reported) {
		free(b);
		return -ENOMEM;
	}
	davy_bpf_measure_hz(b);
	*ret_bpf = b;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return -ENOTSUP;
	return b->rings_fd >= 0 ? 0 : -EPERM;
}

void davy_bpf_free(struct davy_bpf *b)
{
	if (!b)
		return;
	davy_bpf_probes_free(b);
	close_rings(b);
	b->objects[DAVY_OBJ_ADMIT].pins = NULL; /* they stay: that is what they are for */
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++)
		davy_bpf_object_unload(&b->objects[i]);
	davy_kernel_types_drop();
	free(b->sums_reported);
	for (size_t i = 0; i < DAVY_BPF_SHARED_MAPS; i++)
		if (b->shared.fd[i] >= 0)
			close(b->shared.fd[i]);
	free(b);
}

int davy_bpf_fd(const struct davy_bpf *b)
{
	return b->rings_fd;
}

void davy_bpf_read(struct davy_bpf *b)
{
	b->batch = 0;
	if (b->rings_fd >= 0 && !davy_ring_read(&b->urgent, davy_bpf_record, b))
		davy_ring_read(&b->events, davy_bpf_record, b);
}

/*
 * kernel.ftrace_enabled=0 blinds every program on a function, without a word. It is seldom read:
 * the read waits for ftrace's lock, which is held while a module's functions are made known, for
 * seconds with amdgpu (ftrace_module_enable, 6.1 to 7.2). Not never: ftrace_kill() is no write.
 */
static void look_at_ftrace(struct davy_bpf *b, uint64_t now_ns)
{
	bool told = davy_bpf_object_has_live(&b->objects[DAVY_OBJ_HOST], "ftrace_switched"), off;

	if (told && !b->functions_due && now_ns - b->functions_read_ns < FUNCTIONS_NS)
		return;
	b->functions_read_ns = now_ns;
	b->functions_due = false;
	off = davy_functions_off();
	if (off == b->functions_off)
		return;
	b->functions_off = off;
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		struct davy_bpf_object *o = &b->objects[i];

		if (!o->functions || (!o->loaded && o->state.state != DAVY_SENSOR_REFUSED))
			continue;
		if (o->loaded && !o->lost_ns)
			o->lost_ns = now_ns; /* until it is live again: the gap is reported */
		if (off && o->loaded) {
			davy_bpf_object_blind(o);
			bpf_tell(b, o, now_ns, 0);
		} else if (!off) {
			davy_bpf_object_unload(o);
			bpf_load(b, o, now_ns);
		}
		davy_bpf_set_settings(b, NULL);
	}
}

/* Where the kernel does not tell of modules (lockdown=confidentiality), they are looked for. */
static void look_for_modules(struct davy_bpf *b, uint64_t now_ns)
{
	if (davy_bpf_object_has_live(&b->objects[DAVY_OBJ_PROCESS], "module_loaded"))
		return;
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		struct davy_bpf_object *o = &b->objects[i];

		if (o->module && !o->loaded && o->state.state == DAVY_SENSOR_ABSENT &&
		    davy_module_state(o->module) == DAVY_MODULE_LIVE)
			bpf_load(b, o, now_ns);
	}
}

void davy_bpf_tick(struct davy_bpf *b, uint64_t now_ns)
{
	b->read_ns = now_ns;
	davy_bpf_read(b);
	davy_bpf_measure_hz(b);
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns && now_ns >= b->objects[i].retry_ns)
			bpf_load(b, &b->objects[i], now_ns);
	if (now_ns - b->looked_ns >= DAVY_NS_PER_S) {
		b->looked_ns = now_ns;
		look_at_ftrace(b, now_ns);
		look_for_modules(b, now_ns);
		davy_bpf_poll_skipped(b, now_ns);
	}
	davy_bpf_poll_rings(b, now_ns);
	davy_bpf_poll_graphs(b, now_ns);
	davy_bpf_poll_movers(b, now_ns);
	davy_bpf_poll_sums(b, now_ns);
	davy_bpf_poll_times(b, now_ns);
	davy_bpf_probes_tick(b, now_ns);
	drop_types(b);
	davy_bpf_poll_losses(b, now_ns);
	davy_bpf_vram_tick(b, now_ns);
}

bool davy_bpf_jobs_running(const struct davy_bpf *b)
{
	return b->jobs_running;
}

bool davy_bpf_stirs(const struct davy_bpf *b, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++)
		if (b->objects[i].retry_ns)
			return true;
	return b->jobs_running || (b->job_reported_ns && now_ns < b->job_reported_ns + JOB_NS);
}

void davy_bpf_tell_jobs(struct davy_bpf *b, bool on)
{
	if (b->tells_jobs == on)
		return;
	b->tells_jobs = on;
	davy_bpf_set_settings(b, NULL);
}

bool davy_bpf_tells_jobs(const struct davy_bpf *b)
{
	return b->tells_jobs;
}

static bool uses(const struct davy_bpf_object *o, const char *module)
{
	return o->module && !strcmp(o->module, module);
}

static void bpf_let_go(struct davy_bpf *b, struct davy_bpf_object *o, enum davy_sensor_state state,
		       const char *reason, uint64_t now_ns)
{
	davy_bpf_set_settings(b, o); /* who else tells the same takes over first */
	davy_bpf_object_off(o, state, reason);
	if (!o->lost_ns)
		o->lost_ns = now_ns;
	o->retry_ns = 0;
	bpf_tell(b, o, now_ns, 0);
}

int davy_bpf_release(struct davy_bpf *b, const char *module, uint64_t now_ns)
{
	int count = 0;

	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		struct davy_bpf_object *o = &b->objects[i];

		if (!uses(o, module) || !o->loaded)
			continue;
		bpf_let_go(b, o, DAVY_SENSOR_RELEASED, "released for unloading, as asked", now_ns);
		count++;
	}
	return count;
}

void davy_bpf_module_changed(struct davy_bpf *b, const char *module, bool loaded, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_OBJ_COUNT; i++) {
		struct davy_bpf_object *o = &b->objects[i];

		if (!uses(o, module))
			continue;
		if (!loaded && (o->loaded || o->state.state == DAVY_SENSOR_RELEASED))
			bpf_let_go(b, o, DAVY_SENSOR_ABSENT, "its kernel module was unloaded",
				   now_ns);
		else if (loaded && !o->loaded) {
			o->attempts = 0;
			o->retry_ns = now_ns; /* also on the tick, should it be too early */
			bpf_load(b, o, now_ns);
		}
	}
}

void davy_bpf_want(struct davy_bpf *b, enum davy_object_index index, bool wanted)
{
	struct davy_bpf_object *o = &b->objects[index];

	o->attempts = 0;
	if (wanted)
		bpf_load(b, o, davy_boot_ns());
	else
		davy_bpf_object_off(o, DAVY_SENSOR_ABSENT, "no longer wanted");
	drop_types(b);
}

void davy_bpf_watch(struct davy_bpf *b, uint32_t pid)
{
	int fd = davy_bpf_object_map(&b->objects[DAVY_OBJ_PROCESS], "watched");
	uint8_t yes = 1;

	if (fd >= 0)
		bpf_map_update_elem(fd, &pid, &yes, BPF_ANY);
}

bool davy_bpf_sensor(const struct davy_bpf *b, size_t index, struct davy_ev_sensor *ret_sensor)
{
	if (index >= DAVY_OBJ_COUNT)
		return false;
	*ret_sensor = b->objects[index].state;
	return true;
}

bool davy_bpf_program(const struct davy_bpf *b, size_t index,
		      struct davy_program_state_view *ret_view)
{
	static const char *const states[DAVY_PROGRAM_STATE_COUNT] = {
		[DAVY_PROGRAM_LIVE] = "live",		[DAVY_PROGRAM_ABSENT] = "absent",
		[DAVY_PROGRAM_UNTRUSTED] = "untrusted", [DAVY_PROGRAM_REFUSED] = "refused",
		[DAVY_PROGRAM_ON_DEMAND] = "on demand",
	};
	const struct davy_bpf_object *o = b->objects;

	while (o < b->objects + DAVY_OBJ_COUNT && index >= o->program_count)
		index -= (o++)->program_count;
	if (o == b->objects + DAVY_OBJ_COUNT)
		return false;
	ret_view->object = o->name;
	ret_view->program = o->program[index].name;
	ret_view->hook = o->program[index].hook;
	ret_view->state = states[o->program[index].state];
	ret_view->reason = o->program[index].reason;
	return true;
}
