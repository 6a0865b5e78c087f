/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A progress bar: only on a terminal, and only after two seconds. */
#ifndef DAVY_PROGRESS_H
#define DAVY_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct davy_progress {
	const char *what; /* "traces" */
	size_t total;
	uint64_t began_ms;
	uint64_t shown_ms; /* 0: not shown */
};

void davy_progress_begin(struct davy_progress *p, const char *what, size_t total);
void davy_progress_show(struct davy_progress *p, size_t done);
/* Clears it. */
void davy_progress_end(struct davy_progress *p);

#endif
