/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints steps and the outcome as text and as JSON. Untrusted texts cannot break a line: control
 * bytes and invalid UTF-8 become \xNN, a backslash is doubled, in JSON too.
 */
#ifndef DAVY_SHOW_H
#define DAVY_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "trace/stages.h"

/* Whether the step is shown: of opens, only libraries, device nodes and drivers' manifests. */
bool davy_show_matters(const struct davy_start_step *step);

/* Prints text; call it for a RETURN before davy_stages_step, for other steps after it. */
void davy_show_step(FILE *out, const struct davy_stages *s, const struct davy_start_step *step);
void davy_show_outcome(FILE *out, const struct davy_stages *s, const struct davy_start_outcome *o);

/* New references; NULL: out of memory. */
json_t *davy_show_step_json(const struct davy_stages *s, const struct davy_start_step *step);
json_t *davy_show_outcome_json(const struct davy_stages *s, const struct davy_start_outcome *o);

/* One sentence without a full stop; writes to and returns "buf". */
#define DAVY_CAUSE_TEXT 1024
const char *davy_show_cause(const struct davy_stages *s, const struct davy_cause *c,
			    char buf[DAVY_CAUSE_TEXT]);

#endif
