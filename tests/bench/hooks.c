// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs for drivers' hooks on a machine without these drivers: each is loaded as a raw
 * tracepoint and run by BPF_PROG_TEST_RUN with the objects that a driver would pass. The objects
 * lie in the value of a map, which is kernel memory. CO-RE gets the types that the programs
 * declare, so that the layout of the objects is theirs.
 *
 * hooks cost FOLDER ROUNDS RUNS        ns of each program per run (bpf_stats), one line per round
 * hooks rate FOLDER PID RATE SECONDS   page faults into the maps of the agent PID: prints how many
 * hooks jobs FOLDER PID COUNT          COUNT running jobs in them, until its input ends
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "many.h"
#include "wire.h"

#define ARENA_BYTES (4u << 20)
#define ONE_BY_ONE  200000 /* events per second */
#define COPIES	    64	   /* of a scenario's objects: buffers, jobs, processes */
#define OBJECTS	    12
#define STEPS	    6
#define MAPS	    64
#define JOB_STEPS   4
#define TEXT	    "text" /* the type of "0000:03:00.0" */

/* A program and its arguments: numbers, or &OBJECT[.MEMBER] of the copy. */
struct step {
	const char *object, *program, *what, *args;
};

/*
 * "NAME:TYPE" makes an object for each copy, "NAME::TYPE" one for all. "NAME.MEMBER=VALUE" sets it:
 * a number, &OBJECT[.MEMBER], or # for the number of the copy. All copies go through a step before
 * the next step.
 */
struct scenario {
	const char *objects;
	struct step step[STEPS];
};

#define DEVICE "dev::device name::text dev.kobj.name=&name "
#define AMDGPU DEVICE "adev::amdgpu_device adev.dev=&dev adev.ddev.dev=&dev "
#define IV     AMDGPU "iv:amdgpu_iv_entry iv.ih=&adev.irq.ih iv.pasid=# "
#define TTM    AMDGPU "bo:amdgpu_bo bo.tbo.base.size=1048576 bo.tbo.base.dev=&adev.ddev "
#define JOB                                                                                        \
	DEVICE "sched::drm_gpu_scheduler sched.name=&name sched.timeout=2500 sched.dev=&dev "      \
	       "fence:drm_sched_fence fence.finished.seqno=# fence.finished.context=7 "            \
	       "job:drm_sched_job job.sched=&sched job.s_fence=&fence "

static const struct scenario scenarios[] = {
	{ IV "iv.client_id=27", { { "amdgpu", "iv_seen", "page fault", "0 &iv" } } },
	{ IV "iv.client_id=20 iv.src_id=181",
	  { { "amdgpu", "iv_seen", "interrupt that is no fault", "0 &iv" } } },
	{ TTM "vmbase:amdgpu_vm_bo_base vm:amdgpu_vm info:amdgpu_task_info bo.vm_bo=&vmbase "
	      "vmbase.vm=&vm vm.task_info=&info info.tgid=# vm.pasid=#",
	  { { "amdgpu", "bo_moved", "buffer leaves VRAM", "&bo 1 2" },
	    { "amdgpu", "bo_moved", "buffer returns to VRAM", "&bo 2 1" } } },
	{ TTM "res::ttm_resource res.mem_type=2 bo.tbo.resource=&res bo.preferred_domains=4",
	  { { "amdgpu", "bo_created", "buffer created in VRAM", "&bo" } } },
	{ AMDGPU "ring::amdgpu_ring ring.adev=&adev vm:amdgpu_vm vm.pasid=# job:amdgpu_job "
		 "job.vmid=#",
	  { { "amdgpu", "vmid_grabbed", "VMID taken by a process", "&vm &ring &job" } } },
	{ "vm:amdgpu_vm vm.pasid=#",
	  { { "amdgpu_tdr", "vm_used", "submission by a known process", "&vm" } } },
	{ JOB,
	  { { "drm_sched", "job_queued_since_6_17", "job queued", "&job" },
	    { "drm_sched", "job_running_since_6_17", "job runs", "&job" },
	    { "drm_sched", "job_done_since_6_17", "job done", "&fence" },
	    { "fence", "fence_signaled", "fence of a job", "&fence.finished" } } },
	{ "fence:dma_fence fence.seqno=# fence.context=9",
	  { { "fence", "fence_signaled", "fence of no job", "&fence" } } },
	{ DEVICE "drv::drm_device drv.dev=&dev i915::drm_i915_private engine::intel_engine_cs "
		 "engine.i915=&i915 i915.drm.dev=&dev rq:i915_request rq.engine=&engine "
		 "rq.fence.seqno=# rq.fence.context=8",
	  { { "i915", "request_added", "i915 request", "&rq" },
	    { "i915", "request_retired", "i915 request retired", "&rq" } } },
	{ "file::file",
	  { { "drm", "ioctl_done", "ioctl that succeeds", "&file 3221775433 0 0" },
	    { "drm", "ioctl_done", "wait that times out", "&file 3223872707 0 -62" } } },
	{ "word:key",
	  { { "parts", "part_clock", "part: clock", "# &word" },
	    { "parts", "part_read", "part: read of a member", "# &word" },
	    { "parts", "part_add", "part: hash, insert", "# &word" },
	    { "parts", "part_lookup", "part: hash, lookup", "# &word" },
	    { "parts", "part_delete", "part: hash, delete", "# &word" },
	    { "parts", "part_add_lru", "part: LRU hash, insert", "# &word" } } },
	{ "bo:drm_gem_object",
	  { { "drm", "handle_made", "handle of a buffer", "0 &bo" },
	    { "drm", "bo_freed", "buffer freed", "&bo.refcount" } } },
};

