/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the backend policy, davylamp-backend.conf(5): read whole or not at all, written so that
 * what is read again is the same. All three layers have one format.
 */
#ifndef DAVY_POLICY_FILE_H
#define DAVY_POLICY_FILE_H

#include "policy/effective.h"
#include "store/config_file.h"

#define DAVY_POLICY_NAME     "backend.conf"
#define DAVY_POLICY_FILE_MAX DAVY_POLICY_TEXT_MAX

/* 720 KB, of which as much is touched as there are rules: static, or from malloc. */
struct davy_policy_layers {
	struct davy_policy_layer at[DAVY_LAYER_COUNT];
};

/*
 * Reads "path" as that layer. 0; -ENOENT: no such file; -EBADMSG: "error" is "FILE:LINE:COLUMN:
 * what is wrong, expected ...", fit to be shown, columns in bytes from 1, *ret_layer as before.
 */
int davy_policy_file_read(const char *path, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN]);

/* The same from a text, with or without a 0 behind it; "name" is what it is called. */
int davy_policy_text_read(const char *text, size_t size, const char *name, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN]);

/*
 * backend.conf of each folder; each may be missing, and is an empty layer then, as are people's
 * without a folder. 0, and "error" is
 * "" or says why the agent's own is left as *layers (initialised) has it: it is not in order.
 * Errors as above, and *layers is as before; others than -EBADMSG are told in "error" too.
 */
int davy_policy_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_policy_layers *layers, char error[DAVY_CONFIG_ERROR_LEN]);

/* Three empty layers. */
void davy_policy_layers_init(struct davy_policy_layers *layers);

/* What davy_policy_effective wants. */
struct davy_policy_set davy_policy_set_of(const struct davy_policy_layers *layers);

/*
 * The text of a layer, to be freed by the caller, ends with 0. -EINVAL: a reader would not take it,
 * or read something else; "error" says what, with its line in that text.
 */
int davy_policy_text_write(const struct davy_policy_layer *layer, char **ret_text, size_t *ret_size,
			   char error[DAVY_CONFIG_ERROR_LEN]);

#endif
