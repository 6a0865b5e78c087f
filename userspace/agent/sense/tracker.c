/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known processes, the schedule of their inspections, and uprobes on their libraries. */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

#include "act/cgroup.h"
#include "lib/log.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/process_account.h"
#include "agent/sense/tracker.h"

/*
 * Libraries are mapped and the backend is opened within the first seconds; later inspections are
 * rare.
 */
static const uint64_t look_again_ms[] = {
	5, 10, 20, 20, 40, 40, 80, 80, 160, 160, 320, 640, 1000, 2000, 5000, 10000, 30000,
};

#define STRANGER_LOOKS 8
#define UNSEEN_NS      (10 * DAVY_NS_PER_S)
#define VERIFY_NS      DAVY_NS_PER_S
#define LOADED_NS      (4 * DAVY_NS_PER_S)  /* libraries not mapped by then are linked statically */
#define LATE_NS	       (30 * DAVY_NS_PER_S) /* repeat a request whose reply is still missing then */
#define KNOW_MS	       20
#define MEET_MS	       20
#define GGML_SITES     4

#define LOOKS (sizeof(look_again_ms) / sizeof(look_again_ms[0]))

static struct davy_tracked *tracker_get(struct davy_agent *a, uint32_t pid)
{
	struct davy_tracked *t = davy_tracked_of(a, pid);

	return t ? t : davy_tracked_new(a, pid);
}

/* Uses the cgroup that the kernel reports: the workload decides which acts are permitted. */
static uint32_t tracker_workload_of(struct davy_agent *a, uint32_t pid)
{
	char cgroup[DAVY_CGROUP_LEN];

	if (!a->workload_count)
		return 0;
	davy_process_cgroup(pid, cgroup);
	for (size_t i = 0; i < DAVY_LINKS_MAX; i++) {
		const struct davy_link *link = &a->links[i];

		if (!link->source || !link->workload)
			continue;
		if (link->pid == pid || davy_cgroup_holds(link->cgroup, cgroup))
			return link->workload;
	}
	return a->hooks ? a->hooks->workload_of_cgroup(a, cgroup) : 0;
}

static bool tracker_attach(struct davy_agent *a, const struct davy_tracked *t,
			   const struct davy_look_site *site, int fd)
{
	const struct davy_probe_owner owner = { t->pid, t->uid, t->workload };
	const char *name = davy_site_name((enum davy_site)site->site);
	char self[DAVY_SELF_FD_SIZE];
	int err = -EBADF;

	if (!a->bpf)
		return false;
	if (davy_is_regular(fd)) /* queries no file system; the reader has opened it */
		err = davy_bpf_attach_library(a->bpf, davy_self_fd(fd, self), name, site->offset,
					      &owner);
	if (err < 0)
		davy_debug("uprobe %s: %s", name, strerror(-err));
	return err >= 0;
}

/* The sites have a fixed order: the end of a run is attached first. */
static void attach_libraries(struct davy_agent *a, struct davy_tracked *t,
			     const struct davy_look_reply *reply, const int *files)
{
	const struct davy_probe_owner owner = { t->pid, t->uid, t->workload };
	size_t ggml = 0;

	if (a->bpf)
		davy_bpf_owner(a->bpf, &owner);
	for (size_t i = 0; i < reply->site_count; i++) {
		const struct davy_look_site *site = &reply->site[i];
		int fd = files[site->file];

		if (site->site == DAVY_SITE_THROW)
			t->cxx_attached = t->cxx_attached || tracker_attach(a, t, site, fd);
		else if (site->site == DAVY_SITE_UBATCH || site->site == DAVY_SITE_DECODE)
			t->llama_attached = t->llama_attached || tracker_attach(a, t, site, fd);
		else if (!t->ggml_attached && tracker_attach(a, t, site, fd))
			ggml += site->site != DAVY_SITE_RESULT;
	}
	t->ggml_attached = t->ggml_attached || ggml == GGML_SITES;
}