struct object {
	char name[16];
	uint32_t type;
	uint32_t size, at; /* in the arena; "size" to the next copy, 0: one for all */
};

struct place {
	uint32_t at, size;
};

struct loaded {
	const char *name;
	struct bpf_object *object;
};

static struct object objects[OBJECTS];
static size_t object_count;
static const struct btf *types; /* of the object file whose programs run */
static uint8_t *arena;
static uint64_t arena_kernel;
static uint32_t arena_used;
static struct loaded loaded[16];
static struct {
	char name[16];
	int fd;
} maps[MAPS];
static size_t map_count;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "hooks: %s '%s': %s\n", what, name, strerror(errno));
	exit(1);
}

/* The value of a map, in kernel memory: a program writes its address into it. */
static void arena_open(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "arena", 4, ARENA_BYTES, 1, &opts), run;
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = 2, .imm = fd },
		{ 0 }, /* src_reg 2: the address of the value */
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_test_run_opts, none);

	arena = fd < 0 ? MAP_FAILED
		       : mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (arena == MAP_FAILED)
		die("no map", "arena");
	run = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "arena", "GPL", insns, 5, NULL);
	if (run < 0 || bpf_prog_test_run_opts(run, &none))
		die("cannot run", "arena");
	memcpy(&arena_kernel, arena, sizeof(arena_kernel));
	close(run);
}

static int empty_open(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "empty", "GPL", insns, 2, NULL);
}

static uint32_t plain(uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(types, id);

	while (btf_is_mod(t) || btf_is_typedef(t)) {
		id = t->type;
		t = btf__type_by_id(types, id);
	}
	return id;
}

/* "a.b.c" within a type; its place relative to the type's begin. */
static struct place member(uint32_t type, const char *path)
{
	struct place p = { 0, (uint32_t)btf__resolve_size(types, type) };

	while (*path) {
		const struct btf_type *t = btf__type_by_id(types, type);
		size_t len = strcspn(path, ".");
		const struct btf_member *m = btf_members(t);
		uint32_t i;

		for (i = 0; i < btf_vlen(t); i++) {
			const char *name = btf__name_by_offset(types, m[i].name_off);

			if (strlen(name) == len && !memcmp(name, path, len))
				break;
		}
		if (i == btf_vlen(t))
			die("no member", path);
		p.at += btf_member_bit_offset(t, i) / 8;
		type = plain(m[i].type);
		p.size = (uint32_t)btf__resolve_size(types, type);
		path += len + (path[len] == '.');
	}
	return p;
}

/* "NAME[.MEMBER]" of a copy; its place in the arena. */
static struct place find(const char *path, uint32_t copy)
{
	size_t len = strcspn(path, ".=");

	for (size_t i = 0; i < object_count; i++) {
		const struct object *o = &objects[i];
		struct place p = { o->at + copy * o->size, sizeof(uint64_t) };

		if (strlen(o->name) != len || memcmp(o->name, path, len) != 0)
			continue;
		if (path[len] == '.') {
			p = member(o->type, path + len + 1);
			p.at += o->at + copy * o->size;
		}
		return p;
	}
	die("no object", path);
	exit(1);
}

static uint64_t value_of(const char *text, uint32_t copy)
{
	if (*text == '#')
		return copy + 1;
	if (*text == '&')
		return arena_kernel + find(text + 1, copy).at;
	return strtoull(text, NULL, 0);
}

