/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traces to score: files and folders, with labels or the failure found in their events. */
#ifndef DAVY_CASES_H
#define DAVY_CASES_H

#include "lab/alarm_judge.h"

#define DAVY_CASES_MAX 20000

struct davy_cases {
	struct davy_case *at;
	size_t count;
	size_t room;
	size_t wrong_count; /* excluded, or damaged after their failure; each is logged */
};

/*
 * Adds a trace, or each NAME.trace of a folder, sorted by name. Unreadable ones are logged and
 * excluded. -errno: the last such error, or that of the folder.
 */
int davy_cases_add(struct davy_cases *cases, const char *path);
void davy_cases_free(struct davy_cases *cases);

/*
 * Finds the first failure of a trace without a label by replaying it. 1: found; 0: none; -errno;
 * -EBADMSG with of->failed: damaged after the failure.
 */
int davy_case_find_failure(struct davy_case *of);

#endif
