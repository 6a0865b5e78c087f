/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files in which an engine saves its slots for the next one, in a folder that both see (perhaps in
 * their own root), with unpredictable names. They contain conversations, so they are deleted as
 * soon as they have been read.
 */
#ifndef DAVY_SLOTS_H
#define DAVY_SLOTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAVY_SLOTS_MAX 64

struct davy_slots {
	int dir;	 /* -1: none */
	char prefix[48]; /* of the file names; the slot's number follows */
	uint64_t saved;	 /* a bit for each slot with a useful file */
};

/*
 * Makes a folder with mode 0700 below "base", or else below $TMPDIR. Removes folders below "base"
 * whose supervisor was killed.
 */
int davy_slots_make_dir(const char *base, char *ret_dir, size_t size);

/* Opens "dir" as "pid" sees it; -ENOENT: no such folder. */
int davy_slots_open(pid_t pid, const char *dir, struct davy_slots *ret_slots);

/* Removes the files and closes; may be called twice. */
void davy_slots_done(struct davy_slots *slots);

/* Parses the answer of davylamp-probe --slots: slots with tokens. -EBADMSG: not valid. */
int davy_slots_parse(const char *text, size_t size, uint64_t *ret_slots, uint64_t *ret_tokens);

#endif
