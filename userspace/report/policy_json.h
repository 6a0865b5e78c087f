/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The backend policy for one subject, as JSON: every value with its origin. */
#ifndef DAVY_POLICY_JSON_H
#define DAVY_POLICY_JSON_H

#include <jansson.h>

#include "policy/effective.h"

/* The subject, the results, and "values": a list of the values that rules set. */
json_t *davy_policy_json(const struct davy_policy_subject *subject,
			 const struct davy_effective *effective);

#endif
