/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the kernel log as events: maps processes and times, and limits floods. */
#ifndef DAVY_KERNEL_LOG_H
#define DAVY_KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/event/event.h"
#include "sensors/kmsg/kmsg_reader.h"

#define DAVY_LOG_SAID_MAX 16

struct davy_agent;

/* A recently reported line. Repeats are counted and reported with the next one. */
struct davy_said {
	struct davy_event ev; /* kind 0: empty; its repeats are not reported yet */
	uint64_t reported_ns;
};

struct davy_kernel_log {
	struct davy_kmsg_reader *reader; /* NULL: the log cannot be read */
	sd_event_source *source;
	bool offset_known;
	uint64_t offset_ns; /* CLOCK_BOOTTIME minus the log's clock */
	uint64_t lost_count;
	struct davy_said said[DAVY_LOG_SAID_MAX];
};

void davy_agent_kernel_log_open(struct davy_agent *a);
void davy_agent_kernel_log_close(struct davy_agent *a);
void davy_agent_kernel_log_tick(struct davy_agent *a, uint64_t now_ns);

/* Lines were read that only a tick will report. */
bool davy_agent_kernel_log_waits(const struct davy_agent *a);

#endif
