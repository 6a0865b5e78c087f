/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's layer of thresholds: STATE/hazards.conf, between the shipped and the administrator's
 * values. Replaced as a whole, only by tune.
 */
#ifndef DAVY_APPLY_H
#define DAVY_APPLY_H

#include "lab/search.h"

#define DAVY_TUNED_MARK "# Written by davylamp tune; replaced whole. "

/*
 * Writes the proposal: thresholds that differ from the built-in defaults or from the base, and
 * those for one driver, device or model. "sources": the arguments that name the traces. -EEXIST:
 * the file was not written by tune.
 */
int davy_tune_apply(const struct davy_search *search, const struct davy_cases *cases,
		    const char *path, char *const *sources, size_t source_count);

/*
 * Lists the thresholds that the administrator's file sets to other values than the proposal,
 * separated by ", "; "": none or no file. -EBADMSG: the two are not compatible.
 */
int davy_tune_shadowed(const struct davy_search *search, const char *path, char *text, size_t size);

#endif
