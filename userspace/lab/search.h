/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Better thresholds: each key of a hazard is tried at half and twice of its value, one at a time;
 * where that changes anything, at three quarters or one and a half of it too: what lies between two
 * values with the same outcome has it as well. Or only the values of a grid are tried. Those that
 * are better and nowhere worse are put together, the best first, each kept only if it still helps.
 */
#ifndef DAVY_SEARCH_H
#define DAVY_SEARCH_H

#include "lab/score.h"
#include "lab/summary.h"

#define DAVY_CANDIDATES_MAX 512

struct davy_candidate {
	int key;
	int64_t value;
	int64_t far; /* from the base: of two that are as good the nearer is taken */
	bool taken;  /* into the proposal */
	struct davy_summary alone;
};

struct davy_search {
	struct davy_config base;
	struct davy_candidate candidate[DAVY_CANDIDATES_MAX];
	size_t count;
	bool by_steps; /* the nearer steps of what the farther ones change are to be added */
	struct davy_summary before;
	struct davy_score
		*scores; /* of the base alone, one of each trace; freed by davy_search_free */
	struct davy_config proposal;
	struct davy_summary after;
	size_t taken_count;
};

/* Whether a threshold decides about alarms: its section is a hazard's. */
bool davy_search_key(int key);

/*
 * 0, also for what the base has and what is there already; -ERANGE: out of its range, -EINVAL: out
 * of order with another value of the base, -E2BIG: too many.
 */
int davy_search_add(struct davy_search *search, int key, int64_t value);
/* All keys, by these steps. */
void davy_search_add_all(struct davy_search *search);

/* Scores the base, and what was added; traces without scores are left out. -errno, logged. */
int davy_search_run(struct davy_search *search, struct davy_cases *cases, unsigned int jobs);
void davy_search_free(struct davy_search *search);

#endif
