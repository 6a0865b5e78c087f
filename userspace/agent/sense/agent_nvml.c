/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/text.h"
#include "sensors/bpf/bpf.h"

#define FIRST_NS     (15 * DAVY_NS_PER_S) /* NVML starts, and the driver starts the GPU */
#define DEADLINE_NS  (5 * DAVY_NS_PER_S)  /* a sample takes milliseconds */
#define ASLEEP_NS    (5 * DAVY_NS_PER_S)
#define UNUSED_NS    (30 * DAVY_NS_PER_S)
#define FAILURES_MAX 9			   /* failures that double the pause: up to 512 s */
#define FORGET_NS    (600 * DAVY_NS_PER_S) /* without a failure; longer than each pause */
#define STUCK_MAX    2

bool davy_nvml_reads(const struct davy_gpu *gpu)
{
	return !strcmp(gpu->driver, "nvidia");
}

static void nvml_end(struct davy_agent *a)
{
	a->nvml.asked_ns = 0;
	if (a->nvml.worker.source)
		davy_worker_end(&a->nvml.worker, &a->nvml.stuck);
}

static void nvml_fail(struct davy_watched_gpu *w, uint64_t now_ns, const char *reason)
{
	if (now_ns - w->nvml.failed_ns >= FORGET_NS)
		w->nvml.failures = 0;
	w->nvml.failures++;
	w->nvml.failed_ns = now_ns;
	w->nvml.has = 0;
	w->readable = false;
	w->next_ns = now_ns + davy_worker_pause_ns(w->nvml.failures, FAILURES_MAX);
	davy_copy_name(w->nvml.reason, sizeof(w->nvml.reason), reason);
}

/* A failure that is not about one GPU. */
static void nvml_fail_all(struct davy_agent *a, uint64_t now_ns, const char *reason)
{
	for (size_t i = 0; i < a->gpus.count; i++)
		if (davy_nvml_reads(&a->gpus.gpu[i].gpu))
			nvml_fail(&a->gpus.gpu[i], now_ns, reason);
}

/* The worker is useless. The next request starts another one. */
static void nvml_lose(struct davy_agent *a, const char *why)
{
	struct davy_nvml *n = &a->nvml;
	struct davy_watched_gpu *w = davy_agent_gpu(a, n->request.device);
	uint64_t now_ns = davy_boot_ns();
	char reason[DAVY_REASON_LEN];

	if (!n->asked_ns) {
		snprintf(reason, sizeof(reason), "NVML worker, idle: %s", why);
		nvml_fail_all(a, now_ns, reason);
	} else if (w && davy_nvml_reads(&w->gpu)) {
		snprintf(reason, sizeof(reason), "NVML worker, during a request for %.20s: %s",
			 n->request.device, why);
		nvml_fail(w, now_ns, reason);
	}
	nvml_end(a);
}

/* Reports what is new: uncorrectable errors, and faults that lower the clocks. */
static void nvml_take_health(struct davy_agent *a, struct davy_nvml_gpu *n,
			     const struct davy_nvml_record *r)
{
	uint64_t throttle = r->throttle >> DAVY_NVML_THROTTLE;
	struct davy_event ev;

	if (n->ecc_known && r->ecc_count > n->ecc_count) {
		ev = davy_agent_event(DAVY_EV_FAULT, 0);
		davy_copy_name(ev.fault.device, sizeof(ev.fault.device), r->device);
		ev.fault.fault_class = DAVY_FAULT_ECC;
		ev.fault.count = r->ecc_count;
		ev.fault.fresh = r->ecc_count - n->ecc_count;
		davy_agent_feed(a, &ev);
	}
	for (uint32_t reason = 0; reason < DAVY_CLOCK_REASON_COUNT; reason++) {
		if (!((throttle & ~n->throttle) >> reason & 1) || !davy_clock_reason_bad(reason))
			continue;
		ev = davy_agent_event(DAVY_EV_CLOCKS, 0);
		davy_copy_name(ev.clocks.device, sizeof(ev.clocks.device), r->device);
		ev.clocks.reason = reason;
		davy_agent_feed(a, &ev);
	}
	n->has = r->has;
	n->temperature_c = r->temperature_c;
	n->throttle = throttle;
	if (r->has & DAVY_NVML_HAS_ECC) {
		n->ecc_known = true;
		n->ecc_count = r->ecc_count;
	}
}

