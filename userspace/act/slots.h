/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files in which one engine leaves its slots for the next: in a folder that both see, perhaps in a
 * root of their own, under a name that nobody can guess. They hold conversations, so they go as
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
	char prefix[48]; /* of the names; a slot's number follows */
	uint64_t saved;	 /* a bit for each slot that has a file worth reading */
};

/*
 * Makes a folder of our own, mode 0700, below "base" or else below $TMPDIR; removes those below
 * "base" whose supervisor has been killed.
 */
int davy_slots_make_dir(const char *base, char *ret_dir, size_t size);

/* "dir" as "pid" sees it; -ENOENT when it has no such folder. */
int davy_slots_open(pid_t pid, const char *dir, struct davy_slots *ret_slots);

/* Removes the files and closes; does nothing twice. */
void davy_slots_done(struct davy_slots *slots);

/* What davylamp-probe --slots answered: the slots that have tokens. -EBADMSG: no such answer. */
int davy_slots_parse(const char *text, size_t size, uint64_t *ret_slots, uint64_t *ret_tokens);

#endif
