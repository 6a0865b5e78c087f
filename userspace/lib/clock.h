/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures durations for the programs' own limits. davy_boot_ns gives event timestamps. */
#ifndef DAVY_CLOCK_H
#define DAVY_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t davy_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
