/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Models that somebody names: by name, by file, by folder, or as rules name them. */
#ifndef DL_VERBS_MODEL_LIST_H
#define DL_VERBS_MODEL_LIST_H

#include "output/output.h"

#define DL_MODEL_LIST_MAX 512

struct dl_model_list {
	size_t count;
	struct dl_output_model at[DL_MODEL_LIST_MAX]; /* owns its texts */
};

/* A name, or a file's absolute path: then it is called as the file, without ".gguf". -E2BIG. */
int dl_model_list_add(struct dl_model_list *list, const char *model);

/*
 * The models of a folder, by their names, as llama-server's --models-dir finds them: each file
 * NAME.gguf, and each folder NAME that holds one (the first of several parts; no "mmproj").
 */
int dl_model_list_dir(struct dl_model_list *list, const char *dir);

/* Those that rules name in full; only as many as there is room for. */
void dl_model_list_rules(struct dl_model_list *list, const struct dl_policy_set *set);

void dl_model_list_done(struct dl_model_list *list);

#endif
