/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches better thresholds. Tries each key of a hazard at half and twice its value; if that
 * changes the result, also at three quarters and one and a half. Or tries only the values of a
 * grid. Combines the values that are better in one respect and worse in none, the best first; keeps
 * each only if it still helps.
 */
#ifndef DAVY_SEARCH_H
#define DAVY_SEARCH_H

#include "lab/score.h"
#include "lab/summary.h"

#define DAVY_CANDIDATES_MAX 512

struct davy_candidate {
	int key;
	int64_t value;
	int64_t far; /* distance from the base: of two equal ones the nearer is taken */
	bool taken;  /* in the proposal */
	struct davy_summary alone;
};

struct davy_search {
	struct davy_config base;
	struct davy_candidate candidate[DAVY_CANDIDATES_MAX];
	size_t count;
	bool by_steps; /* add the nearer steps where the farther ones change the result */
	struct davy_summary before;
	struct davy_score *scores; /* of the base, one for each trace; freed by davy_search_free */
	struct davy_config proposal;
	struct davy_summary after;
	size_t taken_count;
};

/* Whether a threshold belongs to a hazard. */
bool davy_search_key(int key);

/*
 * Adds a value; ignores that of the base and duplicates. -ERANGE: out of its range; -EINVAL: in
 * conflict with another value of the base; -E2BIG: too many.
 */
int davy_search_add(struct davy_search *search, int key, int64_t value);
/* Adds these steps for all keys. */
void davy_search_add_all(struct davy_search *search);

/* Scores the base and the candidates; excludes traces that cannot be scored. -errno, logged. */
int davy_search_run(struct davy_search *search, struct davy_cases *cases, unsigned int jobs);
void davy_search_free(struct davy_search *search);

#endif
