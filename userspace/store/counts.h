/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of foresight over all starts of the agent (foresight.h), as rows of the table
 * foresight (kept.h describes reading and writing). They are read like untrusted data: every number
 * is checked, also against the others.
 */
#ifndef DAVY_COUNTS_H
#define DAVY_COUNTS_H

#include "core/score/foresight.h"

#define DAVY_COUNTS_OLD_NAME "foresight.json" /* before schema 3 of the database */

struct davy_counts {
	int64_t since_s;	    /* wall clock of the first count; 0: none yet */
	struct davy_foresight seen; /* only its counters, no precursors and no incidents */
};

/* 0, also without a database (zeros), or an error of kept.h. */
int davy_counts_load(const char *dir, struct davy_counts *ret_counts);
int davy_counts_save(const char *dir, struct davy_counts *counts);

/* Reads the text of foresight.json: 0, -EBADMSG or -ENOMEM. */
int davy_counts_parse(void *ret_counts, const char *text);

#endif