static void object_new(const char *name, const char *type, bool one)
{
	struct object *o = &objects[object_count++];
	int id = !strcmp(type, TEXT) ? 0 : btf__find_by_name_kind(types, type, BTF_KIND_STRUCT);
	uint32_t size = id > 0 ? (uint32_t)btf__resolve_size(types, (uint32_t)id) : 64;

	if (id < 0 || object_count > OBJECTS)
		die("no type", type);
	size = (size + 191) / 64 * 64;
	*o = (struct object){ .type = (uint32_t)id, .at = arena_used, .size = one ? 0 : size };
	snprintf(o->name, sizeof(o->name), "%s", name);
	arena_used += one ? size : COPIES * size;
	if (arena_used > ARENA_BYTES)
		die("no room for", name);
	if (!id)
		strcpy((char *)arena + o->at, "0000:03:00.0");
}

static void set(char *path, const char *text)
{
	for (uint32_t copy = 0; copy < COPIES; copy++) {
		uint64_t value = value_of(text, copy);
		struct place p = find(path, copy);

		memcpy(arena + p.at, &value, p.size < 8 ? p.size : 8);
	}
}

/* Makes the objects of a scenario, in the types of its object file. */
static void prepare(const struct scenario *s, const struct btf *btf)
{
	char text[1024], *rest = text, *word;

	types = btf;
	object_count = 0;
	snprintf(text, sizeof(text), "%s", s->objects);
	while ((word = strsep(&rest, " "))) {
		char *equals = strchr(word, '='), *colon = strchr(word, ':');

		if (equals) {
			*equals = 0;
			set(word, equals + 1);
		} else if (colon) {
			*colon = 0;
			object_new(word, colon + 1 + (colon[1] == ':'), colon[1] == ':');
		}
	}
}

static void args_of(const struct step *s, uint32_t copy, uint64_t *args)
{
	char text[128], *rest = text, *word;

	snprintf(text, sizeof(text), "%s", s->args);
	memset(args, 0, 12 * sizeof(*args));
	while ((word = strsep(&rest, " ")))
		*args++ = value_of(word, copy);
}

static int map_known(const char *name)
{
	for (size_t i = 0; i < map_count; i++)
		if (!strncmp(maps[i].name, name, sizeof(maps[i].name) - 1))
			return maps[i].fd;
	return -1;
}

static void map_know(const char *name, int fd)
{
	if (fd < 0 || map_count == MAPS || map_known(name) >= 0)
		return;
	snprintf(maps[map_count].name, sizeof(maps[0].name), "%s", name);
	maps[map_count++].fd = fd;
}

/* The maps that a process holds. */
static void maps_of(const char *pid)
{
	char path[300], line[256];
	struct dirent *e;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	folder = opendir(path);
	while (folder && (e = readdir(folder))) {
		struct bpf_map_info info = { 0 };
		uint32_t size = sizeof(info), id;
		FILE *f;
		int fd;

		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "map_id: %u", &id) != 1)
				continue;
			fd = bpf_map_get_fd_by_id(id);
			if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
				map_know(info.name, fd);
		}
		if (f)
			fclose(f);
	}
	if (folder)
		closedir(folder);
	if (map_known("sums") < 0)
		die("no maps of the agent", pid);
}

/*
 * The types that the programs of a file declare, as its target. Names with "___" are other
 * versions of a type: they would match, too.
 */
static void write_types(const char *file, const char *to)
{
	struct btf *btf = btf__parse(file, NULL);
	uint32_t size;
	char *bytes = btf ? (char *)btf__raw_data(btf, &size) : NULL;
	FILE *f = fopen(to, "we");

	if (!bytes || !f)
		die("no types in", file);
	for (uint32_t i = 0; i + 3 < size; i++)
		if (!memcmp(bytes + i, "___", 3))
			memcpy(bytes + i, "_x_", 3);
	if (fwrite(bytes, 1, size, f) != size || fclose(f))
		die("cannot write", to);
	btf__free(btf);
}

/* The first scenario, MANY times. */
static const struct step by_many = { "many", "iv_seen_many", "page faults", "0 &iv" };

static bool is_ours(const char *object, const char *program)
{
	if (!strcmp(object, by_many.object))
		return !strcmp(program, by_many.program);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		for (size_t k = 0; k < STEPS && scenarios[i].step[k].program; k++)
			if (!strcmp(scenarios[i].step[k].object, object) &&
			    !strcmp(scenarios[i].step[k].program, program))
				return true;
	return false;
}

