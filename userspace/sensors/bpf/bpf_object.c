/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/bpf/bpf_object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sensors/bpf/bpf.h"
#include "sensors/bpf/bpf_refusal.h"

#define FUNCTIONS_OFF "kernel.ftrace_enabled is 0: no function can be watched"

/*
 * What BTF alone does not tell: a function may exist and have no caller, or be called by another
 * one that is watched too. Programs by the begin of their name.
 */
static const struct {
	const char *object;
	const char *program;
	const char *needs;  /* a function that must exist, or NULL */
	const char *unless; /* one that must not, or NULL */
	const char *reason;
} conditions[] = {
	{ "kfd", "page_fault", "svm_range_restore_pages", NULL,
	  "this kernel has no HSA_AMD_SVM: the function has no caller" },
};

static bool has_function(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool is_iter(const char *hook)
{
	return !strncmp(hook, "iter/", 5);
}

static bool is_lsm(const char *hook)
{
	return !strncmp(hook, "lsm", 3);
}

static bool has_hook(const struct btf *btf, const char *hook)
{
	const char *target = strchr(hook, '/');
	char name[128];

	if (!target)
		return true; /* uprobe, syscall: nothing in the kernel to look for */
	snprintf(name, sizeof(name), "%s%s",
		 is_lsm(hook)	 ? "bpf_lsm_"
		 : is_iter(hook) ? "bpf_iter_"
				 : "",
		 target + 1);
	if (strncmp(hook, "tp_btf/", 7) != 0)
		return has_function(btf, name);
	snprintf(name, sizeof(name), "btf_trace_%s", target + 1);
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

static const char *distrust(const struct davy_bpf_object *o, const char *program,
			    const struct btf *btf)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (strcmp(o->name, conditions[i].object) != 0 ||
		    strncmp(program, conditions[i].program, strlen(conditions[i].program)) != 0)
			continue;
		if ((conditions[i].needs && !has_function(btf, conditions[i].needs)) ||
		    (conditions[i].unless && has_function(btf, conditions[i].unless)))
			return conditions[i].reason;
	}
	return NULL;
}

static void set_state(struct davy_program *p, enum davy_program_state state, const char *reason)
{
	p->state = state;
	p->reason = reason;
}

static bool is_function(const char *hook)
{
	return !strncmp(hook, "fentry/", 7) || !strncmp(hook, "fexit/", 6) ||
	       !strncmp(hook, "kprobe/", 7);
}

/* Attached to files as they are found, or run; refused or not. */
static bool is_on_demand(const struct davy_program *p)
{
	return !strchr(p->hook, '/');
}

/* "btf" is the module's on top of the kernel's, or the kernel's alone. */
static void prove(const struct davy_bpf_object *o, struct davy_program *p, const struct btf *btf)
{
	const char *reason;

	if (!has_hook(btf, p->hook)) {
		set_state(p, DAVY_PROGRAM_ABSENT, "this kernel has no such hook");
		return;
	}
	if (is_function(p->hook) && davy_functions_off()) {
		set_state(p, DAVY_PROGRAM_REFUSED, FUNCTIONS_OFF);
		return;
	}
	reason = is_lsm(p->hook) ? davy_lsm_refusal() : NULL;
	if (reason) {
		set_state(p, DAVY_PROGRAM_REFUSED, reason);
		return;
	}
	reason = distrust(o, p->name, btf);
	if (reason)
		set_state(p, DAVY_PROGRAM_UNTRUSTED, reason);
	else
		set_state(p, is_on_demand(p) ? DAVY_PROGRAM_ON_DEMAND : DAVY_PROGRAM_LIVE, "");
}

static bool bpf_object_wanted(const struct davy_program *p)
{
	return p->state == DAVY_PROGRAM_LIVE || p->state == DAVY_PROGRAM_ON_DEMAND;
}

