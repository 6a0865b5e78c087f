/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models that somebody names: by name, by file, by folder, or as rules name them. */
#ifndef DAVY_MODEL_LIST_H
#define DAVY_MODEL_LIST_H

#include "output/output.h"

#define DAVY_MODEL_LIST_MAX 512

struct davy_model_list {
	size_t count;
	struct davy_output_model at[DAVY_MODEL_LIST_MAX]; /* owns its texts */
};

/* A name, or a file's absolute path: then it is called as the file, without ".gguf". -E2BIG. */
int davy_model_list_add(struct davy_model_list *list, const char *model);

/*
 * The models of a folder, by their names, as llama-server's --models-dir finds them: each file
 * NAME.gguf, and each folder NAME that holds one (the first of several parts; no "mmproj").
 */
int davy_model_list_dir(struct davy_model_list *list, const char *dir);

/* Those that rules name in full; only as many as there is room for. */
void davy_model_list_rules(struct davy_model_list *list, const struct davy_policy_set *set);

void davy_model_list_done(struct davy_model_list *list);

#endif