static struct bpf_object *load(const char *folder, const char *name)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char file[512], btf[] = "/tmp/hooks.XXXXXX";
	int fd = mkstemp(btf);
	struct bpf_object *o;
	struct bpf_program *p;
	struct bpf_map *m;

	snprintf(file, sizeof(file), "%s/%s.bpf.o", folder, name);
	write_types(file, btf);
	close(fd);
	opts.btf_custom_path = btf;
	o = bpf_object__open_file(file, &opts);
	if (!o)
		die("cannot open", file);
	bpf_object__for_each_program(p, o)
		bpf_program__set_autoload(p, is_ours(name, bpf_program__name(p)));
	bpf_object__for_each_map(m, o)
	{
		if (!strchr(bpf_map__name(m), '.') && map_known(bpf_map__name(m)) >= 0)
			bpf_map__reuse_fd(m, map_known(bpf_map__name(m)));
	}
	if (bpf_object__load(o))
		die("the kernel refuses", file);
	unlink(btf);
	bpf_object__for_each_map(m, o) if (!strchr(bpf_map__name(m), '.'))
		map_know(bpf_map__name(m), bpf_map__fd(m));
	return o;
}

static struct bpf_object *object_of(const char *folder, const char *name)
{
	struct loaded *l = loaded;

	while (l->name && strcmp(l->name, name) != 0)
		l++;
	if (!l->name)
		*l = (struct loaded){ name, load(folder, name) };
	return l->object;
}

static int program_of(const char *folder, const struct step *s)
{
	struct bpf_object *o = object_of(folder, s->object);
	struct bpf_program *p = bpf_object__find_program_by_name(o, s->program);

	if (!p)
		die("no program", s->program);
	return bpf_program__fd(p);
}

static void run(int fd, const uint64_t *args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = 12 * sizeof(*args));

	if (bpf_prog_test_run_opts(fd, &opts))
		die("cannot run", "a program");
}

static void stats_of(int fd, uint64_t *ret_ns, uint64_t *ret_count)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		die("no statistics of", "a program");
	*ret_ns = info.run_time_ns;
	*ret_count = info.run_cnt;
}

static int drop_record(void *arg, void *record, size_t size)
{
	(void)arg;
	(void)record;
	(void)size;
	return 0;
}

static void drain(void)
{
	static struct ring_buffer *rings;

	if (!rings) {
		rings = ring_buffer__new(map_known("events"), drop_record, NULL, NULL);
		if (!rings || ring_buffer__add(rings, map_known("urgent"), drop_record, NULL))
			die("cannot read", "events");
	}
	ring_buffer__consume(rings);
}

/* As userspace/sensors/bpf/bpf_setup.c. */
static void set_up(void)
{
	struct davy_threshold edge = { .count = 1, .quiet_ns = 20000000 };
	struct davy_settings settings = { .amdgpu_moves = 1, .fence_ends = 1 };
	uint32_t zero = 0, fault = DAVY_FACT_GPU_FAULT;

	if (bpf_map_update_elem(map_known("settings"), &zero, &settings, BPF_ANY) ||
	    bpf_map_update_elem(map_known("thresholds"), &fault, &edge, BPF_ANY))
		die("cannot write", "settings");
}

static double empty_ns(int empty, unsigned long runs)
{
	uint64_t ns, count, ns_after, count_after, args[12] = { 0 };

	stats_of(empty, &ns, &count);
	for (unsigned long i = 0; i < runs; i++)
		run(empty, args);
	stats_of(empty, &ns_after, &count_after);
	return (double)(ns_after - ns) / (double)(count_after - count);
}

/* One round of a scenario: its programs, less what the measurement itself costs. */
static void cost(const char *folder, const struct scenario *s, double empty, unsigned long runs)
{
	double spent[STEPS] = { 0 }, counted[STEPS] = { 0 };
	uint64_t args[STEPS][COPIES][12], ns, count, ns_after, count_after;

	for (size_t k = 0; k < STEPS && s->step[k].program; k++)
		for (uint32_t copy = 0; copy < COPIES; copy++)
			args_of(&s->step[k], copy, args[k][copy]);
	for (unsigned long i = 0; i < runs / COPIES; i++) {
		for (size_t k = 0; k < STEPS && s->step[k].program; k++) {
			int fd = program_of(folder, &s->step[k]);

			stats_of(fd, &ns, &count);
			for (uint32_t copy = 0; copy < COPIES; copy++)
				run(fd, args[k][copy]);
			stats_of(fd, &ns_after, &count_after);
			spent[k] += (double)(ns_after - ns);
			counted[k] += (double)(count_after - count);
		}
		drain();
	}
	for (size_t k = 0; k < STEPS && s->step[k].program; k++)
		printf("%s\t%s\t%.1f\n", s->step[k].program, s->step[k].what,
		       spent[k] / counted[k] - empty);
}

