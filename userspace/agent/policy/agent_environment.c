/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The versions of an engine's environment, as the ledger stores them. */
#include "agent/agent.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "sensors/gpu/driver_version.h"
#include "store/ledger.h"
#include "agent/policy/agent_policy.h"

/* NVIDIA GPUs may be no DRM devices; software devices have no driver. */
static bool device_versions(struct davy_agent *a, const char *device,
			    struct davy_ledger_environment *e)
{
	const struct davy_watched_gpu *w = davy_agent_gpu(a, device);
	char driver[24];

	if (w) {
		davy_copy_name(e->driver, sizeof(e->driver), w->versions.driver);
		davy_copy_name(e->firmware, sizeof(e->firmware), w->versions.firmware);
		return w->versions.settled;
	}
	davy_driver_of_device(device, driver, sizeof(driver));
	davy_driver_version_read(driver, e->driver);
	return true;
}

void davy_agent_kernel(struct davy_ledger_environment *environment)
{
	struct utsname name;

	if (!uname(&name))
		davy_copy_name(environment->kernel, sizeof(environment->kernel), name.release);
}

bool davy_agent_environment(struct davy_agent *a, const struct davy_tracked *t,
			    struct davy_ledger_environment *ret_environment)
{
	struct davy_ledger_environment *e = ret_environment;
	uint32_t workload = t->reported.workload;
	const char *image = workload ? a->hooks->image_of_workload(a, workload) : "";

	memset(e, 0, sizeof(*e));
	davy_agent_kernel(e);
	if (image[0])
		snprintf(e->engine, sizeof(e->engine), "%.60s image %s", t->engine, image);
	else
		davy_copy_name(e->engine, sizeof(e->engine), t->engine);
	return device_versions(a, t->reported.device, e) && t->engine_known;
}
