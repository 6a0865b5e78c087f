/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lockup timeouts of the GPUs: read when a device appears and every minute, reported when they
 * change. A child reads a module's file once while its driver has devices.
 */
#ifndef DAVY_LOCKUPS_H
#define DAVY_LOCKUPS_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "sensors/gpu/lockup.h"

#define DAVY_MODULES_ASKED 4

struct davy_agent;

struct davy_module_asked {
	struct davy_agent *agent;
	char module[24];	 /* "": empty */
	sd_event_source *source; /* NULL: it has replied */
	struct davy_child child;
	uint64_t asked_ns;
	bool settled; /* it has replied, or the agent has stopped waiting */
	bool readable;
	struct davy_module_text text;
};

void davy_agent_lockups_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_lockups_close(struct davy_agent *a);

/* Takes the value from the scheduler of a ring in use. */
void davy_agent_lockups_ring(struct davy_agent *a, const char *device, const char *ring,
			     uint64_t timeout_ns);

#endif
