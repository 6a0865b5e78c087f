/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes the agent knows, when it looks at them again, and uprobes on their libraries. */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

#include "act/cgroup.h"
#include "lib/log.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/process_account.h"

/* Libraries are mapped and the backend opens within the first seconds; later only seldom. */
static const uint64_t look_again_ms[] = {
	5, 10, 20, 20, 40, 40, 80, 80, 160, 160, 320, 640, 1000, 2000, 5000, 10000, 30000,
};

#define STRANGER_LOOKS 8
#define UNSEEN_NS      (10 * DL_NS_PER_S)
#define VERIFY_NS      DL_NS_PER_S
#define LOADED_NS      (4 * DL_NS_PER_S)  /* what is not mapped by then is linked in */
#define LATE_NS	       (30 * DL_NS_PER_S) /* ask again for an answer that is missing then */
#define KNOW_MS	       20
#define MEET_MS	       20
#define GGML_SITES     4

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

/* By its place, as the kernel tells it: whose workload it is decides what may be done to it. */
static uint32_t workload_of(struct dl_agent *a, uint32_t pid)
{
	char cgroup[DL_CGROUP_LEN];

	if (!a->workload_count)
		return 0;
	dl_process_cgroup(pid, cgroup);
	for (size_t i = 0; i < DL_LINKS_MAX; i++) {
		const struct dl_link *link = &a->links[i];

		if (!link->source || !link->workload)
			continue;
		if (link->pid == pid || dl_cgroup_holds(link->cgroup, cgroup))
			return link->workload;
	}
	return dl_units_workload_of(a, cgroup);
}

static bool attach(struct dl_agent *a, const struct dl_tracked *t, const struct dl_look_site *site,
		   int fd)
{
	const struct dl_probe_owner owner = { t->pid, t->uid, t->workload };
	const char *name = dl_site_name((enum dl_site)site->site);
	char self[DL_SELF_FD_SIZE];
	int err = -EBADF;

	if (!a->bpf)
		return false;
	if (dl_is_regular(fd)) /* asks no file system; the reader has opened it */
		err = dl_bpf_attach_library(a->bpf, dl_self_fd(fd, self), name, site->offset,
					    &owner);
	if (err < 0)
		dl_debug("uprobe %s: %s", name, strerror(-err));
	return err >= 0;
}

