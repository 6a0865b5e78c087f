/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that davylamp generates for others to read: replaced whole, mode 0644, with a first line
 * that tells generator, version and a sum of the rest. What somebody has changed by hand since is
 * never overwritten or removed: it is put aside beside it, with ".hand" behind its name.
 */
#ifndef DL_STORE_GENERATED_H
#define DL_STORE_GENERATED_H

#include <stdint.h>

#define DL_GENERATED_MAX 65536 /* bytes of a whole file */

enum dl_generated {
	DL_GENERATED_ABSENT = 0,
	DL_GENERATED_OURS = 1,
	DL_GENERATED_EDITED = 2,  /* ours once */
	DL_GENERATED_FOREIGN = 3, /* never was ours */
};

/* The first line and the body; free() it. -EFBIG when it is DL_GENERATED_MAX or more. */
int dl_generated_text(uint32_t version, const char *body, char **ret_text);

/* What such a text is; the version that its first line tells (0: none), where its body begins. */
enum dl_generated dl_generated_judge(const char *text, uint32_t *ret_version,
				     const char **ret_body);

/* 0 and what is there, or -errno. */
int dl_generated_look(const char *path, enum dl_generated *ret_state);

/*
 * Writes it; "body" is whole lines. 0, or 1 when one that was edited has been put aside; -EEXIST
 * when there is a foreign one, which stays.
 */
int dl_generated_write(const char *path, uint32_t version, const char *body);

/* Removes it; 0 also when there is none, 1 when it was put aside instead, -EEXIST as above. */
int dl_generated_remove(const char *path);

#endif
