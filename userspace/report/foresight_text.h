/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of foresight, as JSON and as a table. */
#ifndef DAVY_FORESIGHT_TEXT_H
#define DAVY_FORESIGHT_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "core/score/foresight.h"

/*
 * {"failures", "foreseen", "missed", "classes": {NAME: {...}}, "hazards": {NAME: {...}},
 * "calibration": {...}}, without empty ones. A new reference, NULL: out of memory.
 */
json_t *davy_foresight_json(const struct davy_foresight *f);

/*
 * The same as a table, with a title line for the period ("": none); without counts nothing. Accepts
 * any JSON.
 */
void davy_foresight_print(FILE *out, const char *when, const json_t *foresight);

#endif