static void nvml_take_memory(struct davy_agent *a, struct davy_watched_gpu *w,
			     const struct davy_nvml_record *r, uint64_t now_ns)
{
	struct davy_ev_memory memory = w->memory;

	davy_gpu_memory_read(&w->gpu, false, &memory); /* the host's part of it */
	/*
	 * In runtime suspend this driver keeps VRAM powered if more than 200 MB are in use
	 * (NVreg_DynamicPowerManagementVideoMemoryThreshold): no host memory is needed for it.
	 */
	memory.flags &= ~DAVY_MEMORY_MAY_SUSPEND;
	memory.vram_total = r->total;
	memory.vram_used = r->used;
	w->nvml.reason[0] = 0;
	nvml_take_health(a, &w->nvml, r);
	a->nvml.record_count++;
	a->nvml.record_ns = now_ns;
	if (r->has & DAVY_NVML_HAS_PROCESSES)
		davy_agent_gpus_processes(a, r);
	davy_agent_gpus_take(a, w, &memory, true, now_ns);
}

static void nvml_take(struct davy_agent *a, const struct davy_nvml_record *r)
{
	struct davy_watched_gpu *w = davy_agent_gpu(a, a->nvml.request.device);
	uint64_t now_ns = davy_boot_ns();
	char reason[DAVY_REASON_LEN];

	a->nvml.asked_ns = 0;
	a->nvml.answered = true;
	if (!w || !davy_nvml_reads(&w->gpu))
		return; /* it was removed, or has another driver */
	if (r->stage == DAVY_NVML_DONE) {
		nvml_take_memory(a, w, r, now_ns);
		if (r->process_count || !davy_gpu_may_suspend(&w->gpu))
			return;
		w->next_ns = now_ns + UNUSED_NS; /* lets it suspend */
		nvml_end(a);
		return;
	}
	davy_nvml_reason(r->stage, r->error, reason);
	if (r->stage < DAVY_NVML_DEVICE)
		nvml_fail_all(a, now_ns, reason);
	else
		nvml_fail(w, now_ns, reason);
	nvml_end(a); /* a new one loads a new library and sees new device files */
}

static void nvml_receive(struct davy_agent *a)
{
	struct davy_nvml *n = &a->nvml;
	struct davy_nvml_record r;
	ssize_t size = recv(n->worker.fd, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0)
		nvml_lose(a, "has ended");
	else if (!n->asked_ns || size != sizeof(r) || !davy_nvml_record_valid(&r, &n->request))
		nvml_lose(a, "sent an invalid record");
	else
		nvml_take(a, &r);
}

/* An event about each change of the sensor. */
static void nvml_report(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_SENSOR, 0);
	struct davy_nvml *n = &a->nvml;

	davy_agent_nvml_sensor(a, &ev.sensor);
	if (!memcmp(&n->reported, &ev.sensor, sizeof(n->reported)))
		return;
	if (n->reported.name[0] && n->reported.state == DAVY_SENSOR_LIVE &&
	    ev.sensor.state != DAVY_SENSOR_LIVE)
		n->lost_ns = n->record_ns;
	n->reported = ev.sensor;
	if (ev.sensor.state == DAVY_SENSOR_LIVE && n->lost_ns) {
		ev.sensor.gap_ns = now_ns - n->lost_ns;
		n->lost_ns = 0;
	}
	davy_agent_feed(a, &ev);
}

static int nvml_on_record(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;
	uint64_t now_ns = davy_boot_ns();

	(void)source;
	(void)fd;
	(void)events;
	nvml_receive(a);
	nvml_report(a, now_ns);
	for (size_t i = 0; i < a->gpus.count && !a->nvml.asked_ns; i++) {
		struct davy_watched_gpu *w = &a->gpus.gpu[i];

		if (davy_nvml_reads(&w->gpu) && now_ns >= w->next_ns)
			davy_agent_nvml_ask(a, w, now_ns);
	}
	return 0;
}

