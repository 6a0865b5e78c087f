/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's log says, as events: whom it names, when it was, and no flood of it. */
#ifndef DAVY_KERNEL_LOG_H
#define DAVY_KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/event/event.h"
#include "sensors/kmsg/kmsg_reader.h"

#define DAVY_LOG_SAID_MAX 16

struct davy_agent;

/* What was told of late: the same again is counted and told with the next. */
struct davy_said {
	struct davy_event ev; /* kind 0: empty; its repeats are those not yet told */
	uint64_t told_ns;
};

struct davy_kernel_log {
	struct davy_kmsg_reader *reader; /* NULL: it cannot be read */
	sd_event_source *source;
	bool offset_known;
	uint64_t offset_ns; /* CLOCK_BOOTTIME less the log's own clock */
	uint64_t lost_count;
	struct davy_said said[DAVY_LOG_SAID_MAX];
};

void davy_agent_kernel_log_open(struct davy_agent *a);
void davy_agent_kernel_log_close(struct davy_agent *a);
void davy_agent_kernel_log_tick(struct davy_agent *a, uint64_t now_ns);

/* Something was read and is told by a tick only. */
bool davy_agent_kernel_log_waits(const struct davy_agent *a);

#endif
