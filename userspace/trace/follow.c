/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/follow.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "discovery.skel.h"

#include "bpf/discovery.h"
#include "lib/file.h"
#include "sensors/proc/container_path.h"
#include "trace/functions.h"
#include "trace/probes.h"
#include "trace/uprobes.h"
#include "trace/keepalive.h"

/* A probe takes 0.1 ms; the first after a pause takes a grace period: 20 ms, or more under load. */
#define DELAY_NS    250000000
#define KERNEL_BTF  "/sys/kernel/btf/vmlinux"
#define LINES_MAX   20000
#define STRINGS_MAX ((size_t)131072)
#define READERS_MAX 4

_Static_assert(DAVY_FUNCTIONS_MAX <= DAVY_RAW_FUNCTIONS, "room for every function");

/* A reader thread, pinned to one CPU. */
struct reader {
	struct davy_follow *follow;
	pthread_t thread;
	int cpu;
};

struct davy_follow {
	pthread_mutex_t lock; /* protects this struct and the sink's data */
	struct reader reader[READERS_MAX];
	size_t reader_count;
	int stop;			  /* readable: the readers must end */
	struct davy_keepalive *keepalive; /* NULL: not available, probes may be late */
	pthread_t keepalive_thread;
	struct davy_bpf_discovery *bpf;
	struct ring_buffer *ring;
	struct davy_decoder *decoder;
	struct davy_probes *probes;
	davy_step_sink sink;
	void *arg;
	uint64_t damaged;
	bool stopped; /* no new probes */
};

static int follow_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Whether fd is the file of the step: descriptor and name may have changed. */
static bool follow_is_file(int fd, const struct davy_start_step *step)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == step->inode;
}

static void watch_file(struct davy_follow *f, const struct davy_start_step *step)
{
	char path[PATH_MAX], self[DAVY_SELF_FD_SIZE];
	DAVY_FD fd = -1, named = -1;

	if (!davy_root_path(path, sizeof(path), "/proc/%u/fd/%d", step->pid, step->code))
		fd = open(path, O_PATH | O_CLOEXEC);
	if (follow_is_file(fd, step)) {
		(void)davy_probes_library(f->probes, davy_self_fd(fd, self), step->path);
		return;
	}
	named = davy_open_in_root(step->pid, step->path);
	if (named >= 0)
		(void)davy_probes_library(f->probes, davy_self_fd(named, self), step->path);
}

static void put_probes(struct davy_follow *f, const struct davy_start_step *step)
{
	if (step->kind == DAVY_STEP_EXEC || step->kind == DAVY_STEP_LOADED)
		davy_probes_process(f->probes, step->pid);
	else if (step->kind == DAVY_STEP_OPEN)
		watch_file(f, step);
	else if (step->kind == DAVY_STEP_CALL)
		(void)davy_probes_site(f->probes, step);
}

/* Sets the probes for a step; a thread may be waiting for them. */
static void follow_serve(struct davy_follow *f, const struct davy_start_step *step)
{
	uint32_t released = 1;

	if (!f->stopped)
		put_probes(f, step);
	if (step->delayed)
		(void)bpf_map__update_elem(f->bpf->maps.waiting, &step->tid, sizeof(step->tid),
					   &released, sizeof(released), BPF_EXIST);
}

static int on_record(void *arg, void *data, size_t size)
{
	struct davy_follow *f = arg;
	struct davy_start_step step;
	int got = davy_decoder_feed(f->decoder, data, size, &step);

	if (got < 0)
		f->damaged++;
	if (got != 1)
		return 0;
	if (step.delayed || step.fresh)
		follow_serve(f, &step);
	if (step.kind != DAVY_STEP_LOADED)
		f->sink(f->arg, &step);
	return 0;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = DAVY_RAW_HASH_START;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * DAVY_RAW_HASH_PRIME;
	return hash;
}

static int fill_maps(const struct davy_follow *f)
{
	uint8_t yes = 1;
	int err = 0;

	for (uint32_t i = 0; !err && i < davy_function_count; i++) {
		struct davy_raw_function row = { .text = davy_functions[i].text,
						 .count = davy_functions[i].count,
						 .limit = davy_functions[i].limit };
		uint64_t hash = hash_of(davy_functions[i].library);

		err = bpf_map__update_elem(f->bpf->maps.functions, &i, sizeof(i), &row, sizeof(row),
					   BPF_ANY);
		if (!err)
			err = bpf_map__update_elem(f->bpf->maps.known_names, &hash, sizeof(hash),
						   &yes, sizeof(yes), BPF_ANY);
	}
	return err;
}