/* The sites are in their order: the end of a run first. */
static void attach_libraries(struct dl_agent *a, struct dl_tracked *t,
			     const struct dl_look_reply *reply, const int *files)
{
	const struct dl_probe_owner owner = { t->pid, t->uid, t->workload };
	size_t ggml = 0;

	if (a->bpf)
		dl_bpf_owner(a->bpf, &owner);
	for (size_t i = 0; i < reply->site_count; i++) {
		const struct dl_look_site *site = &reply->site[i];
		int fd = files[site->file];

		if (site->site == DL_SITE_THROW)
			t->cxx_attached = t->cxx_attached || attach(a, t, site, fd);
		else if (site->site == DL_SITE_UBATCH || site->site == DL_SITE_DECODE)
			t->llama_attached = t->llama_attached || attach(a, t, site, fd);
		else if (!t->ggml_attached && attach(a, t, site, fd))
			ggml++;
	}
	t->ggml_attached = t->ggml_attached || ggml == GGML_SITES;
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
static void assume_cpu(struct dl_tracked *t, const struct dl_look_reply *reply,
		       struct dl_ev_process *ev)
{
	t->cpu_assumed =
		reply->no_gpu && ev->backend == DL_BACKEND_UNKNOWN && t->attempts + 1 >= LOOKS;
	if (t->cpu_assumed)
		ev->backend = DL_BACKEND_CPU;
}

void dl_tracker_wants(struct dl_agent *a, const struct dl_look_job *job, struct dl_look_request *q)
{
	const struct dl_tracked *t = find(a, job->pid);

	dl_agent_gpus_used(a, job->pid, &q->used);
	if (!t || !t->cxx_attached)
		q->wants |= DL_WANT_CXX;
	if (!t || !t->ggml_attached)
		q->wants |= DL_WANT_GGML;
	if (!t || !t->llama_attached)
		q->wants |= DL_WANT_LLAMA;
	if (!t || !t->engine_known)
		q->wants |= DL_WANT_VERSION;
	if (t && !t->engine_known && t->met_ns && dl_boot_ns() - t->met_ns >= LOADED_NS)
		q->wants |= DL_WANT_VERSION_NOW;
}

static enum dl_look_class class_of(struct dl_agent *a, const struct dl_tracked *t, uint32_t pid,
				   bool named)
{
	if (t && t->told.workload)
		return DL_LOOKS_WORKLOAD;
	if (workload_of(a, pid))
		return DL_LOOKS_WORKLOAD;
	if (t && t->told.engine != DL_ENGINE_NONE)
		return DL_LOOKS_ENGINE;
	return named ? DL_LOOKS_NAMED : DL_LOOKS_OTHER;
}

static void submit(struct dl_agent *a, struct dl_tracked *t, uint32_t pid, bool named)
{
	const struct dl_look_job job = { .pid = pid,
					 .uid = dl_process_account(pid),
					 .class = (uint8_t)class_of(a, t, pid, named),
					 .look = named || (t && t->on_gpu) ? DL_LOOK_DEVICES
									   : DL_LOOK_COMMAND };

	if (t)
		t->inspect_ns = dl_boot_ns() + LATE_NS; /* should that answer never come */
	dl_reader_submit(a, &job);
}

static void take_engine(struct dl_agent *a, struct dl_tracked *t, const struct dl_look_reply *reply,
			const int *files, uint64_t now_ns)
{
	if (!t->met_ns)
		t->met_ns = now_ns;
	if (reply->version_read) {
		dl_copy_name(t->engine, sizeof(t->engine), reply->engine);
		t->engine_known = true;
	}
	attach_libraries(a, t, reply, files);
	if (a->bpf)
		dl_bpf_watch(a->bpf, t->pid);
}

/* Of the numbers of users, those below 1000 and these are for services (systemd, UIDS-GIDS). */
#define LOGIN_UID_MIN	1000
#define DYNAMIC_UID_MIN 61184
#define DYNAMIC_UID_MAX 65519

static uint16_t owner_flag(uint32_t uid)
{
	bool service = uid < LOGIN_UID_MIN || (uid >= DYNAMIC_UID_MIN && uid <= DYNAMIC_UID_MAX);

	return service ? 0 : DL_PROCESS_LOGIN_USER;
}

/* The core divides its tables among users, too. Root's processes are what it takes all for. */
static void tracker_tell_owner(struct dl_agent *a, struct dl_tracked *t)
{
	struct dl_event ev = dl_agent_event(DL_EV_OWNER, t->pid);

	if (t->uid == t->uid_told)
		return;
	t->uid_told = ev.owner.uid = t->uid;
	dl_agent_feed(a, &ev);
}

/* What a look at it told. */
static void take(struct dl_agent *a, struct dl_tracked *t, const struct dl_look_reply *reply,
		 const int *files)
{
	struct dl_event ev = dl_agent_event(DL_EV_PROCESS, t->pid);

	ev.process = reply->ev;
	t->verified_ns = t->looked_ns = ev.at_ns;
	t->opens_gpu = reply->opens_gpu;
	t->has_command = reply->has_command;
	t->loaded_backends = reply->loaded_backends;
	if (t->told.start_ticks && t->told.start_ticks != ev.process.start_ticks)
		begin_anew(a, t);
	if (!reply->has_command && t->told.start_ticks == ev.process.start_ticks) {
		t->inspect_ns = 0; /* it is ending, and stays who it was */
		return;
	}
	t->device_used = reply->device_used;
	ev.process.workload = t->workload = workload_of(a, t->pid);
	t->uid = dl_process_account(t->pid);
	ev.process.flags |= owner_flag(t->uid);
	assume_cpu(t, reply, &ev.process);
	if (ev.process.engine != DL_ENGINE_NONE)
		take_engine(a, t, reply, files, ev.at_ns);
	t->used_ns = ev.at_ns;
	if (memcmp(&t->told, &ev.process, sizeof(t->told)) != 0) {
		t->told = ev.process;
		tracker_tell_owner(a, t);
		dl_agent_feed(a, &ev);
	}
	plan_next_look(a, t, ev.at_ns);
}

void dl_tracker_take(struct dl_agent *a, const struct dl_look_job *job,
		     const struct dl_look_reply *reply, const int *files)
{
	struct dl_tracked *t = find(a, job->pid);

	if (reply->error) {
		if (t)
			t->inspect_ns = 0;
		return;
	}
	if (!t && reply->ev.engine == DL_ENGINE_NONE && job->class == DL_LOOKS_OTHER &&
	    !workload_of(a, job->pid))
		return; /* somebody else's */
	/* Watched first: an end from now on is told, one before is seen here. */
	if (a->bpf && reply->ev.engine != DL_ENGINE_NONE)
		dl_bpf_watch(a->bpf, job->pid);
	if (dl_process_start(job->pid) != reply->ev.start_ticks)
		return;
	t = t ? t : get(a, job->pid);
	t->on_gpu = t->on_gpu || job->look == DL_LOOK_DEVICES;
	take(a, t, reply, files);
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
	bool known = t && t->told.start_ticks;

	if (known) {
		t->used_ns = dl_boot_ns();
		known = still_the_same(t);
		if (known && !look_is_due(t))
			return;
	}
	if (t)
		t->on_gpu = true;
	submit(a, t, pid, true);
	if (!known) /* so that a first failure names its process, mostly */
		dl_reader_wait(a, pid, KNOW_MS);
}

void dl_tracker_used(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t && t->told.engine != DL_ENGINE_NONE)
		t->inspect_ns = dl_boot_ns();
}

