/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the backend policy, davylamp-backend.conf(5): read as a whole or not at all, and written
 * so that reading gives the same rules. All layers have the same format.
 */
#ifndef DAVY_POLICY_FILE_H
#define DAVY_POLICY_FILE_H

#include "policy/effective.h"
#include "store/config_file.h"

#define DAVY_POLICY_NAME     "backend.conf"
#define DAVY_POLICY_FILE_MAX DAVY_POLICY_TEXT_MAX
#define DAVY_FLEET_NAME	     "fleet" /* folder of the state directory; davylamp-fleet writes it */
#define DAVY_FLEET_STATUS    "status.json" /* in it */

/* 960 KB, touched only as far as there are rules: make it static, or use malloc(). */
struct davy_policy_layers {
	struct davy_policy_layer at[DAVY_LAYER_COUNT];
};

/*
 * Reads "path" as that layer. 0; -ENOENT: no such file; -EBADMSG: "error" is "FILE:LINE:COLUMN:
 * what is wrong, expected ...", printable, columns in bytes from 1, and *ret_layer is unchanged.
 */
int davy_policy_file_read(const char *path, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN]);

/* Reads a text, with or without a terminating 0; "name" is its name in messages. */
int davy_policy_text_read(const char *text, size_t size, const char *name, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN]);

/*
 * Reads backend.conf of each folder. A missing file is an empty layer, as is the administrator's
 * without a folder. 0, and "error" is "", or says why the agent's own or the fleet's layer is left
 * as it is in *layers (initialised): it is invalid. Errors as above, and *layers is unchanged;
 * errors other than -EBADMSG are described in "error" too.
 */
int davy_policy_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_policy_layers *layers, char error[DAVY_CONFIG_ERROR_LEN]);

/* Empty layers. */
void davy_policy_layers_init(struct davy_policy_layers *layers);

/* The set for davy_policy_effective(). */
struct davy_policy_set davy_policy_set_of(const struct davy_policy_layers *layers);

/*
 * The text of a layer, which the caller frees, with a terminating 0. -EINVAL: a reader would refuse
 * it or read another rule; "error" describes that, with its line in the text.
 */
int davy_policy_text_write(const struct davy_policy_layer *layer, char **ret_text, size_t *ret_size,
			   char error[DAVY_CONFIG_ERROR_LEN]);

#endif
