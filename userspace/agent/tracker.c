/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes the agent knows, when it looks at them again, and uprobes on their libraries. */
#include "agent.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/file.h"
#include "../lib/log.h"

/* Libraries are mapped and the backend opens within the first seconds; later only seldom. */
static const uint64_t look_again_ms[] = {
	5, 10, 20, 20, 40, 40, 80, 80, 160, 160, 320, 640, 1000, 2000, 5000, 10000, 30000,
};

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
	struct dl_tracked *t = find(a, pid), *victim = &a->tracked[0];

	if (t)
		return t;
	for (size_t i = 0; i < DL_TRACKED_MAX && victim->pid; i++)
		if (!a->tracked[i].pid || a->tracked[i].used_ns < victim->used_ns)
			victim = &a->tracked[i];
	memset(victim, 0, sizeof(*victim));
	victim->pid = pid;
	return victim;
}

static bool below(const char *cgroup, const char *path)
{
	size_t len = strlen(cgroup);

	return len > 1 && !strncmp(path, cgroup, len) && (!path[len] || path[len] == '/');
}

static uint32_t workload_of(struct dl_agent *a, const struct dl_process_info *info)
{
	for (size_t i = 0; i < DL_LINKS_MAX; i++) {
		const struct dl_link *link = &a->links[i];

		if (!link->source || !link->workload)
			continue;
		if (link->pid == info->pid || below(link->cgroup, info->cgroup))
			return link->workload;
	}
	return 0;
}

static bool attach(struct dl_agent *a, const char *path, const char *symbol)
{
	int err;

	if (!path[0] || !a->bpf)
		return false;
	err = dl_bpf_attach_library(a->bpf, path, symbol);
	if (err < 0)
		dl_debug("uprobe %s in '%s': %s", symbol, path, strerror(-err));
	return err >= 0;
}

/* The end of a run first: a run whose beginning alone was seen would never end. */
static void attach_libraries(struct dl_agent *a, struct dl_tracked *t,
			     const struct dl_process_info *info)
{
	static const char *const ggml[] = { "ggml_backend_sched_synchronize",
					    "ggml_backend_sched_graph_compute_async",
					    "ggml_backend_tensor_set", "ggml_backend_tensor_get" };
	bool all = true;

	if (!t->cxx_attached)
		t->cxx_attached = attach(a, info->cxx_library, "__cxa_throw");
	for (size_t i = 0; !t->ggml_attached && all && i < sizeof(ggml) / sizeof(ggml[0]); i++)
		all = attach(a, info->ggml_library, ggml[i]);
	t->ggml_attached = all;
}

static bool settled(const struct dl_tracked *t)
{
	return t->cxx_attached && t->ggml_attached && t->told.backend != DL_BACKEND_UNKNOWN &&
	       (t->told.backend == DL_BACKEND_CPU || t->told.device[0]);
}

static void plan_next_look(struct dl_tracked *t, uint64_t now_ns)
{
	t->inspect_ns = 0;
	if (t->told.engine == DL_ENGINE_NONE || t->attempts >= LOOKS || settled(t))
		return;
	t->inspect_ns = now_ns + look_again_ms[t->attempts++] * DL_NS_PER_MS;
}

static void inspect(struct dl_agent *a, struct dl_tracked *t)
{
	struct dl_event ev = dl_agent_event(DL_EV_PROCESS, t->pid);
	struct dl_process_info info;

	if (dl_process_info_read(t->pid, &info)) {
		t->inspect_ns = 0;
		return;
	}
	if (t->told.start_ticks && t->told.start_ticks != info.ev.start_ticks) {
		t->attempts = 0;
		t->cxx_attached = t->ggml_attached = false;
		memset(&t->told, 0, sizeof(t->told));
	}
	if (!info.has_command && t->told.start_ticks == info.ev.start_ticks) {
		t->inspect_ns = 0; /* it is ending, and stays who it was */
		return;
	}
	info.ev.workload = workload_of(a, &info);
	if (info.ev.engine != DL_ENGINE_NONE) {
		attach_libraries(a, t, &info);
		if (a->bpf)
			dl_bpf_watch(a->bpf, t->pid);
	}
	t->used_ns = ev.at_ns;
	if (memcmp(&t->told, &info.ev, sizeof(info.ev)) != 0) {
		t->told = info.ev;
		ev.process = info.ev;
		dl_agent_feed(a, &ev);
	}
	plan_next_look(t, ev.at_ns);
}

void dl_tracker_know(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t && t->told.start_ticks) {
		t->used_ns = dl_boot_ns();
		if (t->told.engine == DL_ENGINE_NONE || settled(t) || !t->inspect_ns)
			return;
	}
	inspect(a, t ? t : get(a, pid));
}

/* An exec keeps pid and start time but changes everything else. */
void dl_tracker_exec(struct dl_agent *a, uint32_t pid)
{
	struct dl_process_info info;
	struct dl_tracked *t = find(a, pid);

	if (!t) {
		if (dl_process_info_read(pid, &info))
			return;
		if (info.ev.engine == DL_ENGINE_NONE && !workload_of(a, &info))
			return; /* somebody else's */
		t = get(a, pid);
	}
	t->attempts = 0;
	t->cxx_attached = t->ggml_attached = false;
	inspect(a, t);
}

void dl_tracker_gone(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t)
		memset(t, 0, sizeof(*t));
}

void dl_tracker_tick(struct dl_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < DL_TRACKED_MAX; i++) {
		struct dl_tracked *t = &a->tracked[i];

		if (t->pid && t->inspect_ns && now_ns >= t->inspect_ns)
			inspect(a, t);
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
			dl_tracker_exec(a, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
}
