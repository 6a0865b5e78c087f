/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Use of the host's memory, and memory pressure. */
#ifndef DAVY_HOST_MEMORY_H
#define DAVY_HOST_MEMORY_H

#include "core/event/event.h"

/* MemTotal and MemAvailable from /proc/meminfo, in bytes. Missing values stay unchanged. */
void davy_meminfo_parse(const char *text, struct davy_ev_memory *memory);

/*
 * From the text of /proc/pressure/memory or a cgroup's memory.pressure: the part of the last 10 s
 * in which all tasks were stalled ("full avg10"), 0 to 1000; 0 if missing.
 */
uint32_t davy_pressure_parse(const char *text);

/* Values of the host; 0 if unreadable. */
void davy_host_memory_read(struct davy_ev_memory *ret_memory);

#endif
