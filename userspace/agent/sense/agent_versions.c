/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "sensors/gpu/driver_version.h"
#include "sensors/gpu/firmware.h"

#define PATIENCE_NS (10 * DAVY_NS_PER_S) /* timeout of the child, which a hung device may block */
#define ASLEEP_NS   (10 * DAVY_NS_PER_S) /* time between checks whether the device is awake */

static void versions_settle(struct davy_device_versions *v)
{
	v->settled = true;
	v->asking = false;
	close(v->fd);
	davy_child_reap(&v->child, NULL);
}

static void hear(const struct davy_watched_gpu *w, struct davy_device_versions *v, uint64_t now_ns)
{
	int err = davy_firmware_take(v->fd, v->firmware);

	if (err != -EAGAIN) {
		versions_settle(v);
	} else if (now_ns - v->asked_ns > PATIENCE_NS) {
		davy_log(
			"GPU %s: cannot read the version of its firmware: driver %s does not reply",
			w->gpu.device, w->gpu.driver);
		davy_child_kill(&v->child, SIGKILL);
		versions_settle(v);
	}
}

static void versions_ask(const struct davy_watched_gpu *w, struct davy_device_versions *v,
			 uint64_t now_ns)
{
	int fd;

	if (v->child.pid || (v->looked_ns && now_ns - v->looked_ns < ASLEEP_NS))
		return;
	v->looked_ns = now_ns;
	if (!davy_gpu_awake(&w->gpu))
		return; /* the next use of the device wakes it */
	fd = davy_firmware_ask(&w->gpu, &v->child);
	v->settled = fd < 0;
	v->asking = fd >= 0;
	v->fd = fd;
	v->asked_ns = now_ns;
}

static void versions_look(const struct davy_watched_gpu *w, struct davy_device_versions *v,
			  uint64_t now_ns)
{
	if (!v->driver[0])
		davy_driver_version_read(w->gpu.driver, v->driver);
	if (davy_firmware_waits(&w->gpu)) {
		versions_ask(w, v, now_ns);
		return;
	}
	davy_firmware_read(&w->gpu, v->firmware);
	v->settled = true;
}

void davy_agent_versions_tick(struct davy_agent *a, uint64_t now_ns)
{
	for (size_t i = 0; i < a->gpus.count; i++) {
		struct davy_watched_gpu *w = &a->gpus.gpu[i];

		if (w->versions.asking)
			hear(w, &w->versions, now_ns);
		else
			davy_child_reap(&w->versions.child, NULL);
		if (!w->versions.settled && !w->versions.asking)
			versions_look(w, &w->versions, now_ns);
	}
}

/* A reloaded driver may be another version; its firmware too. */
void davy_agent_versions_changed(struct davy_agent *a)
{
	for (size_t i = 0; i < a->gpus.count; i++) {
		struct davy_device_versions *v = &a->gpus.gpu[i].versions;

		if (!v->settled)
			continue;
		v->settled = false;
		v->driver[0] = 0;
		v->looked_ns = 0;
	}
}

void davy_agent_versions_drop(struct davy_device_versions *v)
{
	if (v->asking)
		versions_settle(v);
	davy_child_end(&v->child, 0);
}

void davy_agent_versions_close(struct davy_agent *a)
{
	for (size_t i = 0; i < a->gpus.count; i++)
		davy_agent_versions_drop(&a->gpus.gpu[i].versions);
}
