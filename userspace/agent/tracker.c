/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes the agent knows, when it looks at them again, and uprobes on their libraries. */
#include "agent.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "../act/cgroup.h"
#include "../lib/file.h"
#include "../lib/log.h"
#include "../sensors/engine_version.h"
#include "../sensors/inside.h"
#include "../sensors/process_account.h"

/* Libraries are mapped and the backend opens within the first seconds; later only seldom. */
static const uint64_t look_again_ms[] = {
	5, 10, 20, 20, 40, 40, 80, 80, 160, 160, 320, 640, 1000, 2000, 5000, 10000, 30000,
};

#define STRANGER_LOOKS 8
#define UNSEEN_NS      (10 * DL_NS_PER_S)
#define VERIFY_NS      DL_NS_PER_S
#define LOADED_NS      (4 * DL_NS_PER_S)   /* what is not mapped by then is linked in */
#define BUDGET_NS      (10 * DL_NS_PER_MS) /* of a tick; one look may take a few of them */

#define LOOKS (sizeof(look_again_ms) / sizeof(look_again_ms[0]))

static struct dl_tracked *find(struct dl_agent *a, uint32_t pid)
{
	for (size_t i = 0; i < DL_TRACKED_MAX; i++)
		if (a->tracked[i].pid == pid)
			return &a->tracked[i];
	return NULL;
}

static struct dl_tracked *get(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	return t ? t : dl_tracked_new(a, pid);
}

static uint32_t workload_of(struct dl_agent *a, const struct dl_process_info *info)
{
	for (size_t i = 0; i < DL_LINKS_MAX; i++) {
		const struct dl_link *link = &a->links[i];

		if (!link->source || !link->workload)
			continue;
		if (link->pid == info->pid || dl_cgroup_holds(link->cgroup, info->cgroup))
			return link->workload;
	}
	return dl_units_workload_of(a, info->cgroup);
}

static bool attach(struct dl_agent *a, const struct dl_tracked *t, const char *path,
		   const char *probe)
{
	const struct dl_probe_owner owner = { t->pid, t->uid, t->workload };
	char self[DL_SELF_FD_SIZE];
	DL_FD fd = -1;
	int err;

	if (!path[0] || !a->bpf)
		return false;
	fd = dl_open_mapped(t->pid, path);
	err = fd < 0 ? fd : dl_local_file(t->pid, fd);
	if (!err)
		err = dl_bpf_attach_library(a->bpf, dl_self_fd(fd, self), probe, &owner);
	if (err < 0)
		dl_debug("uprobe %s in '%s': %s", probe, path, strerror(-err));
	return err >= 0;
}

/* The end of a run first: a run whose beginning alone was seen would never end. */
static void attach_libraries(struct dl_agent *a, struct dl_tracked *t,
			     const struct dl_process_info *info)
{
	static const char *const ggml[] = { "synchronize", "compute", "set", "get" };
	static const char *const llama[] = { "ubatch", "decode" }; /* one of the two */
	const struct dl_probe_owner owner = { t->pid, t->uid, t->workload };
	bool all = true;

	if (a->bpf)
		dl_bpf_owner(a->bpf, &owner);
	if (!t->cxx_attached)
		t->cxx_attached = attach(a, t, info->cxx_library, "throw");
	for (size_t i = 0; !t->ggml_attached && all && i < sizeof(ggml) / sizeof(ggml[0]); i++)
		all = attach(a, t, info->ggml_library, ggml[i]);
	t->ggml_attached = all;
	for (size_t i = 0; !t->llama_attached && i < sizeof(llama) / sizeof(llama[0]); i++)
		t->llama_attached = attach(a, t, info->llama_library, llama[i]);
}

static bool settled(const struct dl_tracked *t)
{
	return !t->cpu_assumed && !(t->told.flags & DL_PROCESS_PORT_ASSUMED) && t->cxx_attached &&
	       t->ggml_attached && t->told.backend != DL_BACKEND_UNKNOWN &&
	       (t->told.backend == DL_BACKEND_CPU || t->device_used);
}

