/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nonblocking writer of lines for users and programs. The reader may stop reading (a pager,
 * Ctrl-S): then text is lost, but the writer never blocks. A terminal is reopened as a nonblocking
 * file description; the unwritten rest of a text is kept and written first. A writable pipe accepts
 * PIPE_BUF bytes at once, so texts for a pipe must be shorter.
 */
#ifndef DAVY_OUTLET_H
#define DAVY_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

struct davy_outlet {
	int fd;
	bool own;   /* the descriptor was reopened here; otherwise it is the caller's */
	char *rest; /* unwritten part of a text; NULL: none */
	size_t size;
	size_t done;
};

/* -errno: the terminal cannot be reopened and nothing is written to it. */
int davy_outlet_open(struct davy_outlet *o, int fd);
void davy_outlet_close(struct davy_outlet *o);

/* False: the text was dropped because an older text is incomplete or no byte could be written. */
bool davy_outlet_put(struct davy_outlet *o, const char *text, size_t size);

/* Continues with the kept rest; true if nothing is left. */
bool davy_outlet_flush(struct davy_outlet *o);

#endif
