/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How full the host's memory is, and how much its tasks wait for it. */
#ifndef DAVY_HOST_MEMORY_H
#define DAVY_HOST_MEMORY_H

#include "core/event/event.h"

/* MemTotal and MemAvailable of a text like /proc/meminfo, in bytes; what is not there stays. */
void davy_meminfo_parse(const char *text, struct davy_ev_memory *memory);

/*
 * Of a text like /proc/pressure/memory or a cgroup's memory.pressure: the share of the last 10 s
 * in which no task of it could go on ("full avg10"), 0 to 1000; 0 where it does not say.
 */
uint32_t davy_pressure_parse(const char *text);

/* The host's; what cannot be read is 0. */
void davy_host_memory_read(struct davy_ev_memory *ret_memory);

#endif