/* A worker of Python's takes its title some seconds after its start, without an exec. */
static bool may_become_engine(struct dl_agent *a, const struct dl_tracked *t)
{
	const struct dl_tracked *parent = t->told.ppid ? find(a, t->told.ppid) : NULL;

	if (t->on_gpu && (t->opens_gpu || t->attempts < STRANGER_LOOKS))
		return true;
	return parent && parent->told.engine != DL_ENGINE_NONE;
}

static void plan_next_look(struct dl_agent *a, struct dl_tracked *t, uint64_t now_ns)
{
	t->inspect_ns = 0;
	if (t->attempts >= LOOKS || settled(t))
		return;
	if (t->told.engine == DL_ENGINE_NONE && !may_become_engine(a, t))
		return;
	t->inspect_ns = now_ns + look_again_ms[t->attempts++] * DL_NS_PER_MS;
}

static void begin_to_look(struct dl_agent *a, struct dl_tracked *t)
{
	if (a->bpf)
		dl_bpf_owner_gone(a->bpf, t->pid);
	t->attempts = 0;
	t->cxx_attached = t->ggml_attached = t->llama_attached = false;
	t->engine_known = false;
	t->engine[0] = 0;
	t->met_ns = 0;
}

/* Another process, or another program in it: nothing of the old one is kept. */
static void begin_anew(struct dl_agent *a, struct dl_tracked *t)
{
	begin_to_look(a, t);
	t->cpu_assumed = t->device_used = false;
	memset(&t->told, 0, sizeof(t->told));
}

/* Devices are opened before the model is loaded: after some 20 s they are not to come. */
static void assume_cpu(struct dl_tracked *t, struct dl_process_info *info)
{
	t->cpu_assumed =
		info->no_gpu && info->ev.backend == DL_BACKEND_UNKNOWN && t->attempts + 1 >= LOOKS;
	if (t->cpu_assumed)
		info->ev.backend = DL_BACKEND_CPU;
}

static int look_at(const struct dl_agent *a, uint32_t pid, enum dl_look look,
		   struct dl_process_info *ret_info)
{
	struct dl_used_devices used;

	dl_agent_gpus_used(a, pid, &used);
	return dl_process_info_look(pid, look, &used, ret_info);
}

/* A library that the loader has not mapped yet would make another version of it. */
static void read_version(struct dl_tracked *t, const struct dl_process_info *info, uint64_t now_ns)
{
	bool mapped = info->llama_library[0] && info->ggml_library[0];

	if (!t->met_ns)
		t->met_ns = now_ns;
	if (t->engine_known || (!mapped && now_ns - t->met_ns < LOADED_NS))
		return;
	dl_engine_version_read(info, t->engine);
	t->engine_known = true;
}

/* What a look at it told. */
static void take(struct dl_agent *a, struct dl_tracked *t, struct dl_process_info *info)
{
	struct dl_event ev = dl_agent_event(DL_EV_PROCESS, t->pid);

	t->verified_ns = ev.at_ns;
	t->opens_gpu = info->opens_gpu;
	if (t->told.start_ticks && t->told.start_ticks != info->ev.start_ticks)
		begin_anew(a, t);
	if (!info->has_command && t->told.start_ticks == info->ev.start_ticks) {
		t->inspect_ns = 0; /* it is ending, and stays who it was */
		return;
	}
	t->device_used = info->device_used;
	info->ev.workload = t->workload = workload_of(a, info);
	t->uid = dl_process_account(t->pid);
	assume_cpu(t, info);
	if (info->ev.engine != DL_ENGINE_NONE) {
		read_version(t, info, ev.at_ns);
		attach_libraries(a, t, info);
		if (a->bpf)
			dl_bpf_watch(a->bpf, t->pid);
	}
	t->used_ns = ev.at_ns;
	if (memcmp(&t->told, &info->ev, sizeof(info->ev)) != 0) {
		t->told = info->ev;
		ev.process = info->ev;
		dl_agent_feed(a, &ev);
	}
	plan_next_look(a, t, ev.at_ns);
}

