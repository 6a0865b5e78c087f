/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/log.h"
#include "lib/text.h"
#include "agent/sense/tracker.h"

#define LIST_NS	   (10 * DAVY_NS_PER_S) /* list devices even without a uevent */
#define COUNT_NS   (10 * DAVY_NS_PER_S)
#define ASK_NS	   DAVY_NS_PER_S       /* clients of GPUs in use */
#define SCREEN_NS  (5 * DAVY_NS_PER_S) /* no GPU has a client */
#define HOST_PART  256 /* fraction of the host's memory: smaller changes are not reported */
#define STALL_STEP 10  /* permille */

static struct davy_watched_gpu *agent_gpus_find(struct davy_gpus *g, const char *device)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->gpu[i].gpu.device, device))
			return &g->gpu[i];
	return NULL;
}

static void say_device(struct davy_agent *a, const struct davy_gpu *gpu,
		       enum davy_device_change change)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_DEVICE, 0);

	davy_copy_name(ev.device.device, sizeof(ev.device.device), gpu->device);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), gpu->driver);
	ev.device.change = change;
	davy_agent_feed(a, &ev);
	if (a->kernel_log.reader)
		davy_kmsg_know(a->kernel_log.reader, gpu->device,
			       change == DAVY_DEVICE_ADDED ? gpu->driver : NULL);
}

static void say_client(struct davy_agent *a, uint32_t pid, const struct davy_fdinfo *info,
		       bool gone)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_CLIENT, pid);

	davy_copy_name(ev.client.device, sizeof(ev.client.device), info->device);
	ev.client.client_id = info->client_id;
	ev.client.vram = info->vram;
	ev.client.gtt = info->gtt;
	ev.client.system = info->system;
	ev.client.evicted = info->evicted;
	ev.client.busy_ns = info->busy_ns;
	ev.client.gone = gone;
	davy_agent_feed(a, &ev);
}

/* Removes the clients of a removed device at once: without GPUs no query follows. */
static void forget_clients(struct davy_agent *a, const char *device)
{
	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		struct davy_gpu_client *c = &a->gpus.client[i];

		if (!c->pid || strcmp(c->info.device, device) != 0)
			continue;
		say_client(a, c->pid, &c->info, true);
		memset(c, 0, sizeof(*c));
	}
}

static void gpu_removed(struct davy_agent *a, struct davy_watched_gpu *w)
{
	forget_clients(a, w->gpu.device);
	davy_agent_versions_drop(&w->versions);
	say_device(a, &w->gpu, DAVY_DEVICE_REMOVED);
	w->gpu.device[0] = 0;
}

/* A listing may fail for want of descriptors or memory. */
static bool gpu_is_bound(const struct davy_gpu *gpu)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", gpu->device);
	return !access(path, F_OK) || errno != ENOENT;
}

/* Lists the GPUs. Known ones keep their samples, unless they have another driver. */
static void gpus_list(struct davy_agent *a, uint64_t now_ns)
{
	static struct davy_gpu now[DAVY_GPUS_MAX]; /* large; the agent has one thread */
	static struct davy_watched_gpu kept[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(now, DAVY_GPUS_MAX);
	struct davy_gpus *g = &a->gpus;

	g->listed_ns = now_ns;
	for (size_t i = 0; i < count; i++) {
		struct davy_watched_gpu *known = agent_gpus_find(g, now[i].device);

		memset(&kept[i], 0, sizeof(kept[i]));
		if (known && !strcmp(known->gpu.driver, now[i].driver)) {
			kept[i] = *known;
			known->gpu.device[0] = 0; /* its state was copied */
		} else {
			if (known)
				gpu_removed(a, known);
			say_device(a, &now[i], DAVY_DEVICE_ADDED);
		}
		kept[i].gpu = now[i];
	}
	for (size_t i = 0; i < g->count; i++) {
		struct davy_watched_gpu *w = &g->gpu[i];

		if (w->gpu.device[0] && count < DAVY_GPUS_MAX && gpu_is_bound(&w->gpu))
			kept[count++] = *w;
		else if (w->gpu.device[0])
			gpu_removed(a, w);
	}
	memcpy(g->gpu, kept, count * sizeof(kept[0]));
	g->count = count;
}

static uint64_t gpus_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The host's memory changes all the time: report it only for devices that use it, and only after a
 * large change.
 */
static bool host_moved(const struct davy_watched_gpu *w, const struct davy_ev_memory *now)
{
	if (!(now->flags & (DAVY_MEMORY_SHARED | DAVY_MEMORY_MAY_SUSPEND)))
		return false;
	return gpus_distance(now->host_available, w->reported_available) >
		       now->host_total / HOST_PART ||
	       gpus_distance(now->pressure_permille, w->reported_pressure) >= STALL_STEP;
}

void davy_agent_gpus_take(struct davy_agent *a, struct davy_watched_gpu *w,
			  const struct davy_ev_memory *memory, bool readable, uint64_t now_ns)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_MEMORY, 0);
	struct davy_ev_memory before = w->memory;
	uint64_t ago_ns = now_ns - w->sampled_ns;
	bool first = !w->sampled_ns;

	ev.memory = w->memory = *memory;
	w->readable = readable;
	w->sampled_ns = now_ns;
	w->next_ns = now_ns + davy_gpu_memory_interval(&ev.memory, first ? NULL : &before, ago_ns);
	before.host_available = ev.memory.host_available;
	before.pressure_permille = ev.memory.pressure_permille;
	if (!readable ||
	    (!first && !host_moved(w, &ev.memory) && !memcmp(&before, &ev.memory, sizeof(before))))
		return;
	w->reported_available = ev.memory.host_available;
	w->reported_pressure = ev.memory.pressure_permille;
	davy_agent_feed(a, &ev);
}

