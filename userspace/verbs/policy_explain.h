/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy explain'. */
#ifndef DL_VERBS_POLICY_EXPLAIN_H
#define DL_VERBS_POLICY_EXPLAIN_H

#include "../policy/effective.h"

int dl_policy_explain(int argc, char **argv);

/* What follows for one subject, and why: of people's eyes, or one JSON object a line. */
void dl_policy_print(const struct dl_policy_subject *subject, const struct dl_effective *effective);
void dl_policy_print_json(const struct dl_policy_subject *subject,
			  const struct dl_effective *effective);

#endif
