/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an operator has done to the agent's policy layer and ledger, by the running agent or on the
 * state directory of one that does not run. "why" is for people, set when less than 0 is returned.
 */
#ifndef DAVY_LAYER_CHANGE_H
#define DAVY_LAYER_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#define DAVY_LAYER_WHY 640

/* The new version's number, 0: it is so already, or -errno. */
int davy_layer_rollback(const char *state_dir, uint32_t number, char why[DAVY_LAYER_WHY]);
int davy_layer_import(const char *state_dir, const char *name, const char *text, size_t size,
		      char why[DAVY_LAYER_WHY]);

struct davy_layer_forgotten {
	int row_count;	/* of ledger and tuner */
	int rule_count; /* of the layer */
	int version;	/* of the layer without them; 0: it is as it was */
};

/*
 * Removes what is known of a model, a device, the one on the other, or all ("": any): the layer's
 * rules that name it (davy_policy_rules_forget), which makes a version, then the rows. 0 or -errno;
 * what was removed before an error is told, too.
 */
int davy_layer_forget(const char *state_dir, const char *device, const char *model,
		      struct davy_layer_forgotten *ret_forgotten, char why[DAVY_LAYER_WHY]);

#endif
