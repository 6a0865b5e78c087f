/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy_cli/model_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX	   ".gguf"
#define FIRST_PART "-00001-of-"

static bool model_list_is_model(const char *name)
{
	size_t len = strlen(name), end = sizeof(SUFFIX) - 1;

	return len > end && !strcmp(name + len - end, SUFFIX);
}

/* Copies both. "len" is the name's. */
static int model_list_add(struct davy_model_list *list, const char *name, size_t len,
			  const char *path)
{
	struct davy_output_model *m = &list->at[list->count];

	if (list->count == DAVY_MODEL_LIST_MAX)
		return -E2BIG;
	m->name = strndup(name, len);
	m->path = path ? strdup(path) : NULL;
	list->count++;
	return m->name && (m->path || !path) ? 0 : -ENOMEM;
}

static int model_list_add_file(struct davy_model_list *list, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return model_list_add(list, name,
			      strlen(name) - (model_list_is_model(name) ? sizeof(SUFFIX) - 1 : 0),
			      path);
}

int davy_model_list_add(struct davy_model_list *list, const char *model)
{
	if (model[0] == '/' && model[strlen(model) - 1] != '/')
		return model_list_add_file(list, model);
	return model_list_add(list, model, strlen(model), NULL);
}

/* The file that llama-server would load from a folder of parts; "": none. */
static void find_model(const char *dir, char *path, size_t size)
{
	DIR *folder = opendir(dir);
	const struct dirent *e;
	bool first = false;

	path[0] = 0;
	while (folder && (e = readdir(folder))) {
		bool part = strstr(e->d_name, FIRST_PART) != NULL;

		if (!model_list_is_model(e->d_name) || strstr(e->d_name, "mmproj") ||
		    (first && !part))
			continue;
		first = part;
		if (snprintf(path, size, "%s/%s", dir, e->d_name) >= (int)size)
			path[0] = 0;
	}
	if (folder)
		closedir(folder);
}

static int add_entry(struct davy_model_list *list, const char *dir, const char *name)
{
	char path[PATH_MAX], file[PATH_MAX];
	struct stat st;

	if (name[0] == '.' ||
	    snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    stat(path, &st))
		return 0;
	if (S_ISREG(st.st_mode))
		return model_list_is_model(name) ? model_list_add_file(list, path) : 0;
	if (!S_ISDIR(st.st_mode))
		return 0;
	find_model(path, file, sizeof(file));
	return file[0] ? model_list_add(list, name, strlen(name), file) : 0;
}

static int model_list_by_name(const void *a, const void *b)
{
	return strcmp(((const struct davy_output_model *)a)->name,
		      ((const struct davy_output_model *)b)->name);
}

int davy_model_list_dir(struct davy_model_list *list, const char *dir)
{
	char real[PATH_MAX];
	const size_t before = list->count;
	const struct dirent *e;
	DIR *folder;
	int err = 0;

	if (!realpath(dir, real))
		return -errno;
	folder = opendir(real);
	if (!folder)
		return -errno;
	while (!err && (e = readdir(folder)))
		err = add_entry(list, real, e->d_name);
	closedir(folder);
	if (!err)
		qsort(list->at + before, list->count - before, sizeof(list->at[0]),
		      model_list_by_name);
	return err;
}

static bool is_listed(const struct davy_model_list *list, const char *name, size_t len)
{
	for (size_t i = 0; i < list->count; i++)
		if (strlen(list->at[i].name) == len && !strncmp(list->at[i].name, name, len))
			return true;
	return false;
}

/* Adds the names without a '*' from a list such as "a, b*". */
static void add_words(struct davy_model_list *list, const char *words)
{
	while (*words) {
		size_t len = strcspn(words, ","), used = len;

		while (used && words[used - 1] == ' ')
			used--;
		if (used && !memchr(words, '*', used) && !is_listed(list, words, used))
			(void)model_list_add(list, words, used, NULL);
		words += len;
		words += strspn(words, ", ");
	}
}

void davy_model_list_rules(struct davy_model_list *list, const struct davy_policy_set *set)
{
	for (int i = 0; i < DAVY_LAYER_COUNT; i++) {
		const struct davy_policy_layer *layer = set->layer[i];

		for (uint32_t j = 0; layer && j < layer->rule_count; j++) {
			const struct davy_rule *r = &layer->rule[j];

			if (r->value[0].key != DAVY_POLICY_THRESHOLD) /* no setting */
				add_words(list, davy_policy_text(layer,
								 r->condition[DAVY_IF_MODEL].text));
		}
	}
}

void davy_model_list_done(struct davy_model_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->at[i].name);
		free((char *)list->at[i].path);
	}
	list->count = 0;
}