static bool settled(const struct davy_tracked *t)
{
	return !t->cpu_assumed && !(t->reported.flags & DAVY_PROCESS_PORT_ASSUMED) &&
	       t->cxx_attached && t->ggml_attached && t->reported.backend != DAVY_BACKEND_UNKNOWN &&
	       (t->reported.backend == DAVY_BACKEND_CPU || t->device_used);
}

/* A Python worker sets its process title some seconds after its start, without an exec. */
static bool may_become_engine(struct davy_agent *a, const struct davy_tracked *t)
{
	const struct davy_tracked *parent = davy_tracked_of(a, t->reported.ppid);

	if (t->on_gpu && (t->opens_gpu || t->attempts < STRANGER_LOOKS))
		return true;
	return parent && parent->reported.engine != DAVY_ENGINE_NONE;
}

static void plan_next_look(struct davy_agent *a, struct davy_tracked *t, uint64_t now_ns)
{
	t->inspect_ns = 0;
	if (t->attempts >= LOOKS || settled(t))
		return;
	if (t->reported.engine == DAVY_ENGINE_NONE && !may_become_engine(a, t))
		return;
	t->inspect_ns = now_ns + look_again_ms[t->attempts++] * DAVY_NS_PER_MS;
}

static void begin_to_look(struct davy_agent *a, struct davy_tracked *t)
{
	if (a->bpf)
		davy_bpf_owner_gone(a->bpf, t->pid);
	t->attempts = 0;
	t->cxx_attached = t->ggml_attached = t->llama_attached = false;
	t->engine_known = false;
	t->engine[0] = 0;
	t->met_ns = 0;
}

/* Another process, or another program in it: discards everything known. */
static void begin_anew(struct davy_agent *a, struct davy_tracked *t)
{
	begin_to_look(a, t);
	t->cpu_assumed = t->device_used = false;
	memset(&t->reported, 0, sizeof(t->reported));
}

/* Engines open devices before they load the model: after about 20 s no device is expected. */
static void assume_cpu(struct davy_tracked *t, const struct davy_look_reply *reply,
		       struct davy_ev_process *ev)
{
	t->cpu_assumed =
		reply->no_gpu && ev->backend == DAVY_BACKEND_UNKNOWN && t->attempts + 1 >= LOOKS;
	if (t->cpu_assumed)
		ev->backend = DAVY_BACKEND_CPU;
}

void davy_tracker_wants(struct davy_agent *a, const struct davy_look_job *job,
			struct davy_look_request *q)
{
	const struct davy_tracked *t = davy_tracked_of(a, job->pid);

	davy_agent_gpus_used(a, job->pid, &q->used);
	if (!t || !t->cxx_attached)
		q->wants |= DAVY_WANT_CXX;
	if (!t || !t->ggml_attached)
		q->wants |= DAVY_WANT_GGML;
	if (!t || !t->llama_attached)
		q->wants |= DAVY_WANT_LLAMA;
	if (!t || !t->engine_known)
		q->wants |= DAVY_WANT_VERSION;
	if (t && !t->engine_known && t->met_ns && davy_boot_ns() - t->met_ns >= LOADED_NS)
		q->wants |= DAVY_WANT_VERSION_NOW;
}

static enum davy_look_class tracker_class_of(struct davy_agent *a, const struct davy_tracked *t,
					     uint32_t pid, bool named)
{
	if (t && t->reported.workload)
		return DAVY_LOOKS_WORKLOAD;
	if (tracker_workload_of(a, pid))
		return DAVY_LOOKS_WORKLOAD;
	if (t && t->reported.engine != DAVY_ENGINE_NONE)
		return DAVY_LOOKS_ENGINE;
	return named ? DAVY_LOOKS_NAMED : DAVY_LOOKS_OTHER;
}