/* An exec keeps pid and start time but changes everything else. */
void dl_tracker_exec(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	if (t)
		begin_to_look(a, t);
	submit(a, t, pid, false);
}

const struct dl_tracked *dl_tracker_meet(struct dl_agent *a, uint32_t pid)
{
	uint64_t begun_ns = dl_boot_ns();
	struct dl_look_job job = { .pid = pid,
				   .uid = dl_process_account(pid),
				   .class = DL_LOOKS_WORKLOAD,
				   .look = DL_LOOK_COMMAND };
	const struct dl_tracked *t;

	dl_reader_submit(a, &job);
	dl_reader_wait(a, pid, MEET_MS);
	t = find(a, pid);
	return t && t->looked_ns >= begun_ns ? t : NULL;
}

const struct dl_tracked *dl_tracker_of(const struct dl_agent *a, uint32_t pid)
{
	for (size_t i = 0; pid && i < DL_TRACKED_MAX; i++)
		if (a->tracked[i].pid == pid)
			return &a->tracked[i];
	return NULL;
}

bool dl_tracker_knows(struct dl_agent *a, uint32_t pid, uint64_t start_ticks)
{
	const struct dl_tracked *t = find(a, pid);

	return t && t->told.start_ticks == start_ticks;
}

void dl_tracker_gone(struct dl_agent *a, uint32_t pid)
{
	struct dl_tracked *t = find(a, pid);

	dl_reader_drop(a, pid);
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
		dl_tracker_gone(a, t->pid);
	else if (start != t->told.start_ticks)
		submit(a, t, t->pid, false);
}

void dl_tracker_tick(struct dl_agent *a, uint64_t now_ns)
{
	verify_next(a, now_ns);
	for (size_t i = 0; i < DL_TRACKED_MAX; i++) {
		struct dl_tracked *t = &a->tracked[i];

		if (t->pid && t->inspect_ns && now_ns >= t->inspect_ns)
			submit(a, t, t->pid, false);
	}
}
