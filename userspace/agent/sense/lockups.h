/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lockup timeouts of the GPUs: read when a device comes and every minute, told when they are
 * new. A module's file is read once for as long as its driver has devices, by a child.
 */
#ifndef DL_AGENT_LOCKUPS_H
#define DL_AGENT_LOCKUPS_H

#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "sensors/gpu/lockup.h"

#define DL_MODULES_ASKED 4

struct dl_agent;

struct dl_module_asked {
	struct dl_agent *agent;
	char module[24];	 /* "": empty */
	sd_event_source *source; /* NULL: it has answered */
	struct dl_child child;
	uint64_t asked_ns;
	bool settled; /* it has answered, or is waited for no longer */
	bool readable;
	struct dl_module_text text;
};

void dl_agent_lockups_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_lockups_close(struct dl_agent *a);

/* What the scheduler of a ring in use has. */
void dl_agent_lockups_ring(struct dl_agent *a, const char *device, const char *ring,
			   uint64_t timeout_ns);

json_t *dl_agent_lockups_status(const struct dl_lockups *lockups);

#endif
