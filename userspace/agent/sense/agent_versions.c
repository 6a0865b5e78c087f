/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/log.h"
#include "sensors/gpu/driver_version.h"
#include "sensors/gpu/firmware.h"
#include "store/ledger.h"

#define PATIENCE_NS (10 * DL_NS_PER_S) /* with a child that a hung device holds */
#define ASLEEP_NS   (10 * DL_NS_PER_S) /* until it is looked whether a device is awake */

static void settle(struct dl_device_versions *v)
{
	v->settled = true;
	v->asking = false;
	close(v->fd);
	dl_child_reap(&v->child, NULL);
}

static void hear(const struct dl_watched_gpu *w, struct dl_device_versions *v, uint64_t now_ns)
{
	int err = dl_firmware_take(v->fd, v->firmware);

	if (err != -EAGAIN) {
		settle(v);
	} else if (now_ns - v->asked_ns > PATIENCE_NS) {
		dl_log("GPU %s: its firmware's version cannot be read: driver %s does not answer",
		       w->gpu.device, w->gpu.driver);
		dl_child_kill(&v->child, SIGKILL);
		settle(v);
	}
}

static void ask(const struct dl_watched_gpu *w, struct dl_device_versions *v, uint64_t now_ns)
{
	int fd;

	if (v->child.pid || (v->looked_ns && now_ns - v->looked_ns < ASLEEP_NS))
		return;
	v->looked_ns = now_ns;
	if (!dl_gpu_awake(&w->gpu))
		return; /* whoever computes on it wakes it */
	fd = dl_firmware_ask(&w->gpu, &v->child);
	v->settled = fd < 0;
	v->asking = fd >= 0;
	v->fd = fd;
	v->asked_ns = now_ns;
}

static void look(const struct dl_watched_gpu *w, struct dl_device_versions *v, uint64_t now_ns)
{
	if (!v->driver[0])
		dl_driver_version_read(w->gpu.driver, v->driver);
	if (dl_firmware_waits(&w->gpu)) {
		ask(w, v, now_ns);
		return;
	}
	dl_firmware_read(&w->gpu, v->firmware);
	v->settled = true;
}

void dl_agent_versions_tick(struct dl_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < a->gpus.count; i++) {
		struct dl_watched_gpu *w = &a->gpus.gpu[i];

		if (w->versions.asking)
			hear(w, &w->versions, now_ns);
		else
			dl_child_reap(&w->versions.child, NULL);
		if (!w->versions.settled && !w->versions.asking)
			look(w, &w->versions, now_ns);
	}
}

/* A driver that was reloaded is another one; firmware comes with it. */
void dl_agent_versions_changed(struct dl_agent *a)
{
	for (size_t i = 0; i < a->gpus.count; i++) {
		struct dl_device_versions *v = &a->gpus.gpu[i].versions;

		if (!v->settled)
			continue;
		v->settled = false;
		v->driver[0] = 0;
		v->looked_ns = 0;
	}
}

void dl_agent_versions_drop(struct dl_device_versions *v)
{
	if (v->asking)
		settle(v);
	dl_child_end(&v->child, 0);
}

void dl_agent_versions_close(struct dl_agent *a)
{
	for (size_t i = 0; i < a->gpus.count; i++)
		dl_agent_versions_drop(&a->gpus.gpu[i].versions);
}

/* NVIDIA's GPUs need not be DRM devices; software ones have no driver. */
static bool device_versions(struct dl_agent *a, const char *device, struct dl_ledger_environment *e)
{
	const struct dl_watched_gpu *w = dl_agent_gpu(a, device);
	char driver[24];

	if (w) {
		dl_copy_name(e->driver, sizeof(e->driver), w->versions.driver);
		dl_copy_name(e->firmware, sizeof(e->firmware), w->versions.firmware);
		return w->versions.settled;
	}
	dl_driver_of_device(device, driver, sizeof(driver));
	dl_driver_version_read(driver, e->driver);
	return true;
}

void dl_agent_kernel(struct dl_ledger_environment *environment)
{
	struct utsname name;

	if (!uname(&name))
		dl_copy_name(environment->kernel, sizeof(environment->kernel), name.release);
}

bool dl_agent_environment(struct dl_agent *a, const struct dl_tracked *t,
			  struct dl_ledger_environment *ret_environment)
{
	struct dl_ledger_environment *e = ret_environment;

	memset(e, 0, sizeof(*e));
	dl_agent_kernel(e);
	dl_copy_name(e->engine, sizeof(e->engine), t->engine);
	return device_versions(a, t->told.device, e) && t->engine_known;
}
