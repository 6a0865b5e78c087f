/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of the agent's policy layer and ledger by an operator, through the running agent or on
 * the state directory of an agent that does not run. "why" is a message, set if the result is
 * negative.
 */
#ifndef DAVY_LAYER_CHANGE_H
#define DAVY_LAYER_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_LAYER_WHY 640

/* The number of the new version, 0: no change, or -errno. */
int davy_layer_rollback(const char *state_dir, uint32_t number, char why[DAVY_LAYER_WHY]);
int davy_layer_import(const char *state_dir, const char *name, const char *text, size_t size,
		      char why[DAVY_LAYER_WHY]);

struct davy_layer_forgotten {
	int row_count;	/* rows of ledger and tuner */
	int rule_count; /* of the layer */
	int version;	/* the layer's version without them; 0: unchanged */
};

/*
 * Removes all knowledge of a model, a device, both, or everything ("": any): first the layer's
 * rules that name it (davy_policy_rules_forget), which makes a version, then the rows. 0 or -errno;
 * the counts include what was removed before an error.
 */
int davy_layer_forget(const char *state_dir, const char *device, const char *model,
		      struct davy_layer_forgotten *ret_forgotten, char why[DAVY_LAYER_WHY]);

#endif
