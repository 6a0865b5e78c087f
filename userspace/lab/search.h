/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Better thresholds: each key of a hazard is tried at half and twice of its value, one at a time;
 * where that changes anything, at three quarters or one and a half of it too: what lies between two
 * values with the same outcome has it as well. Or only the values of a grid are tried. Those that
 * are better and nowhere worse are put together, the best first, each kept only if it still helps.
 */
#ifndef DL_TUNE_SEARCH_H
#define DL_TUNE_SEARCH_H

#include "lab/score.h"
#include "lab/summary.h"

#define DL_CANDIDATES_MAX 512

struct dl_candidate {
	int key;
	int64_t value;
	int64_t far; /* from the base: of two that are as good the nearer is taken */
	bool taken;  /* into the proposal */
	struct dl_summary alone;
};

struct dl_search {
	struct dl_config base;
	struct dl_candidate candidate[DL_CANDIDATES_MAX];
	size_t count;
	bool by_steps; /* the nearer steps of what the farther ones change are to be added */
	struct dl_summary before;
	struct dl_score *scores; /* of the base alone, one of each trace; freed by dl_search_free */
	struct dl_config proposal;
	struct dl_summary after;
	size_t taken_count;
};

/* Whether a threshold decides about alarms: its section is a hazard's. */
bool dl_search_key(int key);

/*
 * 0, also for what the base has and what is there already; -ERANGE: out of its range, -EINVAL: out
 * of order with another value of the base, -E2BIG: too many.
 */
int dl_search_add(struct dl_search *search, int key, int64_t value);
/* All keys, by these steps. */
void dl_search_add_all(struct dl_search *search);

/* Scores the base, and what was added; traces without scores are left out. -errno, logged. */
int dl_search_run(struct dl_search *search, struct dl_cases *cases, unsigned int jobs);
void dl_search_free(struct dl_search *search);

#endif
