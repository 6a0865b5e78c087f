/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the backend policy says of one subject, as JSON: every value with where it comes from. */
#ifndef DAVY_POLICY_JSON_H
#define DAVY_POLICY_JSON_H

#include <jansson.h>

#include "policy/effective.h"

/* Whom it is about, what follows, and "values": a list of the values that a rule says. */
json_t *davy_policy_json(const struct davy_policy_subject *subject,
			 const struct davy_effective *effective);

#endif
