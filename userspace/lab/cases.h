/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traces that are scored: files and folders, with their labels or what their events tell. */
#ifndef DL_TUNE_CASES_H
#define DL_TUNE_CASES_H

#include "lab/alarm_judge.h"

#define DL_CASES_MAX 20000

struct dl_cases {
	struct dl_case *at;
	size_t count;
	size_t room;
	size_t wrong_count; /* left out, or damaged behind their failure; each was logged */
};

/*
 * Adds a trace, or every NAME.trace of a folder in order of their names. One that cannot be read is
 * logged and left out; -errno: of the last such, or that of the folder.
 */
int dl_cases_add(struct dl_cases *cases, const char *path);
void dl_cases_free(struct dl_cases *cases);

/*
 * The first failure that the core tells of a trace without a label. 1: *of has it; 0: there is
 * none; -errno: -EBADMSG with of->failed if the trace is damaged behind it.
 */
int dl_case_find_failure(struct dl_case *of);

#endif