static bool nvml_begin(struct davy_agent *a, uint64_t now_ns)
{
	char *argv[] = { (char *)"davylamp-probe", (char *)"nvml", (char *)"--follow", NULL };
	const struct davy_child_spec spec = { .path = a->probe_path,
					      .argv = argv,
					      .own_group = true };
	char reason[DAVY_REASON_LEN] = "killed workers of NVML have not ended yet";
	int err = 0;

	davy_workers_reap(&a->nvml.stuck);
	if (davy_workers_stuck(&a->nvml.stuck) < STUCK_MAX) {
		err = davy_worker_begin(a->loop, &a->nvml.worker, &spec,
					sizeof(struct davy_nvml_record), nvml_on_record, a);
		a->nvml.answered = false;
		if (!err)
			return true;
		snprintf(reason, sizeof(reason), "davylamp-probe cannot be started: %.60s",
			 strerror(-err));
	}
	nvml_fail_all(a, now_ns, reason);
	return false;
}

void davy_agent_nvml_ask(struct davy_agent *a, struct davy_watched_gpu *w, uint64_t now_ns)
{
	struct davy_nvml *n = &a->nvml;

	if (n->asked_ns)
		return; /* it is asked when this record has come */
	if (!davy_gpu_awake(&w->gpu)) {
		w->next_ns = now_ns + ASLEEP_NS;
		davy_copy_name(w->nvml.reason, sizeof(w->nvml.reason),
			       "suspended: it is not asked, which would wake it");
		return;
	}
	if (!n->worker.source && !nvml_begin(a, now_ns))
		return;
	memset(&n->request, 0, sizeof(n->request));
	n->request.serial = ++n->serial;
	n->request.version = DAVY_NVML_VERSION;
	davy_copy_name(n->request.device, sizeof(n->request.device), w->gpu.device);
	n->asked_ns = now_ns;
	if (send(n->worker.fd, &n->request, sizeof(n->request), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    sizeof(n->request))
		nvml_lose(a, "does not accept requests");
}

static bool nvml_late(const struct davy_nvml *n, uint64_t now_ns)
{
	return n->asked_ns && now_ns >= n->asked_ns + (n->answered ? DEADLINE_NS : FIRST_NS);
}

bool davy_agent_nvml_sensor(const struct davy_agent *a, struct davy_ev_sensor *ret_sensor)
{
	struct davy_ev_sensor *s = ret_sensor;
	const char *reason = "";
	char path[PATH_MAX];
	size_t count = 0;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < a->gpus.count; i++) {
		const struct davy_watched_gpu *w = &a->gpus.gpu[i];

		if (!davy_nvml_reads(&w->gpu))
			continue;
		count++;
		s->count += w->readable;
		if (!reason[0])
			reason = w->nvml.reason;
	}
	davy_copy_name(s->name, sizeof(s->name), "nvml");
	s->state = s->count ? DAVY_SENSOR_LIVE : DAVY_SENSOR_REFUSED;
	if (!s->count && !reason[0])
		reason = "the first answer is pending";
	if (!count) {
		s->state = DAVY_SENSOR_ABSENT;
		reason = DAVY_NO_MODULE;
		if (!davy_root_path(path, sizeof(path), "/sys/module/nvidia") &&
		    !access(path, F_OK))
			reason = "no GPU uses the nvidia driver";
	}
	davy_copy_name(s->reason, sizeof(s->reason), reason);
	return count;
}

static bool nvml_has_gpu(const struct davy_agent *a)
{
	for (size_t i = 0; i < a->gpus.count; i++)
		if (davy_nvml_reads(&a->gpus.gpu[i].gpu))
			return true;
	return false;
}

void davy_agent_nvml_tick(struct davy_agent *a, uint64_t now_ns)
{
	struct davy_nvml *n = &a->nvml;

	if (!nvml_has_gpu(a)) {
		nvml_end(a);
		if (!n->reported.name[0])
			return;
	}
	davy_workers_reap(&n->stuck);
	if (nvml_late(n, now_ns))
		nvml_receive(a); /* the agent itself may have been late */
	if (nvml_late(n, now_ns))
		nvml_lose(a, "hangs: the GPU's firmware (GSP) may have stopped");
	if (!n->asked_ns)
		nvml_report(a, now_ns);
}

void davy_agent_nvml_close(struct davy_agent *a)
{
	nvml_end(a);
	davy_workers_wait(&a->nvml.stuck);
}