static void submit(struct davy_agent *a, struct davy_tracked *t, uint32_t pid, bool named)
{
	const struct davy_look_job job = { .pid = pid,
					   .uid = davy_process_account(pid),
					   .class = (uint8_t)tracker_class_of(a, t, pid, named),
					   .look = named || (t && t->on_gpu) ? DAVY_LOOK_DEVICES
									     : DAVY_LOOK_COMMAND };

	if (t)
		t->inspect_ns = davy_boot_ns() + LATE_NS; /* in case the reply never arrives */
	davy_reader_submit(a, &job);
}

static void tracker_take_engine(struct davy_agent *a, struct davy_tracked *t,
				const struct davy_look_reply *reply, const int *files,
				uint64_t now_ns)
{
	if (!t->met_ns)
		t->met_ns = now_ns;
	if (reply->version_read) {
		davy_copy_name(t->engine, sizeof(t->engine), reply->engine);
		t->engine_known = true;
	}
	attach_libraries(a, t, reply, files);
	if (a->bpf)
		davy_bpf_watch(a->bpf, t->pid);
}

/* User ids below 1000 and in this range are for services (systemd, UIDS-GIDS). */
#define LOGIN_UID_MIN	1000
#define DYNAMIC_UID_MIN 61184
#define DYNAMIC_UID_MAX 65519

static uint16_t owner_flag(uint32_t uid)
{
	bool service = uid < LOGIN_UID_MIN || (uid >= DYNAMIC_UID_MIN && uid <= DYNAMIC_UID_MAX);

	return service ? 0 : DAVY_PROCESS_LOGIN_USER;
}

/* The core shares its tables among users too. Root is its default owner. */
static void tracker_tell_owner(struct davy_agent *a, struct davy_tracked *t)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_OWNER, t->pid);

	if (t->uid == t->uid_reported)
		return;
	t->uid_reported = ev.owner.uid = t->uid;
	davy_agent_feed(a, &ev);
}

/* Takes the result of an inspection. */
static void tracker_take(struct davy_agent *a, struct davy_tracked *t,
			 const struct davy_look_reply *reply, const int *files)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_PROCESS, t->pid);

	ev.process = reply->ev;
	t->verified_ns = t->looked_ns = ev.at_ns;
	t->opens_gpu = reply->opens_gpu;
	t->has_command = reply->has_command;
	t->loaded_backends = reply->loaded_backends;
	if (t->reported.start_ticks && t->reported.start_ticks != ev.process.start_ticks)
		begin_anew(a, t);
	if (!reply->has_command && t->reported.start_ticks == ev.process.start_ticks) {
		t->inspect_ns = 0; /* it is exiting, and keeps its identity */
		return;
	}
	t->device_used = reply->device_used;
	ev.process.workload = t->workload = tracker_workload_of(a, t->pid);
	if (a->hooks)
		ev.process.port = a->hooks->port_of_workload(a, t->workload, ev.process.port);
	t->uid = davy_process_account(t->pid);
	ev.process.flags |= owner_flag(t->uid);
	assume_cpu(t, reply, &ev.process);
	if (ev.process.engine != DAVY_ENGINE_NONE)
		tracker_take_engine(a, t, reply, files, ev.at_ns);
	t->used_ns = ev.at_ns;
	if (memcmp(&t->reported, &ev.process, sizeof(t->reported)) != 0) {
		t->reported = ev.process;
		tracker_tell_owner(a, t);
		davy_agent_feed(a, &ev);
	}
	plan_next_look(a, t, ev.at_ns);
}

void davy_tracker_take(struct davy_agent *a, const struct davy_look_job *job,
		       const struct davy_look_reply *reply, const int *files)
{
	struct davy_tracked *t = davy_tracked_of(a, job->pid);

	if (reply->error) {
		if (t)
			t->inspect_ns = 0;
		return;
	}
	if (!t && reply->ev.engine == DAVY_ENGINE_NONE && job->class == DAVY_LOOKS_OTHER &&
	    !tracker_workload_of(a, job->pid))
		return; /* not relevant */
	/* Watch first: later exits are then reported, an earlier one is detected here. */
	if (a->bpf && reply->ev.engine != DAVY_ENGINE_NONE)
		davy_bpf_watch(a->bpf, job->pid);
	if (davy_process_start(job->pid) != reply->ev.start_ticks)
		return;
	t = t ? t : tracker_get(a, job->pid);
	t->on_gpu = t->on_gpu || job->look == DAVY_LOOK_DEVICES;
	tracker_take(a, t, reply, files);
}