static int share_maps(struct davy_bpf_object *o, const struct davy_shared_maps *shared)
{
	for (size_t i = 0; i < DAVY_BPF_SHARED_MAPS; i++) {
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

static void keep_maps(struct davy_bpf_object *o, struct davy_shared_maps *shared)
{
	for (size_t i = 0; i < DAVY_BPF_SHARED_MAPS; i++) {
		int fd = davy_bpf_object_map(o, shared->name[i]);

		if (shared->fd[i] < 0 && fd >= 0)
			shared->fd[i] = dup(fd);
	}
}

static int open_object(struct davy_bpf_object *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = o->name);
	const void *bytes;
	size_t size;

	bytes = o->bytes(&size);
	o->object = bpf_object__open_mem(bytes, size, &opts);
	return o->object ? 0 : -errno;
}

int davy_bpf_object_list(struct davy_bpf_object *o)
{
	struct bpf_program *p;
	int err = open_object(o);

	if (err)
		return err;
	bpf_object__for_each_program(p, o->object) {
		struct davy_program *mine = &o->program[o->program_count];

		if (o->program_count == DAVY_OBJECT_PROGRAMS)
			break;
		davy_copy_name(mine->name, sizeof(mine->name), bpf_program__name(p));
		davy_copy_name(mine->hook, sizeof(mine->hook), bpf_program__section_name(p));
		set_state(mine, DAVY_PROGRAM_ABSENT, "not tried yet");
		o->program_count++;
	}
	davy_bpf_object_unload(o);
	return 0;
}

/* Opens it with the wanted programs alone, or with one of them. */
static int open_with(struct davy_bpf_object *o, struct davy_shared_maps *shared,
		     const struct davy_program *only)
{
	int err = open_object(o);

	for (size_t i = 0; !err && i < o->program_count; i++) {
		struct davy_program *mine = &o->program[i];
		struct bpf_program *p = bpf_object__find_program_by_name(o->object, mine->name);

		bpf_program__set_autoload(p, only ? mine == only : bpf_object_wanted(mine));
	}
	return err ? err : share_maps(o, shared);
}

/* Which programs the kernel refuses one by one, so that the others can go without them. */
static void drop_refused(struct davy_bpf_object *o, struct davy_shared_maps *shared)
{
	for (size_t i = 0; i < o->program_count; i++) {
		struct davy_program *p = &o->program[i];

		if (!bpf_object_wanted(p))
			continue;
		if (!open_with(o, shared, p) && bpf_object__load(o->object)) {
			p->error = -errno;
			set_state(p, DAVY_PROGRAM_REFUSED, davy_refusal_text(p->error));
		}
		davy_bpf_object_unload(o);
	}
}

/* Those that look at something; a program that is only run sees nothing. */
static size_t count_wanted(const struct davy_bpf_object *o)
{
	size_t count = 0;

	for (size_t i = 0; i < o->program_count; i++)
		count += bpf_object_wanted(&o->program[i]) &&
			 strcmp(o->program[i].hook, "syscall") != 0;
	return count;
}

static const char *refusal_of(const struct davy_bpf_object *o)
{
	for (size_t i = 0; i < o->program_count; i++)
		if (o->program[i].state == DAVY_PROGRAM_REFUSED)
			return o->program[i].reason;
	return "";
}

static int load_wanted(struct davy_bpf_object *o, struct davy_shared_maps *shared)
{
	int err = open_with(o, shared, NULL);

	if (!err && !bpf_object__load(o->object))
		return 0;
	if (!err)
		err = -errno;
	davy_bpf_object_unload(o);
	if (err == -ESRCH || err == -ENOENT)
		return err; /* its module went away, or is not there yet */
	if (err == -EPERM && davy_rights_missing())
		return err; /* of all of them */
	drop_refused(o, shared);
	if (!count_wanted(o))
		return err;
	err = open_with(o, shared, NULL);
	return !err && bpf_object__load(o->object) ? -errno : err;
}

static uint32_t id_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) ? 0 : info.id;
}

/* Uprobes are attached later, file by file; a syscall program is run, not attached. */
static int attach_all(struct davy_bpf_object *o)
{
	int err = 0;

	for (size_t i = 0; i < o->program_count; i++) {
		struct davy_program *p = &o->program[i];
		struct bpf_program *program;

		if (p->state != DAVY_PROGRAM_LIVE)
			continue;
		program = bpf_object__find_program_by_name(o->object, p->name);
		p->link = bpf_program__attach(program);
		p->id = p->link ? id_of(program) : 0;
		if (p->link)
			continue;
		p->error = -errno;
		set_state(p, DAVY_PROGRAM_REFUSED, davy_refusal_text(p->error));
		if (!err)
			err = p->error;
	}
	return err;
}

