/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps and the outcome, for people and as JSON. Whatever the names and paths are, a line stays a
 * line: control bytes and invalid UTF-8 are written as \xNN, a backslash is doubled, in JSON too.
 */
#ifndef DAVY_SHOW_H
#define DAVY_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "trace/stages.h"

/*
 * Whether it is one to be shown: of opens, those of libraries, device nodes and drivers'
 * manifests.
 */
bool davy_show_matters(const struct davy_start_step *step);

/* Lines for people; a RETURN before the judge has seen it, everything else after. */
void davy_show_step(FILE *out, const struct davy_stages *s, const struct davy_start_step *step);
void davy_show_outcome(FILE *out, const struct davy_stages *s, const struct davy_start_outcome *o);

/* New references; NULL: no memory. */
json_t *davy_show_step_json(const struct davy_stages *s, const struct davy_start_step *step);
json_t *davy_show_outcome_json(const struct davy_stages *s, const struct davy_start_outcome *o);

/* One sentence without a full stop; into "buf", returned. */
#define DAVY_CAUSE_TEXT 1024
const char *davy_show_cause(const struct davy_stages *s, const struct davy_cause *c,
			    char buf[DAVY_CAUSE_TEXT]);

#endif
