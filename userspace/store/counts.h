/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was foreseen over all starts of the agent: the counts of foresight.h, in one JSON file
 * of the state directory, replaced whole. Read like anybody's file: bounded, every number checked,
 * and against the others.
 */
#ifndef DAVY_COUNTS_H
#define DAVY_COUNTS_H

#include <stddef.h>

#include "core/score/foresight.h"

#define DAVY_COUNTS_NAME      "foresight.json"
#define DAVY_COUNTS_ERROR_LEN 160

struct davy_counts {
	int64_t since_s;	    /* wall clock, when the counting began; 0: it has not */
	struct davy_foresight seen; /* only its counts: no signs and no incidents */
};

/*
 * 0, also when there is no file (zeros then); -EBADMSG, and "error" says what was expected: the
 * caller keeps what it has.
 */
int davy_counts_load(const char *dir, struct davy_counts *ret_counts,
		     char error[DAVY_COUNTS_ERROR_LEN]);

/* The same of the bytes of a file. */
int davy_counts_parse(const char *text, size_t size, struct davy_counts *ret_counts,
		      char error[DAVY_COUNTS_ERROR_LEN]);

/* Puts a file that is not understood aside as foresight.json.bad, so that nothing of it is lost. */
int davy_counts_set_aside(const char *dir);

int davy_counts_save(const char *dir, const struct davy_counts *counts);

/* What davy_counts_save writes, to be freed; NULL when memory is out. */
char *davy_counts_text(const struct davy_counts *counts);

#endif
