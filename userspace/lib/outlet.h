/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where lines for people and programs go out. Whoever reads may stand still (a pager, Ctrl-S): that
 * costs text, never the writer's time. A terminal is written through a description of its own, that
 * does not block: with less room than one text takes, the rest of it is kept and goes out first. A
 * pipe that is writable takes PIPE_BUF bytes at once; texts for one are shorter.
 */
#ifndef DAVY_OUTLET_H
#define DAVY_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

struct davy_outlet {
	int fd;
	bool own;   /* a description of ours; else the caller's */
	char *rest; /* NULL: nothing waits */
	size_t size;
	size_t done;
};

/* -errno: a terminal that cannot be opened again; nothing is written to it then. */
int davy_outlet_open(struct davy_outlet *o, int fd);
void davy_outlet_close(struct davy_outlet *o);

/* False: it was dropped, for what was put before is still to go out, or there is no room at all. */
bool davy_outlet_put(struct davy_outlet *o, const char *text, size_t size);

/* Goes on with the rest; true when there is none left. */
bool davy_outlet_flush(struct davy_outlet *o);

#endif
