/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was foreseen, as programs read it and as a table for people. */
#ifndef DAVY_FORESIGHT_TEXT_H
#define DAVY_FORESIGHT_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "core/score/foresight.h"

/*
 * {"failures", "foreseen", "missed", "classes": {NAME: {...}}, "hazards": {NAME: {...}}}; only
 * those that have something. A new reference, NULL when memory is out.
 */
json_t *davy_foresight_json(const struct davy_foresight *f);

/*
 * The same as a table, with a line above it that says of when ("": none); nothing when there is
 * nothing. Takes any JSON.
 */
void davy_foresight_print(FILE *out, const char *when, const json_t *foresight);

#endif
