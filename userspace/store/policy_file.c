/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/policy_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/text.h"

int davy_policy_file_read(const char *path, enum davy_layer kind,
			  struct davy_policy_layer *ret_layer, char error[DAVY_CONFIG_ERROR_LEN])
{
	char *text = malloc(DAVY_POLICY_FILE_MAX), raw[DAVY_CONFIG_ERROR_LEN];
	ssize_t n = -ENOMEM;
	int err;

	if (text)
		n = davy_read_whole(path, text, DAVY_POLICY_FILE_MAX);
	err = n < 0 ? (int)n : 0;
	if (err == -EFBIG) {
		err = -EBADMSG;
		snprintf(raw, sizeof(raw), "%.160s:1:1: longer than %zu bytes", path,
			 DAVY_POLICY_FILE_MAX - 1);
		davy_text_safe(error, DAVY_CONFIG_ERROR_LEN, raw);
	} else if (!err) {
		err = davy_policy_text_read(text, (size_t)n, path, kind, ret_layer, error);
	}
	free(text);
	return err;
}

static int policy_file_read_dir(const char *dir, enum davy_layer kind,
				struct davy_policy_layer *layer, char error[DAVY_CONFIG_ERROR_LEN])
{
	char path[PATH_MAX];
	int err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/" DAVY_POLICY_NAME, dir) < (int)sizeof(path))
		err = davy_policy_file_read(path, kind, layer, error);
	if (err == -ENOENT) {
		davy_policy_layer_init(layer, kind);
		davy_copy_name(layer->path, sizeof(layer->path), path);
		return 0;
	}
	if (err && err != -EBADMSG)
		snprintf(error, DAVY_CONFIG_ERROR_LEN, "'%.300s/" DAVY_POLICY_NAME "': %s", dir,
			 strerror(-err));
	return err;
}

static int policy_file_read_fleet(const char *state_dir, struct davy_policy_layer *layer,
				  char error[DAVY_CONFIG_ERROR_LEN])
{
	char dir[PATH_MAX];

	if (snprintf(dir, sizeof(dir), "%s/" DAVY_FLEET_NAME, state_dir) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	return policy_file_read_dir(dir, DAVY_LAYER_FLEET, layer, error);
}

int davy_policy_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			  struct davy_policy_layers *layers, char error[DAVY_CONFIG_ERROR_LEN])
{
	struct davy_policy_layers *now = malloc(sizeof(*now));
	int err = now ? 0 : -ENOMEM;

	error[0] = 0;
	if (!err)
		err = policy_file_read_dir(data_dir, DAVY_LAYER_SHIPPED,
					   &now->at[DAVY_LAYER_SHIPPED], error);
	if (!err && !config_dir)
		davy_policy_layer_init(&now->at[DAVY_LAYER_ADMIN], DAVY_LAYER_ADMIN);
	else if (!err)
		err = policy_file_read_dir(config_dir, DAVY_LAYER_ADMIN, &now->at[DAVY_LAYER_ADMIN],
					   error);
	if (!err && policy_file_read_fleet(state_dir, &now->at[DAVY_LAYER_FLEET], error))
		davy_policy_layer_copy(&now->at[DAVY_LAYER_FLEET], &layers->at[DAVY_LAYER_FLEET]);
	if (!err &&
	    policy_file_read_dir(state_dir, DAVY_LAYER_AGENT, &now->at[DAVY_LAYER_AGENT], error))
		davy_policy_layer_copy(&now->at[DAVY_LAYER_AGENT], &layers->at[DAVY_LAYER_AGENT]);
	for (int i = 0; i < DAVY_LAYER_COUNT && !err; i++)
		davy_policy_layer_copy(&layers->at[i], &now->at[i]);
	free(now);
	return err;
}

void davy_policy_layers_init(struct davy_policy_layers *layers)
{
	for (int i = 0; i < DAVY_LAYER_COUNT; i++)
		davy_policy_layer_init(&layers->at[i], (enum davy_layer)i);
}

struct davy_policy_set davy_policy_set_of(const struct davy_policy_layers *layers)
{
	struct davy_policy_set set;

	for (int i = 0; i < DAVY_LAYER_COUNT; i++)
		set.layer[i] = &layers->at[i];
	return set;
}
