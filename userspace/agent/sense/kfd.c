/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KFD's SMI descriptors in the event loop. They pin the module, like the agent's programs, and
 * refer to GPUs that they do not keep alive (kfd_reader.h). The removal of a DRM device, which is
 * announced before the driver removes the GPU, closes all of them at once.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/file.h"
#include "sensors/bpf/bpf_refusal.h"

#define LIST_NS	    (10 * DAVY_NS_PER_S) /* also the pause after a refused open */
#define PATIENCE_NS (2 * DAVY_NS_PER_S)
#define MODULE	    "amdgpu" /* KFD is a part of it */

static void kfd_tell(struct davy_agent *a, enum davy_sensor_state state, uint64_t count,
		     const char *reason)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);
	struct davy_kfd *k = &a->kfd;

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "kfd_smi");
	davy_copy_name(ev.sensor.reason, sizeof(ev.sensor.reason), reason);
	ev.sensor.state = state;
	ev.sensor.count = count;
	if (!memcmp(&k->state, &ev.sensor, sizeof(ev.sensor)) &&
	    (state != DAVY_SENSOR_LIVE || !k->lost_ns))
		return;
	k->state = ev.sensor;
	if (state == DAVY_SENSOR_LIVE) {
		ev.sensor.gap_ns = k->lost_ns ? ev.at_ns - k->lost_ns : 0;
		k->lost_ns = 0;
	}
	davy_agent_feed(a, &ev);
}

static void kfd_on_said(void *arg, const struct davy_kfd_said *said)
{
	struct davy_kfd_watch *w = arg;
	struct davy_event ev = davy_agent_event(DAVY_EV_KFD, davy_agent_kfd_pid(w->agent, said));

	ev.kfd = said->kfd;
	memcpy(ev.kfd.device, w->device, sizeof(ev.kfd.device));
	w->agent->kfd.said_count++;
	davy_agent_feed(w->agent, &ev);
}

static void kfd_on_lost(void *arg, uint64_t count, const char *reason)
{
	struct davy_kfd_watch *w = arg;
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "kfd_smi");
	davy_copy_name(ev.sensor.reason, sizeof(ev.sensor.reason), reason);
	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = count;
	davy_agent_feed(w->agent, &ev);
}

/* Closes every descriptor and ends the child. */
static void kfd_let_go(struct davy_agent *a)
{
	struct davy_kfd *k = &a->kfd;

	for (size_t i = 0; i < k->watch_count; i++) {
		sd_event_source_disable_unref(k->watch[i].source);
		davy_kfd_reader_free(k->watch[i].reader);
	}
	if (k->watch_count && !k->lost_ns)
		k->lost_ns = davy_boot_ns();
	k->watch_count = k->asked_count = 0;
	k->asked_ns = 0;
	k->opener_source = sd_event_source_disable_unref(k->opener_source);
	davy_kfd_opener_done(&k->opener); /* the tick waits for one that hangs */
}

/* No known kernel returns a permanent error: the agent opens everything again after a pause. */
static int on_smi(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_kfd_watch *w = arg;
	struct davy_agent *a = w->agent;
	char reason[DAVY_REASON_LEN];
	int err = davy_kfd_read(w->reader);

	(void)source;
	(void)fd;
	(void)events;
	if (err >= 0)
		return 0;
	snprintf(reason, sizeof(reason), "reading of '%s': %s", w->device, strerror(-err));
	kfd_let_go(a);
	a->kfd.listed_ns = davy_boot_ns();
	kfd_tell(a, DAVY_SENSOR_REFUSED, 0, reason);
	return 0;
}

static const struct davy_kfd_node *node_of(const struct davy_kfd *k, uint32_t gpu_id)
{
	for (size_t i = 0; i < k->node_count; i++)
		if (k->node[i].gpu_id == gpu_id)
			return &k->node[i];
	return NULL;
}

static int watch(struct davy_agent *a, uint32_t gpu_id, int fd)
{
	struct davy_kfd *k = &a->kfd;
	const struct davy_kfd_node *node = node_of(k, gpu_id);
	struct davy_kfd_watch *w = &k->watch[k->watch_count];
	struct davy_kfd_sinks sinks = { kfd_on_said, kfd_on_lost, w };
	int err;

	if (!node || k->watch_count == DAVY_KFD_NODES_MAX) {
		close(fd);
		return -ENODEV;
	}
	memset(w, 0, sizeof(*w));
	w->agent = a;
	w->gpu_id = gpu_id;
	memcpy(w->device, node->device, sizeof(w->device));
	err = davy_kfd_reader_of_fd(fd, &sinks, &w->reader);
	if (err) {
		close(fd);
		return err;
	}
	err = davy_watch(a->loop, &w->source, fd, on_smi, w);
	if (err < 0) {
		davy_kfd_reader_free(w->reader);
		return err;
	}
	k->watch_count++;
	return 0;
}

/* All replies have arrived, or none will. */
static void kfd_conclude(struct davy_agent *a)
{
	struct davy_kfd *k = &a->kfd;
	char reason[DAVY_REASON_LEN] = "";

	k->asked_ns = 0;
	if (k->watch_count < k->asked_count)
		snprintf(reason, sizeof(reason), "%zu of %zu GPUs of KFD cannot be watched: %s",
			 k->asked_count - k->watch_count, k->asked_count,
			 k->error ? strerror(-k->error) : "the child that opens them died");
	else if (!davy_rights_admin())
		snprintf(reason, sizeof(reason),
			 "CAP_SYS_ADMIN is missing: events of processes are not received");
	kfd_tell(a, k->watch_count ? DAVY_SENSOR_LIVE : DAVY_SENSOR_REFUSED, k->watch_count,
		 reason);
}

