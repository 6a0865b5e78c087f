/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that compute with KFD: sampled, reported on changes, and mapped from the pids of SMI
 * lines.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

#define OFTEN_NS   DAVY_NS_PER_S       /* a process uses a GPU */
#define SELDOM_NS  (5 * DAVY_NS_PER_S) /* no process does */
#define REFRESH_NS (200 * DAVY_NS_PER_MS)
#define LISTED_MAX 64 /* processes in a status: a message has a maximum size */

static struct davy_kfd_user *user_of(struct davy_kfd *k, uint32_t pid, uint32_t gpu_id)
{
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].pid == pid && k->user[i].use.gpu_id == gpu_id)
			return &k->user[i];
	return NULL;
}

/* NULL also for a process that has exited: KFD removes it later. */
static struct davy_kfd_user *user_new(struct davy_kfd *k, uint32_t pid, uint32_t gpu_id)
{
	uint32_t inner_pid = davy_process_inner_pid(pid);

	for (size_t i = 0; inner_pid && i < DAVY_KFD_USES_MAX; i++) {
		struct davy_kfd_user *u = &k->user[i];

		if (u->pid)
			continue;
		memset(u, 0, sizeof(*u));
		u->pid = pid;
		u->inner_pid = inner_pid;
		u->changed = true;
		for (size_t n = 0; n < k->node_count; n++)
			if (k->node[n].gpu_id == gpu_id)
				memcpy(u->device, k->node[n].device, sizeof(u->device));
		return u;
	}
	return NULL;
}

static void kfd_use_note(struct davy_kfd *k, uint32_t pid, const struct davy_kfd_use *use)
{
	struct davy_kfd_user *u = user_of(k, pid, use->gpu_id);

	if (!u)
		u = user_new(k, pid, use->gpu_id);
	if (!u)
		return;
	u->changed |= memcmp(&u->use, use, sizeof(*use)) != 0;
	u->use = *use;
	u->round = k->round;
}

/* The driver has a row for every GPU of the host: unused ones are not reported. */
static void kfd_use_look_at(struct davy_kfd *k, uint32_t pid)
{
	static const struct davy_kfd_use nothing;
	struct davy_kfd_use use[DAVY_KFD_GPUS_MAX];
	int count = davy_kfd_use_read(pid, use, DAVY_KFD_GPUS_MAX);
	bool any = false;

	for (int i = 0; i < count; i++) {
		if (!use[i].vram && !use[i].queue_count && !user_of(k, pid, use[i].gpu_id))
			continue;
		kfd_use_note(k, pid, &use[i]);
		any = true;
	}
	if (count >= 0 && !any)
		kfd_use_note(k, pid, &nothing);
}

static bool same_place(const struct davy_kfd_user *a, const struct davy_kfd_user *b)
{
	return a->pid == b->pid && !strcmp(a->device, b->device);
}

/* Partitions of one device are one device for the core. */
static void say_use(struct davy_agent *a, const struct davy_kfd_user *u)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_KFD_USE, u->pid);
	struct davy_kfd *k = &a->kfd;

	memcpy(ev.kfd_use.device, u->device, sizeof(ev.kfd_use.device));
	ev.kfd_use.gone = 1;
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++) {
		struct davy_kfd_user *other = &k->user[i];

		if (!same_place(u, other))
			continue;
		other->changed = false;
		if (other->round != k->round)
			continue;
		ev.kfd_use.gone = 0;
		ev.kfd_use.vram += other->use.vram;
		ev.kfd_use.evicted_ms += other->use.evicted_ms;
		ev.kfd_use.fault_count += other->use.fault_count;
		ev.kfd_use.pages_in += other->use.pages_in;
		ev.kfd_use.pages_out += other->use.pages_out;
		ev.kfd_use.queue_count += other->use.queue_count;
	}
	davy_agent_feed(a, &ev);
}

static bool somebody_computes(const struct davy_kfd *k)
{
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].pid && k->user[i].use.gpu_id)
			return true;
	return false;
}

static void kfd_use_sample(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_kfd *k = &a->kfd;
	uint32_t pids[DAVY_KFD_USES_MAX];
	size_t count = davy_kfd_use_pids(pids, DAVY_KFD_USES_MAX);

	k->sampled_ns = now_ns;
	k->round++;
	for (size_t i = 0; i < count; i++)
		if (pids[i] != (uint32_t)k->opener.child.pid)
			kfd_use_look_at(k, pids[i]);
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].pid && k->user[i].round != k->round)
			k->user[i].changed = true;
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].pid && k->user[i].changed)
			say_use(a, &k->user[i]);
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].round != k->round)
			k->user[i].pid = 0;
}

