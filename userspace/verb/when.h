/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wall clock time as text. */
#ifndef DAVY_WHEN_H
#define DAVY_WHEN_H

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static inline const char *davy_when(int64_t wall_s, char *buf, size_t size)
{
	time_t t = (time_t)wall_s;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%" PRId64, wall_s);
	return buf;
}

#endif