static void inspect(struct dl_agent *a, struct dl_tracked *t)
{
	struct dl_process_info info;

	if (look_at(a, t->pid, t->on_gpu ? DL_LOOK_DEVICES : DL_LOOK_COMMAND, &info))
		t->inspect_ns = 0;
	else
		take(a, t, &info);
}

/* An exit may have been missed and the pid be somebody else's. */
static bool still_the_same(struct dl_tracked *t)
{
	uint64_t start;

	if (t->used_ns - t->verified_ns < VERIFY_NS)
		return true;
	t->verified_ns = t->used_ns;
	start = dl_process_start(t->pid);
	return !start || start == t->told.start_ticks;
}

/* Many events a second may name it: it is looked at when that is due, and not with each. */
static bool look_is_due(const struct dl_tracked *t)
{
	return t->told.engine != DL_ENGINE_NONE && !settled(t) && t->inspect_ns &&
	       t->used_ns >= t->inspect_ns;
}

void dl_tracker_know(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t && t->told.start_ticks) {
		t->used_ns = dl_boot_ns();
		if (still_the_same(t) && !look_is_due(t))
			return;
	}
	t = t ? t : get(a, pid);
	t->on_gpu = true;
	inspect(a, t);
}

void dl_tracker_used(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t && t->told.engine != DL_ENGINE_NONE)
		t->inspect_ns = dl_boot_ns();
}

static void meet(struct dl_agent *a, uint32_t pid, enum dl_look look)
{
	struct dl_process_info info;
	struct dl_tracked *t = find(a, pid);
	bool known = t != NULL;

	if (!known) {
		if (look_at(a, pid, look, &info))
			return;
		if (info.ev.engine == DL_ENGINE_NONE && !workload_of(a, &info))
			return; /* somebody else's */
		t = get(a, pid);
		t->on_gpu = look == DL_LOOK_DEVICES;
	}
	begin_to_look(a, t);
	if (known)
		inspect(a, t);
	else
		take(a, t, &info);
}

/* An exec keeps pid and start time but changes everything else. */
void dl_tracker_exec(struct dl_agent *a, uint32_t pid)
{
	meet(a, pid, DL_LOOK_COMMAND);
}

bool dl_tracker_knows(struct dl_agent *a, uint32_t pid, uint64_t start_ticks)
{
	const struct dl_tracked *t = find(a, pid);

	return t && t->told.start_ticks == start_ticks;
}

void dl_tracker_gone(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t)
		dl_tracked_forget(a, t);
}

/* One a tick: an exit that was lost, and a pid that is somebody else's since. */
static void verify_next(struct dl_agent *a, uint64_t now_ns)
{
	struct dl_tracked *t = &a->tracked[a->verify_next++ % DL_TRACKED_MAX];
	uint64_t start;

	if (!t->pid || now_ns - t->verified_ns < UNSEEN_NS)
		return;
	t->verified_ns = now_ns;
	start = dl_process_start(t->pid);
	if (!start)
		dl_tracked_forget(a, t);
	else if (start != t->told.start_ticks)
		inspect(a, t);
}

/* Whoever finds no time on this tick is the first on the next. */
void dl_tracker_tick(struct dl_agent *a, uint64_t now_ns)
{
	uint64_t end_ns = dl_boot_ns() + BUDGET_NS;

	verify_next(a, now_ns);
	for (size_t i = 0; i < DL_TRACKED_MAX; i++) {
		struct dl_tracked *t = &a->tracked[a->inspect_next++ % DL_TRACKED_MAX];

		if (!t->pid || !t->inspect_ns || now_ns < t->inspect_ns)
			continue;
		inspect(a, t);
		if (dl_boot_ns() >= end_ns)
			break;
	}
}

/* Engines that ran before the agent did. */
void dl_tracker_scan(struct dl_agent *a)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (dl_root_path(path, sizeof(path), "/proc"))
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			meet(a, (uint32_t)strtoul(entry->d_name, NULL, 10), DL_LOOK_DEVICES);
	if (dir)
		closedir(dir);
}