static int bpf_object_load(struct davy_bpf_object *o, struct davy_shared_maps *shared,
			   const struct btf *btf, bool last)
{
	int err;

	for (size_t i = 0; i < o->program_count; i++)
		prove(o, &o->program[i], btf);
	if (!count_wanted(o))
		return refusal_of(o)[0] ? -ECANCELED : -ENOENT;
	err = load_wanted(o, shared);
	if (!err)
		err = attach_all(o);
	if (err && last && o->object && count_wanted(o))
		err = 0;
	if (!err)
		keep_maps(o, shared);
	return err;
}

static void bpf_object_set_all(struct davy_bpf_object *o, enum davy_program_state state,
			       const char *reason)
{
	for (size_t i = 0; i < o->program_count; i++)
		if (bpf_object_wanted(&o->program[i]) || o->program[i].state == DAVY_PROGRAM_ABSENT)
			set_state(&o->program[i], state, reason);
}

void davy_bpf_object_off(struct davy_bpf_object *o, enum davy_sensor_state state,
			 const char *reason)
{
	davy_bpf_object_unload(o);
	bpf_object_set_all(
		o, state == DAVY_SENSOR_REFUSED ? DAVY_PROGRAM_REFUSED : DAVY_PROGRAM_ABSENT,
		reason);
	o->state.count = 0;
	o->state.state = state;
	davy_copy_name(o->state.reason, sizeof(o->state.reason), reason);
}

static void bpf_object_failed(struct davy_bpf_object *o, int err)
{
	bool absent = err == -ENOENT || err == -ESRCH;
	const char *reason = davy_refusal_text(err);

	if (absent)
		reason = o->module ? DAVY_NO_MODULE : "hook not found";
	if (absent)
		davy_bpf_object_off(o, DAVY_SENSOR_ABSENT, reason);
	else
		davy_bpf_object_off(o, DAVY_SENSOR_REFUSED, reason);
}

/* Its module is there, and yet its hooks are not to be had. */
static void bpf_object_refuse(struct davy_bpf_object *o, bool has_btf)
{
	const char *reason = "this kernel has none of its hooks";

	if (!has_btf)
		reason = "its kernel module has no BTF (built without it, or stripped)";
	else if (davy_rights_missing())
		reason = davy_refusal_text(-EPERM);
	davy_bpf_object_off(o, DAVY_SENSOR_REFUSED, reason);
}

static size_t count_all(const struct davy_bpf_object *o)
{
	size_t count = count_wanted(o);

	for (size_t i = 0; i < o->program_count; i++)
		count += o->program[i].state == DAVY_PROGRAM_REFUSED;
	return count;
}

static bool has_on_demand(const struct davy_bpf_object *o)
{
	for (size_t i = 0; i < o->program_count; i++)
		if (is_on_demand(&o->program[i]))
			return true;
	return false;
}

static void sum_up(struct davy_bpf_object *o)
{
	const char *refused = refusal_of(o);

	o->state.count = count_wanted(o);
	o->state.state = o->state.count ? DAVY_SENSOR_LIVE : DAVY_SENSOR_REFUSED;
	/* alone where nothing is attached, or where a boot parameter needs the room */
	if (refused[0] && (o->keeps || !o->state.count))
		davy_copy_name(o->state.reason, sizeof(o->state.reason), refused);
	else if (refused[0])
		snprintf(o->state.reason, sizeof(o->state.reason),
			 "%zu of %zu programs are attached; for the others: %s", count_wanted(o),
			 count_all(o), refused);
	else
		o->state.reason[0] = 0;
}

/* Links keep programs and maps alive: without on-demand programs libbpf's object can go. */
static void bpf_object_is_loaded(struct davy_bpf_object *o)
{
	o->loaded = true;
	if (!has_on_demand(o) && !o->keeps) {
		bpf_object__close(o->object);
		o->object = NULL;
	}
	sum_up(o);
}

