/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/policy_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/text.h"

int dl_policy_file_read(const char *path, enum dl_layer kind, struct dl_policy_layer *ret_layer,
			char error[DL_CONFIG_ERROR_LEN])
{
	char *text = malloc(DL_POLICY_FILE_MAX), raw[DL_CONFIG_ERROR_LEN];
	ssize_t n = -ENOMEM;
	int err;

	if (text)
		n = dl_read_whole(path, text, DL_POLICY_FILE_MAX);
	err = n < 0 ? (int)n : 0;
	if (err == -EFBIG) {
		err = -EBADMSG;
		snprintf(raw, sizeof(raw), "%.160s:1:1: longer than %zu bytes", path,
			 DL_POLICY_FILE_MAX - 1);
		dl_text_safe(error, DL_CONFIG_ERROR_LEN, raw);
	} else if (!err) {
		err = dl_policy_text_read(text, (size_t)n, path, kind, ret_layer, error);
	}
	free(text);
	return err;
}

static int read_dir(const char *dir, enum dl_layer kind, struct dl_policy_layer *layer,
		    char error[DL_CONFIG_ERROR_LEN])
{
	char path[PATH_MAX];
	int err = -ENAMETOOLONG;

	if (snprintf(path, sizeof(path), "%s/" DL_POLICY_NAME, dir) < (int)sizeof(path))
		err = dl_policy_file_read(path, kind, layer, error);
	if (err == -ENOENT) {
		dl_policy_layer_init(layer, kind);
		dl_copy_name(layer->path, sizeof(layer->path), path);
		return 0;
	}
	if (err && err != -EBADMSG)
		snprintf(error, DL_CONFIG_ERROR_LEN, "'%.300s/" DL_POLICY_NAME "': %s", dir,
			 strerror(-err));
	return err;
}

int dl_policy_dirs_read(const char *data_dir, const char *state_dir, const char *config_dir,
			struct dl_policy_layers *layers, char error[DL_CONFIG_ERROR_LEN])
{
	struct dl_policy_layers *now = malloc(sizeof(*now));
	int err = now ? 0 : -ENOMEM;

	error[0] = 0;
	if (!err)
		err = read_dir(data_dir, DL_LAYER_SHIPPED, &now->at[DL_LAYER_SHIPPED], error);
	if (!err && !config_dir)
		dl_policy_layer_init(&now->at[DL_LAYER_PEOPLE], DL_LAYER_PEOPLE);
	else if (!err)
		err = read_dir(config_dir, DL_LAYER_PEOPLE, &now->at[DL_LAYER_PEOPLE], error);
	if (!err && read_dir(state_dir, DL_LAYER_AGENT, &now->at[DL_LAYER_AGENT], error))
		dl_policy_layer_copy(&now->at[DL_LAYER_AGENT], &layers->at[DL_LAYER_AGENT]);
	for (int i = 0; i < DL_LAYER_COUNT && !err; i++)
		dl_policy_layer_copy(&layers->at[i], &now->at[i]);
	free(now);
	return err;
}

void dl_policy_layers_init(struct dl_policy_layers *layers)
{
	for (int i = 0; i < DL_LAYER_COUNT; i++)
		dl_policy_layer_init(&layers->at[i], (enum dl_layer)i);
}

struct dl_policy_set dl_policy_set_of(const struct dl_policy_layers *layers)
{
	struct dl_policy_set set;

	for (int i = 0; i < DL_LAYER_COUNT; i++)
		set.layer[i] = &layers->at[i];
	return set;
}