static int follow_load(struct davy_follow *f, const char *unit)
{
	struct bpf_program *program;
	int err;

	f->bpf = davy_bpf_discovery__open();
	if (!f->bpf)
		return -errno;
	bpf_object__for_each_program(program, f->bpf->obj) {
		bpf_program__set_autoload(program, true);
		if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE)
			bpf_program__set_expected_attach_type(program, DAVY_UPROBE_MULTI);
	}
	f->bpf->rodata->delay_ns = DELAY_NS;
	if (unit && strlen(unit) >= sizeof(f->bpf->rodata->unit))
		return -ENAMETOOLONG;
	if (unit)
		snprintf((char *)f->bpf->rodata->unit, sizeof(f->bpf->rodata->unit), "%s", unit);
	err = davy_bpf_discovery__load(f->bpf);
	if (err)
		return err;
	err = fill_maps(f);
	return err ? err : davy_bpf_discovery__attach(f->bpf);
}

static int make_probes(struct davy_follow *f)
{
	struct davy_probe_programs programs = {
		.call = bpf_program__fd(f->bpf->progs.discovery_call),
		.back = bpf_program__fd(f->bpf->progs.discovery_return),
		.signal_error = bpf_program__fd(f->bpf->progs.discovery_signal_error),
		.exception = bpf_program__fd(f->bpf->progs.discovery_exception),
		.exception_format = bpf_program__fd(f->bpf->progs.discovery_exception_format),
		.loaded = bpf_program__fd(f->bpf->progs.discovery_loaded),
		.seen_files = bpf_map__fd(f->bpf->maps.seen_files),
	};
	int err = davy_probes_new(&programs, &f->probes);

	/* Most programs use our ld.so and libc: probe them before any program waits. */
	if (!err)
		davy_probes_process(f->probes, (uint32_t)getpid());
	return err;
}

static int follow_open_all(struct davy_follow *f, const char *unit)
{
	int err = follow_load(f, unit);

	if (err)
		return err;
	err = davy_decoder_new(&f->decoder);
	if (!err)
		err = make_probes(f);
	if (err)
		return err;
	f->ring = ring_buffer__new(bpf_map__fd(f->bpf->maps.steps), on_record, f, NULL);
	return f->ring ? 0 : -errno;
}

/*
 * A thread that waits for us in its exec blocks its CPU; a reader that sleeps on that CPU cannot
 * run. So several CPUs have a reader each, with a higher priority than ordinary threads.
 */
static void *read_steps(void *arg)
{
	const struct reader *r = arg;
	struct davy_follow *f = r->follow;
	struct sched_param first = { .sched_priority = 1 };
	struct pollfd fds[2] = { { .fd = ring_buffer__epoll_fd(f->ring), .events = POLLIN },
				 { .fd = f->stop, .events = POLLIN } };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)r->cpu, &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	while (poll(fds, 2, -1) > 0 && !fds[1].revents)
		davy_follow_read(f);
	return NULL;
}

static void choose_cpus(struct davy_follow *f)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && f->reader_count < READERS_MAX; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed)) {
			f->reader[f->reader_count].follow = f;
			f->reader[f->reader_count++].cpu = cpu;
		}
}

static void *follow_keepalive(void *arg)
{
	struct davy_follow *f = arg;
	struct sched_param first = { .sched_priority = 2 };
	struct pollfd stop = { .fd = f->stop, .events = POLLIN };
	struct timespec every = { .tv_nsec = davy_keepalive_every_ns() };

	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	while (!ppoll(&stop, 1, &every, NULL))
		davy_keepalive_again(f->keepalive);
	return NULL;
}

static void start_keepalive(struct davy_follow *f)
{
	if (davy_keepalive_open(&f->keepalive) ||
	    !pthread_create(&f->keepalive_thread, NULL, follow_keepalive, f))
		return;
	davy_keepalive_close(f->keepalive);
	f->keepalive = NULL;
}

static int start_readers(struct davy_follow *f)
{
	f->stop = eventfd(0, EFD_CLOEXEC);
	if (f->stop < 0)
		return -errno;
	start_keepalive(f);
	for (size_t i = 0; i < f->reader_count; i++) {
		int err = pthread_create(&f->reader[i].thread, NULL, read_steps, &f->reader[i]);

		if (!err)
			continue;
		f->reader_count = i;
		return -err;
	}
	return 0;
}

static void stop_readers(struct davy_follow *f)
{
	uint64_t one = 1;

	if (f->stop < 0)
		return;
	(void)!write(f->stop, &one, sizeof(one));
	for (size_t i = 0; i < f->reader_count; i++)
		pthread_join(f->reader[i].thread, NULL);
	f->reader_count = 0;
	if (f->keepalive)
		pthread_join(f->keepalive_thread, NULL);
	davy_keepalive_close(f->keepalive);
	f->keepalive = NULL;
	close(f->stop);
	f->stop = -1;
}