void davy_bpf_object_blind(struct davy_bpf_object *o)
{
	for (size_t i = 0; i < o->program_count; i++)
		if (o->program[i].state == DAVY_PROGRAM_LIVE && is_function(o->program[i].hook))
			set_state(&o->program[i], DAVY_PROGRAM_REFUSED, FUNCTIONS_OFF);
	sum_up(o);
}

int davy_bpf_object_load(struct davy_bpf_object *o, struct davy_shared_maps *shared,
			 struct btf *kernel, bool last)
{
	struct btf *module = NULL;
	int err = -ENODATA;

	if (o->loaded)
		return 0;
	if (kernel) {
		/* A driver that is built in has its types among the kernel's. */
		if (o->module)
			module = btf__load_module_btf(o->module, kernel);
		err = bpf_object_load(o, shared, module ? module : kernel, last);
	}
	if (!err)
		bpf_object_is_loaded(o);
	else if (err == -ECANCELED)
		davy_bpf_object_off(o, DAVY_SENSOR_REFUSED, refusal_of(o));
	else
		bpf_object_failed(o, err);
	if ((err == -ENOENT || err == -ESRCH) && o->module &&
	    davy_module_state(o->module) == DAVY_MODULE_LIVE)
		bpf_object_refuse(o, module != NULL);
	btf__free(module);
	return err;
}

static void object_unpin(struct davy_bpf_object *o)
{
	char path[PATH_MAX];

	for (size_t i = 0; o->pins && i < o->program_count; i++) {
		snprintf(path, sizeof(path), "%s/%s", o->pins, o->program[i].name);
		unlink(path);
	}
	if (o->pins)
		rmdir(o->pins);
	o->pins = NULL;
}

void davy_bpf_object_unload(struct davy_bpf_object *o)
{
	object_unpin(o);
	for (size_t i = 0; i < o->program_count; i++) {
		bpf_link__destroy(o->program[i].link);
		o->program[i].link = NULL;
	}
	bpf_object__close(o->object);
	o->object = NULL;
	o->loaded = false;
	o->skipped = 0;
}

/* Not bpf_link__pin(): that refuses a link whose file was removed. */
int davy_bpf_object_pin(struct davy_bpf_object *o, const char *dir)
{
	char path[PATH_MAX];
	int err = 0;

	o->pins = dir;
	for (size_t i = 0; !err && i < o->program_count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, o->program[i].name);
		if (o->program[i].link)
			err = bpf_obj_pin(bpf_link__fd(o->program[i].link), path);
	}
	if (err)
		object_unpin(o);
	return err;
}

int davy_bpf_object_map(const struct davy_bpf_object *o, const char *name)
{
	struct bpf_map *map = o->object ? bpf_object__find_map_by_name(o->object, name) : NULL;

	return map ? bpf_map__fd(map) : -1;
}

void davy_bpf_object_iterate(const struct davy_bpf_object *o)
{
	char nothing[64];

	for (size_t i = 0; o->loaded && i < o->program_count; i++) {
		int fd = is_iter(o->program[i].hook) && o->program[i].link
				 ? bpf_iter_create(bpf_link__fd(o->program[i].link))
				 : -1;

		if (fd < 0)
			continue;
		while (read(fd, nothing, sizeof(nothing)) > 0)
			continue;
		close(fd);
	}
}

static uint64_t skipped_of(uint32_t id)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		info.recursion_misses = 0;
	close(fd);
	return info.recursion_misses;
}

uint64_t davy_bpf_object_skipped(const struct davy_bpf_object *o)
{
	uint64_t sum = 0;

	for (size_t i = 0; o->loaded && i < o->program_count; i++)
		if (o->program[i].link && o->program[i].id)
			sum += skipped_of(o->program[i].id);
	return sum;
}

bool davy_bpf_object_has_live(const struct davy_bpf_object *o, const char *program)
{
	for (size_t i = 0; o->loaded && i < o->program_count; i++)
		if (!strcmp(o->program[i].name, program))
			return o->program[i].state == DAVY_PROGRAM_LIVE;
	return false;
}
