/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a backend decision, as text and as JSON. */
#ifndef DAVY_CHOICE_TEXT_H
#define DAVY_CHOICE_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "policy/choice.h"

/* Prints a line for each node, and below it the rule on which it is based. */
void davy_choice_print(FILE *out, const struct davy_choice *choice);

/* {"backend", "refused", "pinned", "unknown", "tree": [{..., "below": [...]}]}; a new reference. */
json_t *davy_choice_json(const struct davy_choice *choice);

/* A rule as evidence: key, value, layer, file, line, rule, because, ... */
json_t *davy_policy_value_json(const struct davy_policy_value *value);

#endif