/* When a GPU is removed, the driver ends an opener that was to stay (7.2). */
static void on_ended(struct davy_agent *a)
{
	struct davy_kfd *k = &a->kfd;

	if (k->asked_ns)
		kfd_conclude(a);
	if (k->stay)
		kfd_let_go(a);
	k->opener_source = sd_event_source_disable_unref(k->opener_source);
	davy_kfd_opener_done(&k->opener);
}

static int on_opened(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;
	struct davy_kfd *k = &a->kfd;
	struct davy_kfd_answer answer;
	int smi, more = davy_kfd_opener_next(&k->opener, &answer, &smi);

	(void)source;
	(void)fd;
	(void)events;
	if (more < 0)
		on_ended(a);
	if (more <= 0)
		return 0;
	if (smi >= 0)
		answer.error = watch(a, answer.gpu_id, smi);
	if (answer.error)
		k->error = answer.error;
	if (!answer.gpu_id)
		kfd_conclude(a);
	return 0;
}

static bool has_driver(const struct davy_agent *a, const char *device)
{
	for (size_t i = 0; i < a->gpus.count; i++)
		if (!strcmp(a->gpus.gpu[i].gpu.device, device) &&
		    !strcmp(a->gpus.gpu[i].gpu.driver, MODULE))
			return true;
	return false;
}

/* A GPU that is being removed has lost its DRM device, but is still in the topology for a while. */
static size_t kfd_wanted(const struct davy_agent *a, uint32_t *ret_gpu_ids, bool *ret_stay)
{
	const struct davy_kfd *k = &a->kfd;
	size_t count = 0;

	*ret_stay = false;
	for (size_t i = 0; i < k->node_count; i++) {
		if (!has_driver(a, k->node[i].device))
			continue;
		*ret_stay |= k->node[i].partitioned;
		ret_gpu_ids[count++] = k->node[i].gpu_id;
	}
	return count;
}

/*
 * A change of the partition mode frees the nodes of the descriptors without a notification. It is
 * refused while KFD has a process (kgd2kfd_check_and_lock_kfd): the child is one while it stays.
 */
static void open_smi(struct davy_agent *a, const uint32_t *gpu_ids, size_t count, bool stay,
		     uint64_t now_ns)
{
	struct davy_kfd *k = &a->kfd;
	int err;

	kfd_let_go(a);
	if (!a->uevents) {
		kfd_tell(a, DAVY_SENSOR_REFUSED, 0,
			 "no uevents: the removal of a GPU would be noticed too late");
		return;
	}
	if (!davy_kfd_opener_reap(&k->opener))
		return; /* the last child still hangs in the kernel */
	memcpy(k->asked, gpu_ids, count * sizeof(gpu_ids[0]));
	k->asked_count = count;
	k->stay = stay;
	k->error = 0;
	err = davy_kfd_opener_start(&k->opener, gpu_ids, count, stay);
	if (!err) {
		k->asked_ns = now_ns;
		err = davy_watch_copy(a->loop, &k->opener_source, k->opener.fd, on_opened, a);
	}
	if (err >= 0)
		return;
	k->error = err;
	kfd_conclude(a);
}

static bool kfd_is_loaded(void)
{
	char path[PATH_MAX];

	return !davy_root_path(path, sizeof(path), "/sys/class/kfd/kfd") && !access(path, F_OK);
}

static void kfd_list(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_kfd *k = &a->kfd;
	uint32_t gpu_ids[DAVY_KFD_NODES_MAX];
	size_t count;
	bool stay, same;

	k->listed_ns = now_ns;
	k->node_count = davy_kfd_nodes_list(k->node, DAVY_KFD_NODES_MAX);
	count = kfd_wanted(a, gpu_ids, &stay);
	if (!count) {
		k->released = false;
		kfd_let_go(a);
		kfd_tell(a, DAVY_SENSOR_ABSENT, 0,
			 kfd_is_loaded() ? "no GPU uses KFD" : DAVY_NO_MODULE);
		return;
	}
	same = count == k->asked_count && !memcmp(gpu_ids, k->asked, count * sizeof(gpu_ids[0]));
	k->released &= same;
	if (!k->released && !k->asked_ns && (!same || !k->watch_count))
		open_smi(a, gpu_ids, count, stay, now_ns);
}

void davy_agent_kfd_changed(struct davy_agent *a, bool leaving)
{
	a->kfd.listed_ns = 0;
	if (leaving)
		kfd_let_go(a);
}

int davy_agent_kfd_release(struct davy_agent *a, const char *module)
{
	struct davy_kfd *k = &a->kfd;
	bool had = k->watch_count || k->asked_ns;
	size_t count = k->asked_count;

	if (strcmp(module, MODULE) != 0)
		return 0;
	kfd_let_go(a);
	k->released = true;
	k->asked_count = count; /* opens again only for a different set of GPUs */
	if (had)
		kfd_tell(a, DAVY_SENSOR_RELEASED, 0, "released for unloading, as requested");
	return had;
}

void davy_agent_kfd_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_kfd *k = &a->kfd;

	if (!k->opener_source)
		davy_kfd_opener_reap(&k->opener);
	if (!k->listed_ns || now_ns - k->listed_ns >= LIST_NS)
		kfd_list(a, now_ns);
	if (k->asked_ns && now_ns - k->asked_ns >= PATIENCE_NS)
		kfd_tell(a, DAVY_SENSOR_REFUSED, 0,
			 "opening /dev/kfd blocks: a GPU hangs or is being reset");
	for (size_t i = 0; i < k->watch_count; i++)
		davy_kfd_reader_tick(k->watch[i].reader, now_ns);
	davy_agent_kfd_sample(a, now_ns);
}

void davy_agent_kfd_close(struct davy_agent *a)
{
	kfd_let_go(a);
}