static int costs(const char *folder, unsigned long rounds, unsigned long runs)
{
	size_t count = sizeof(scenarios) / sizeof(scenarios[0]);
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), empty = empty_open();

	if (stats < 0 || empty < 0)
		die("no statistics", "bpf_stats");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < STEPS && scenarios[i].step[k].program; k++)
			program_of(folder, &scenarios[i].step[k]);
	set_up();
	for (unsigned long round = 0; round < rounds; round++) {
		double net = empty_ns(empty, runs);

		for (size_t i = 0; i < count; i++) {
			arena_used = 64;
			memset(arena + 64, 0, ARENA_BYTES - 64);
			prepare(&scenarios[i],
				bpf_object__btf(object_of(folder, scenarios[i].step[0].object)));
			cost(folder, &scenarios[i], net, runs);
		}
		printf("empty\tthe measurement itself, subtracted\t%.1f\n", net);
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct shooter {
	pthread_t thread;
	int fd, cpu;
	const uint64_t (*args)[12];
	double per_s, seconds;
	uint64_t many, fired, spent_ns; /* many: events of one run */
};

static void *shoot(void *data)
{
	struct shooter *s = data;
	uint64_t began, end;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)s->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	began = now_ns();
	end = began + (uint64_t)(s->seconds * 1e9);
	for (uint64_t now = began; now < end; now = now_ns()) {
		uint64_t due = (uint64_t)(s->per_s * (double)(now - began) / 1e9);

		if (s->fired >= due)
			usleep(1000);
		for (uint64_t i = 0; s->fired < due && i < 1000; i += s->many, s->fired += s->many)
			run(s->fd, s->args[s->fired / s->many % COPIES]);
	}
	s->spent_ns = now_ns() - began;
	return NULL;
}

/* Page faults from two CPUs, in portions of a millisecond, of so many processes. */
static int rate(const char *folder, double per_s, double seconds)
{
	const struct step *step = &scenarios[0].step[0];
	static uint64_t args[COPIES][12];
	struct shooter s[2];
	uint64_t many = per_s > ONE_BY_ONE ? MANY : 1;
	int fd = program_of(folder, many > 1 ? &by_many : step);

	arena_used = 64;
	prepare(&scenarios[0], bpf_object__btf(object_of(folder, step->object)));
	for (uint32_t copy = 0; copy < COPIES; copy++)
		args_of(step, copy, args[copy]);
	for (int i = 0; i < 2; i++) {
		s[i] = (struct shooter){ .fd = fd,
					 .cpu = i,
					 .args = args,
					 .per_s = per_s / 2,
					 .seconds = seconds,
					 .many = many };
		if (pthread_create(&s[i].thread, NULL, shoot, &s[i]))
			die("no thread", "rate");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(s[i].thread, NULL);
	printf("%lu %.0f\n", (unsigned long)(s[0].fired + s[1].fired),
	       (double)(s[0].fired + s[1].fired) * 1e9 / (double)s[0].spent_ns);
	return 0;
}

/* Jobs that run on one ring until the input ends. */
static int jobs(const char *folder, uint64_t wanted)
{
	const struct scenario *s = &scenarios[6];
	struct place seqno;
	uint64_t args[JOB_STEPS][12];

	for (size_t k = 0; k < JOB_STEPS; k++)
		program_of(folder, &s->step[k]);
	arena_used = 64;
	prepare(s, bpf_object__btf(object_of(folder, s->step[0].object)));
	for (size_t k = 0; k < JOB_STEPS; k++)
		args_of(&s->step[k], 0, args[k]);
	seqno = find("fence.finished.seqno", 0);
	for (size_t k = 0; k < JOB_STEPS; k++) {
		if (k == 2) {
			puts("running");
			fflush(stdout);
			while (getchar() != EOF)
				continue;
		}
		for (uint64_t i = 1; i <= wanted; i++) {
			memcpy(arena + seqno.at, &i, sizeof(i));
			run(program_of(folder, &s->step[k]), args[k]);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const sections[] = { "tp_btf+", "fentry+", "fexit+" };

	libbpf_set_print(NULL);
	if (argc < 5) {
		fputs("usage: hooks cost|rate|jobs FOLDER ...\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (libbpf_register_prog_handler(sections[i], BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
						 NULL) < 0)
			die("no handler of section", sections[i]);
	arena_open();
	if (!strcmp(argv[1], "cost"))
		return costs(argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
	maps_of(argv[3]);
	if (!strcmp(argv[1], "rate") && argc == 6)
		return rate(argv[2], strtod(argv[4], NULL), strtod(argv[5], NULL));
	return jobs(argv[2], strtoull(argv[4], NULL, 10));
}
