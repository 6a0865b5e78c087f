/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was foreseen over all starts of the agent: the counts of foresight.h, as rows of the table
 * foresight (kept.h has when they are read and written). Read like anybody's: every number is
 * checked, and against the others.
 */
#ifndef DAVY_COUNTS_H
#define DAVY_COUNTS_H

#include "core/score/foresight.h"

#define DAVY_COUNTS_OLD_NAME "foresight.json" /* before schema 3 of the database */

struct davy_counts {
	int64_t since_s;	    /* wall clock, when the counting began; 0: it has not */
	struct davy_foresight seen; /* only its counts: no signs and no incidents */
};

/* 0, also when there is no database (zeros then), or an error of kept.h. */
int davy_counts_load(const char *dir, struct davy_counts *ret_counts);
int davy_counts_save(const char *dir, struct davy_counts *counts);

/* The same of the text of foresight.json: 0, -EBADMSG or -ENOMEM. */
int davy_counts_parse(void *ret_counts, const char *text);

#endif