/* Priority inheritance: an ordinary owner runs with the priority of a waiting reader. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t inherit;

	pthread_mutexattr_init(&inherit);
	pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &inherit);
	pthread_mutexattr_destroy(&inherit);
}

int davy_follow_open(const char *unit, davy_step_sink sink, void *arg,
		     struct davy_follow **ret_follow)
{
	struct davy_follow *f;
	int err;

	if (access(KERNEL_BTF, R_OK))
		return -ENODATA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	libbpf_set_print(follow_quiet);
	f->sink = sink;
	f->arg = arg;
	f->stop = -1;
	init_lock(&f->lock);
	choose_cpus(f);
	err = follow_open_all(f, unit);
	if (!err)
		err = start_readers(f);
	if (err) {
		davy_follow_close(f);
		return err;
	}
	*ret_follow = f;
	return 0;
}

void davy_follow_close(struct davy_follow *f)
{
	if (!f)
		return;
	stop_readers(f);
	davy_probes_free(f->probes);
	ring_buffer__free(f->ring);
	davy_bpf_discovery__destroy(f->bpf);
	davy_decoder_free(f->decoder);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int davy_follow_add(struct davy_follow *f, uint32_t pid)
{
	uint8_t yes = 1;

	return bpf_map__update_elem(f->bpf->maps.followed, &pid, sizeof(pid), &yes, sizeof(yes),
				    BPF_ANY);
}

/* Emits an exec step with arguments and environment, then map steps for the mappings. */
static void follow_emit_mappings(struct davy_follow *f, struct davy_start_step *step)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	DAVY_FILE file = NULL;

	if (davy_root_path(path, sizeof(path), "/proc/%u/maps", step->pid))
		return;
	file = fopen(path, "re");
	step->kind = DAVY_STEP_MAP;
	for (int i = 0; file && i < LINES_MAX && getline(&line, &size, file) > 0; i++) {
		char *name = strchr(line, '/');
		const char *rights = strchr(line, ' ');

		if (!name || !rights || rights[3] != 'x')
			continue;
		name[strcspn(name, "\n")] = 0;
		step->path = davy_step_base(name);
		f->sink(f->arg, step);
	}
	free(line);
}

int davy_follow_running(struct davy_follow *f, uint32_t pid)
{
	struct davy_start_step step = {
		.kind = DAVY_STEP_EXEC, .pid = pid, .tid = pid, .text = ""
	};
	char path[PATH_MAX], exe[PATH_MAX] = "", *strings;
	struct timespec now;
	ssize_t n;
	int err;

	err = davy_follow_add(f, pid);
	strings = malloc(2 * STRINGS_MAX);
	if (err || !strings) {
		free(strings);
		return err ? err : -ENOMEM;
	}
	clock_gettime(CLOCK_BOOTTIME, &now);
	step.at_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (!davy_root_path(path, sizeof(path), "/proc/%u/exe", pid) &&
	    readlink(path, exe, sizeof(exe) - 1) < 0)
		exe[0] = 0;
	step.path = exe;
	step.argv = strings;
	step.envp = strings + STRINGS_MAX;
	n = davy_root_path(path, sizeof(path), "/proc/%u/cmdline", pid)
		    ? 0
		    : davy_read_file(path, strings, STRINGS_MAX);
	step.argv_size = n > 0 ? (size_t)n : 0;
	n = davy_root_path(path, sizeof(path), "/proc/%u/environ", pid)
		    ? 0
		    : davy_read_file(path, strings + STRINGS_MAX, STRINGS_MAX);
	step.envp_size = n > 0 ? (size_t)n : 0;
	pthread_mutex_lock(&f->lock);
	davy_probes_process(f->probes, pid);
	f->sink(f->arg, &step);
	follow_emit_mappings(f, &step);
	pthread_mutex_unlock(&f->lock);
	free(strings);
	return 0;
}

void davy_follow_lock(struct davy_follow *f)
{
	pthread_mutex_lock(&f->lock);
}

void davy_follow_unlock(struct davy_follow *f)
{
	pthread_mutex_unlock(&f->lock);
}

void davy_follow_read(struct davy_follow *f)
{
	pthread_mutex_lock(&f->lock);
	(void)ring_buffer__consume(f->ring);
	pthread_mutex_unlock(&f->lock);
}

static uint64_t follow_loss(const struct davy_follow *f, uint32_t cause)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *each, sum = 0;

	each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;
	if (each && !bpf_map__lookup_elem(f->bpf->maps.step_losses, &cause, sizeof(cause), each,
					  (size_t)cpus * sizeof(*each), 0))
		for (int i = 0; i < cpus; i++)
			sum += each[i];
	free(each);
	return sum;
}

struct davy_follow_losses davy_follow_lost(const struct davy_follow *f)
{
	return (struct davy_follow_losses){
		.steps = follow_loss(f, DAVY_RAW_LOSS_RING) + f->damaged,
		.children = follow_loss(f, DAVY_RAW_LOSS_FOLLOWED),
		.late = follow_loss(f, DAVY_RAW_LOSS_DELAY),
	};
}

void davy_follow_stop(struct davy_follow *f)
{
	f->bpf->bss->late_count = UINT16_MAX; /* no thread waits from now on */
	davy_bpf_discovery__detach(f->bpf);
	stop_readers(f);
	f->stopped = true;
	davy_follow_read(f);
}
