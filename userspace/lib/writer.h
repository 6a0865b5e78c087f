/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nonblocking writer of lines for users and programs. The reader may stop reading (a pager,
 * Ctrl-S): then text is lost, but the writer never blocks. A terminal is reopened as a nonblocking
 * file description; the unwritten rest of a text is kept and written first. A writable pipe accepts
 * PIPE_BUF bytes at once, so texts for a pipe must be shorter.
 */
#ifndef DAVY_WRITER_H
#define DAVY_WRITER_H

#include <stdbool.h>
#include <stddef.h>

struct davy_writer {
	int fd;
	bool own;   /* the descriptor was reopened here; otherwise it is the caller's */
	char *rest; /* unwritten part of a text; NULL: none */
	size_t size;
	size_t done;
};

/* -errno: the terminal cannot be reopened and nothing is written to it. */
int davy_writer_open(struct davy_writer *o, int fd);
void davy_writer_close(struct davy_writer *o);

/* False: the text was dropped because an older text is incomplete or no byte could be written. */
bool davy_writer_put(struct davy_writer *o, const char *text, size_t size);

/* Continues with the kept rest; true if nothing is left. */
bool davy_writer_flush(struct davy_writer *o);

#endif
