/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How choice*.c write their nodes. Only policy/ includes it. */
#ifndef DL_POLICY_CHOICE_TREE_H
#define DL_POLICY_CHOICE_TREE_H

#include "policy/choice.h"

/* A further node; what finds no room is counted. NULL then. */
struct dl_choice_node *dl_choice_add(struct dl_choice *choice, int depth, enum dl_choice_step step,
				     enum dl_choice_mark mark, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The same about a backend. */
void dl_choice_about(struct dl_choice *choice, enum dl_backend backend,
		     const struct dl_policy_value *value);

/* Nodes of what is known before anything is tried: device, model, what is asked, the rules. */
void dl_choice_tell(const struct dl_choice_question *question, struct dl_choice *choice);

/* Nodes of the settings for what was chosen. */
void dl_choice_settings(struct dl_choice *choice);

/* "at least 11.3 GiB on the device, 40.0 GiB are free"; a node below the backend that is tried. */
void dl_choice_memory(const struct dl_choice_question *question, const struct dl_fit *fit,
		      enum dl_choice_mark mark, struct dl_choice *choice);

#endif