void davy_agent_kfd_sample(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_kfd *k = &a->kfd;

	if (now_ns - k->sampled_ns >= (somebody_computes(k) ? OFTEN_NS : SELDOM_NS))
		kfd_use_sample(a, now_ns);
}

/*
 * Maps a pid of the initial namespace, or of the process's own namespace if the driver may have
 * used that. 0: no process, or several (-EEXIST).
 */
static int the_only(const struct davy_kfd *k, const struct davy_kfd_said *said, uint32_t *ret_pid)
{
	*ret_pid = 0;
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++) {
		const struct davy_kfd_user *u = &k->user[i];
		bool inner = !said->thread && u->inner_pid == said->pid;

		if (!u->pid || (u->pid != said->pid && !inner) || u->pid == *ret_pid)
			continue;
		if (*ret_pid) {
			*ret_pid = 0;
			return -EEXIST;
		}
		*ret_pid = u->pid;
	}
	return *ret_pid ? 0 : -ESRCH;
}

uint32_t davy_agent_kfd_pid(struct davy_agent *a, const struct davy_kfd_said *said)
{
	struct davy_kfd *k = &a->kfd;
	uint64_t now_ns = davy_boot_ns();
	uint32_t pid = said->thread ? davy_process_of_thread(said->pid) : 0;

	if (pid || !said->pid)
		return pid;
	if (the_only(k, said, &pid) == -ESRCH && now_ns - k->sampled_ns >= REFRESH_NS) {
		kfd_use_sample(a, now_ns); /* for a new process */
		the_only(k, said, &pid);
	}
	return pid;
}

static json_t *users_of(const struct davy_kfd *k, uint32_t gpu_id, size_t *listed,
			int *ret_unlisted)
{
	json_t *list = json_array();

	*ret_unlisted = 0;
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++) {
		const struct davy_kfd_user *u = &k->user[i];

		if (!u->pid || u->use.gpu_id != gpu_id)
			continue;
		if (++*listed > LISTED_MAX) {
			++*ret_unlisted;
			continue;
		}
		json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:i}", "pid",
						      (int)u->pid, "vram", (json_int_t)u->use.vram,
						      "evicted_ms", (json_int_t)u->use.evicted_ms,
						      "faults", (json_int_t)u->use.fault_count,
						      "pages_in", (json_int_t)u->use.pages_in,
						      "pages_out", (json_int_t)u->use.pages_out,
						      "queues", (int)u->use.queue_count));
	}
	return list;
}

static bool is_heard(const struct davy_kfd *k, uint32_t gpu_id)
{
	for (size_t i = 0; i < k->watch_count; i++)
		if (k->watch[i].gpu_id == gpu_id)
			return true;
	return false;
}

static json_t *node_status(const struct davy_kfd *k, const struct davy_kfd_node *node,
			   size_t *listed)
{
	int unlisted;
	json_t *users = users_of(k, node->gpu_id, listed, &unlisted);

	return json_pack("{s:I, s:s, s:i, s:i, s:I, s:b, s:o, s:i}", "gpu_id",
			 (json_int_t)node->gpu_id, "device", node->device, "gfx_target_version",
			 (int)node->gfx_target_version, "simd_count", (int)node->simd_count,
			 "memory", (json_int_t)node->memory, "smi_events",
			 is_heard(k, node->gpu_id), "processes", users, "processes_unlisted",
			 unlisted);
}

/* After the GPUs, gpu_id 0 has the processes that have KFD open and use no GPU. */
json_t *davy_agent_kfd_status(const struct davy_agent *a)
{
	static const struct davy_kfd_node none;
	const struct davy_kfd *k = &a->kfd;
	json_t *list = json_array();
	size_t listed = 0;

	for (size_t i = 0; i < k->node_count; i++)
		json_array_append_new(list, node_status(k, &k->node[i], &listed));
	for (size_t i = 0; i < DAVY_KFD_USES_MAX; i++)
		if (k->user[i].pid && !k->user[i].use.gpu_id) {
			json_array_append_new(list, node_status(k, &none, &listed));
			break;
		}
	return list;
}
