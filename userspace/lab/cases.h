/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traces that are scored: files and folders, with their labels or what their events tell. */
#ifndef DAVY_CASES_H
#define DAVY_CASES_H

#include "lab/alarm_judge.h"

#define DAVY_CASES_MAX 20000

struct davy_cases {
	struct davy_case *at;
	size_t count;
	size_t room;
	size_t wrong_count; /* left out, or damaged behind their failure; each was logged */
};

/*
 * Adds a trace, or every NAME.trace of a folder in order of their names. One that cannot be read is
 * logged and left out; -errno: of the last such, or that of the folder.
 */
int davy_cases_add(struct davy_cases *cases, const char *path);
void davy_cases_free(struct davy_cases *cases);

/*
 * The first failure that the core tells of a trace without a label. 1: *of has it; 0: there is
 * none; -errno: -EBADMSG with of->failed if the trace is damaged behind it.
 */
int davy_case_find_failure(struct davy_case *of);

#endif
