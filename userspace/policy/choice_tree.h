/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the nodes of choice*.c. Only policy/ includes this. */
#ifndef DAVY_CHOICE_TREE_H
#define DAVY_CHOICE_TREE_H

#include "policy/choice.h"

/* Adds a node; without room it is counted, and NULL returned. */
struct davy_choice_node *davy_choice_add(struct davy_choice *choice, int depth,
					 enum davy_choice_step step, enum davy_choice_mark mark,
					 const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The same for a backend. */
void davy_choice_about(struct davy_choice *choice, enum davy_backend backend,
		       const struct davy_policy_value *value);

/* Nodes of the facts before the candidates: device, model, options, rules. */
void davy_choice_tell(const struct davy_choice_question *question, struct davy_choice *choice);

/* Nodes of the settings for the chosen backend. */
void davy_choice_settings(struct davy_choice *choice);

/* "at least 11.3 GiB on the device, 40.0 GiB are free"; a node below the candidate. */
void davy_choice_memory(const struct davy_choice_question *question, const struct davy_fit *fit,
			enum davy_choice_mark mark, struct davy_choice *choice);

#endif
