/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MS 2000
#define DRAW_MS	 200
#define BAR	 30

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void davy_progress_begin(struct davy_progress *p, const char *what, size_t total)
{
	p->what = what;
	p->total = total;
	p->began_ms = now_ms();
	p->shown_ms = 0;
}

void davy_progress_show(struct davy_progress *p, size_t done)
{
	static const char bar[BAR + 1] = "##############################";
	uint64_t now = now_ms();

	if (!isatty(STDERR_FILENO) || now - p->began_ms < QUIET_MS || now - p->shown_ms < DRAW_MS)
		return;
	p->shown_ms = now;
	fprintf(stderr, "\r[%-*.*s] %zu of %zu %s\033[K", BAR,
		(int)(done * BAR / (p->total + !p->total)), bar, done, p->total, p->what);
}

void davy_progress_end(struct davy_progress *p)
{
	if (p->shown_ms)
		fprintf(stderr, "\r\033[K");
	p->shown_ms = 0;
}
