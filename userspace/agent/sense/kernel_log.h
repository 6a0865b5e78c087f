/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's log says, as events: whom it names, when it was, and no flood of it. */
#ifndef DL_AGENT_KERNEL_LOG_H
#define DL_AGENT_KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/event/event.h"
#include "sensors/kmsg/kmsg_reader.h"

#define DL_LOG_SAID_MAX 16

struct dl_agent;

/* What was told of late: the same again is counted and told with the next. */
struct dl_said {
	struct dl_event ev; /* kind 0: empty; its repeats are those not yet told */
	uint64_t told_ns;
};

struct dl_kernel_log {
	struct dl_kmsg_reader *reader; /* NULL: it cannot be read */
	sd_event_source *source;
	bool offset_known;
	uint64_t offset_ns; /* CLOCK_BOOTTIME less the log's own clock */
	uint64_t lost_count;
	struct dl_said said[DL_LOG_SAID_MAX];
};

void dl_agent_kernel_log_open(struct dl_agent *a);
void dl_agent_kernel_log_close(struct dl_agent *a);
void dl_agent_kernel_log_tick(struct dl_agent *a, uint64_t now_ns);

#endif