static void gpus_sample(struct davy_agent *a, struct davy_watched_gpu *w, uint64_t now_ns)
{
	struct davy_ev_memory memory = w->memory;
	bool counters = !w->sampled_ns || now_ns - w->counted_ns >= COUNT_NS, readable;

	if (davy_nvml_reads(&w->gpu)) {
		davy_agent_nvml_ask(a, w, now_ns);
		return;
	}
	if (counters)
		w->counted_ns = now_ns;
	readable = !davy_gpu_memory_read(&w->gpu, counters, &memory);
	davy_agent_gpus_take(a, w, &memory, readable, now_ns);
}

static bool client_changed(const struct davy_fdinfo *a, const struct davy_fdinfo *b)
{
	return a->vram != b->vram || a->gtt != b->gtt || a->system != b->system ||
	       a->evicted != b->evicted || a->busy_ns != b->busy_ns;
}

static struct davy_gpu_client *gpus_slot_of(struct davy_gpus *g, uint32_t pid,
					    const struct davy_fdinfo *info)
{
	struct davy_gpu_client *empty = NULL;

	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		struct davy_gpu_client *c = &g->client[i];

		if (c->pid == pid && c->info.client_id == info->client_id &&
		    !strcmp(c->info.device, info->device))
			return c;
		if (!c->pid && !empty)
			empty = c;
	}
	return empty;
}

static uint64_t gpus_bytes_of(const struct davy_gpu_client *c)
{
	return c->pid ? c->info.vram + c->info.gtt + c->info.system : 0;
}

static void gpus_take_client(struct davy_agent *a, uint32_t pid, const struct davy_fdinfo *info,
			     bool by_nvml, uint32_t round)
{
	struct davy_gpu_client *c = gpus_slot_of(&a->gpus, pid, info);
	uint64_t before;
	bool changed;

	if (!c)
		return;
	before = gpus_bytes_of(c);
	changed = !c->pid || client_changed(&c->info, info);
	c->pid = pid;
	c->by_nvml = by_nvml;
	c->round = round;
	c->info = *info;
	if (changed)
		say_client(a, pid, info, false);
	if (before <= DAVY_DEVICE_SMALL && gpus_bytes_of(c) > DAVY_DEVICE_SMALL)
		davy_tracked_used(a, pid);
}

/* Removes the clients that a complete reply does not contain. "device" NULL: on any device. */
static void gpus_sweep(struct davy_agent *a, bool by_nvml, const char *device, uint32_t round)
{
	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		struct davy_gpu_client *c = &a->gpus.client[i];

		if (!c->pid || c->by_nvml != by_nvml || c->round == round ||
		    (device && strcmp(c->info.device, device) != 0))
			continue;
		say_client(a, c->pid, &c->info, true);
		memset(c, 0, sizeof(*c));
	}
}

void davy_agent_gpus_processes(struct davy_agent *a, const struct davy_nvml_record *r)
{
	struct davy_fdinfo info = { .driver = "nvidia" };

	davy_copy_name(info.device, sizeof(info.device), r->device);
	for (uint32_t i = 0; i < r->process_count; i++) {
		info.vram = r->process[i].bytes;
		gpus_take_client(a, r->process[i].pid, &info, true, (uint32_t)r->serial);
	}
	gpus_sweep(a, true, r->device, (uint32_t)r->serial);
}

static void on_client(void *arg, uint32_t pid, const struct davy_fdinfo *info)
{
	struct davy_agent *a = arg;

	gpus_take_client(a, pid, info, false, a->gpus.round);
}

static void gpus_on_done(void *arg)
{
	struct davy_agent *a = arg;

	a->gpus.blocked_pid = 0;
	gpus_sweep(a, false, NULL, a->gpus.round);
}

static int gpus_on_answer(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	(void)source;
	(void)fd;
	(void)events;
	davy_clients_read(a->gpus.reader);
	if (davy_clients_fd(a->gpus.reader) < 0) /* it has exited; the tick starts another */
		a->gpus.source = sd_event_source_disable_unref(a->gpus.source);
	return 0;
}

