/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List of models: given by name, file or folder, or named by rules. */
#ifndef DAVY_MODEL_LIST_H
#define DAVY_MODEL_LIST_H

#include "output/output.h"

#define DAVY_MODEL_LIST_MAX 512

struct davy_model_list {
	size_t count;
	struct davy_output_model at[DAVY_MODEL_LIST_MAX]; /* owns its texts */
};

/* Adds a name, or a file's absolute path (its name is the file's, without ".gguf"). -E2BIG. */
int davy_model_list_add(struct davy_model_list *list, const char *model);

/*
 * Adds the models of a folder as llama-server's --models-dir finds them: each file NAME.gguf, and
 * each folder NAME that contains one (the first of several parts; no "mmproj").
 */
int davy_model_list_dir(struct davy_model_list *list, const char *dir);

/* Adds the models that rules name without a pattern, until the list is full. */
void davy_model_list_rules(struct davy_model_list *list, const struct davy_policy_set *set);

void davy_model_list_done(struct davy_model_list *list);

#endif
