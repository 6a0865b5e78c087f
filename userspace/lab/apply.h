/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's own layer of thresholds: STATE/hazards.conf, between what is shipped and what people
 * wrote. Written whole, by tune alone.
 */
#ifndef DAVY_APPLY_H
#define DAVY_APPLY_H

#include "lab/search.h"

#define DAVY_TUNED_MARK "# Written by davylamp tune; replaced whole. "

/*
 * Writes what was scored: thresholds of the proposal that differ from the built-in defaults or from
 * what was begun with, and those for one driver, device or model. "sources" are the words that the
 * traces were named by. -EEXIST: there is a file that tune did not write.
 */
int davy_tune_apply(const struct davy_search *search, const struct davy_cases *cases,
		    const char *path, char *const *sources, size_t source_count);

/*
 * Which thresholds a file of people sets otherwise than was proposed, so that they win: names with
 * ", " between; "": none, also without a file. -EBADMSG: the two do not go together.
 */
int davy_tune_shadowed(const struct davy_search *search, const char *path, char *text, size_t size);

#endif