/* A new reader has another socket, often with the descriptor number of the previous one. */
static void listen_to_reader(struct davy_agent *a)
{
	struct davy_gpus *g = &a->gpus;

	g->source = sd_event_source_disable_unref(g->source);
	if (davy_clients_fd(g->reader) < 0)
		return;
	g->reader_count = davy_clients_start_count(g->reader);
	if (davy_watch_copy(a->loop, &g->source, davy_clients_fd(g->reader), gpus_on_answer, a) < 0)
		davy_log("GPU clients: cannot watch the reader's replies");
}

static void say_blocked(struct davy_agent *a, uint32_t pid)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);

	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "fdinfo");
	ev.sensor.state = DAVY_SENSOR_REFUSED;
	snprintf(ev.sensor.reason, sizeof(ev.sensor.reason),
		 "reading fdinfo of process %u blocks: its GPU hangs or is being reset", pid);
	davy_agent_feed(a, &ev);
}

/* On "device", or by fdinfo if it is NULL. */
static bool has_clients(const struct davy_gpus *g, const char *device)
{
	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		const struct davy_gpu_client *c = &g->client[i];

		if (c->pid && (device ? !strcmp(c->info.device, device) : !c->by_nvml))
			return true;
	}
	return false;
}

static void gpus_ask(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_gpus *g = &a->gpus;
	uint32_t pid = davy_clients_blocked(g->reader, now_ns);

	if (pid && pid != g->blocked_pid) {
		g->blocked_pid = pid;
		say_blocked(a, pid);
	}
	if (!g->source || g->reader_count != davy_clients_start_count(g->reader))
		listen_to_reader(a);
	if (now_ns - g->asked_ns < (has_clients(g, NULL) ? ASK_NS : SCREEN_NS))
		return;
	g->asked_ns = now_ns;
	if (!davy_clients_ask(g->reader, NULL, 0, now_ns))
		g->round++;
}

int davy_agent_gpus_open(struct davy_agent *a)
{
	struct davy_clients_hooks hooks = { on_client, gpus_on_done, a };
	int err = davy_clients_new(&hooks, &a->gpus.reader);

	if (err)
		davy_log("GPU clients: no reader: %s; the agent knows memory per device only",
			 strerror(-err));
	else
		listen_to_reader(a); /* to detect its exit even without GPUs */
	return err;
}

void davy_agent_gpus_close(struct davy_agent *a)
{
	sd_event_source_disable_unref(a->gpus.source);
	davy_clients_free(a->gpus.reader);
}

void davy_agent_gpus_changed(struct davy_agent *a)
{
	a->gpus.listed_ns = 0;
	davy_agent_versions_changed(a);
}

struct davy_watched_gpu *davy_agent_gpu(struct davy_agent *a, const char *device)
{
	return device[0] ? agent_gpus_find(&a->gpus, device) : NULL;
}

/* A record of NVML has memory and processes: those are sampled more often than flat memory. */
static bool gpus_due(const struct davy_gpus *g, const struct davy_watched_gpu *w, uint64_t now_ns)
{
	if (now_ns >= w->next_ns)
		return true;
	return davy_nvml_reads(&w->gpu) && w->readable && now_ns - w->sampled_ns >= ASK_NS &&
	       has_clients(g, w->gpu.device);
}

/* NVIDIA's driver has no fdinfo. */
static bool have_fdinfo(const struct davy_gpus *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (!davy_nvml_reads(&g->gpu[i].gpu))
			return true;
	return false;
}

void davy_agent_gpus_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_gpus *g = &a->gpus;

	if (!g->listed_ns || now_ns - g->listed_ns >= LIST_NS)
		gpus_list(a, now_ns);
	for (size_t i = 0; i < g->count; i++)
		if (gpus_due(g, &g->gpu[i], now_ns))
			gpus_sample(a, &g->gpu[i], now_ns);
	davy_agent_nvml_tick(a, now_ns);
	if (g->reader && have_fdinfo(g))
		gpus_ask(a, now_ns);
}

void davy_agent_gpus_used(const struct davy_agent *a, uint32_t pid,
			  struct davy_used_devices *ret_used)
{
	struct davy_used_devices used = { 0 };

	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		const struct davy_gpu_client *c = &a->gpus.client[i];
		size_t at = 0;

		if (c->pid != pid)
			continue;
		while (at < used.count && strcmp(used.device[at].name, c->info.device) != 0)
			at++;
		if (at == DAVY_DEVICES_MAX)
			continue;
		davy_copy_name(used.device[at].name, DAVY_DEVICE_LEN, c->info.device);
		used.device[at].bytes += gpus_bytes_of(c);
		used.count += at == used.count;
	}
	*ret_used = used;
}