/* An exit may have been missed and the pid reused. */
static bool still_the_same(struct davy_tracked *t)
{
	uint64_t start;

	if (t->used_ns - t->verified_ns < VERIFY_NS)
		return true;
	t->verified_ns = t->used_ns;
	start = davy_process_start(t->pid);
	return !start || start == t->reported.start_ticks;
}

/* Many events a second may name a process: it is inspected only when that is due. */
static bool look_is_due(const struct davy_tracked *t)
{
	return t->reported.engine != DAVY_ENGINE_NONE && !settled(t) && t->inspect_ns &&
	       t->used_ns >= t->inspect_ns;
}

void davy_tracker_know(struct davy_agent *a, uint32_t pid)
{
	struct davy_tracked *t = davy_tracked_of(a, pid);
	bool known = t && t->reported.start_ticks;

	if (known) {
		t->used_ns = davy_boot_ns();
		known = still_the_same(t);
		if (known && !look_is_due(t))
			return;
	}
	if (t)
		t->on_gpu = true;
	submit(a, t, pid, true);
	if (!known) /* so that the first failure usually names its process */
		davy_reader_wait(a, pid, KNOW_MS);
}

/* An exec keeps pid and start time, but changes everything else. */
void davy_tracker_exec(struct davy_agent *a, uint32_t pid)
{
	struct davy_tracked *t = davy_tracked_of(a, pid);

	if (t)
		begin_to_look(a, t);
	submit(a, t, pid, false);
}

const struct davy_tracked *davy_tracker_meet(struct davy_agent *a, uint32_t pid)
{
	uint64_t begun_ns = davy_boot_ns();
	struct davy_look_job job = { .pid = pid,
				     .uid = davy_process_account(pid),
				     .class = DAVY_LOOKS_WORKLOAD,
				     .look = DAVY_LOOK_COMMAND };
	const struct davy_tracked *t;

	davy_reader_submit(a, &job);
	davy_reader_wait(a, pid, MEET_MS);
	t = davy_tracked_of(a, pid);
	return t && t->looked_ns >= begun_ns ? t : NULL;
}

bool davy_tracker_knows(struct davy_agent *a, uint32_t pid, uint64_t start_ticks)
{
	const struct davy_tracked *t = davy_tracked_of(a, pid);

	return t && t->reported.start_ticks == start_ticks;
}

void davy_tracker_gone(struct davy_agent *a, uint32_t pid)
{
	struct davy_tracked *t = davy_tracked_of(a, pid);

	davy_reader_drop(a, pid);
	if (t)
		davy_tracked_forget(a, t);
}

/* One process a tick: detects missed exits and reused pids. */
static void verify_next(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_tracked *t = &a->tracked[a->verify_next++ % DAVY_TRACKED_MAX];
	uint64_t start;

	if (!t->pid || now_ns - t->verified_ns < UNSEEN_NS)
		return;
	t->verified_ns = now_ns;
	start = davy_process_start(t->pid);
	if (!start)
		davy_tracker_gone(a, t->pid);
	else if (start != t->reported.start_ticks)
		submit(a, t, t->pid, false);
}

void davy_tracker_tick(struct davy_agent *a, uint64_t now_ns)
{
	verify_next(a, now_ns);
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++) {
		struct davy_tracked *t = &a->tracked[i];

		if (t->pid && t->inspect_ns && now_ns >= t->inspect_ns)
			submit(a, t, t->pid, false);
	}
}
