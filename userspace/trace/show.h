/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps and the outcome, for people and as JSON. Whatever the names and paths are, a line stays a
 * line: control bytes and invalid UTF-8 are written as \xNN, a backslash is doubled, in JSON too.
 */
#ifndef DL_DISCOVERY_SHOW_H
#define DL_DISCOVERY_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "trace/stages.h"

/*
 * Whether it is one to be shown: of opens, those of libraries, device nodes and drivers'
 * manifests.
 */
bool dl_show_matters(const struct dl_start_step *step);

/* Lines for people; a RETURN before the judge has seen it, everything else after. */
void dl_show_step(FILE *out, const struct dl_stages *s, const struct dl_start_step *step);
void dl_show_outcome(FILE *out, const struct dl_stages *s, const struct dl_start_outcome *o);

/* New references; NULL: no memory. */
json_t *dl_show_step_json(const struct dl_stages *s, const struct dl_start_step *step);
json_t *dl_show_outcome_json(const struct dl_stages *s, const struct dl_start_outcome *o);

/* One sentence without a full stop; into "buf", returned. */
#define DL_CAUSE_TEXT 1024
const char *dl_show_cause(const struct dl_stages *s, const struct dl_cause *c,
			  char buf[DL_CAUSE_TEXT]);

#endif
