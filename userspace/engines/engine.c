/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text.h"

static const struct dl_engine_ops *const engines[] = {
	&dl_engine_llama_server,
};

#define ENGINE_COUNT (sizeof(engines) / sizeof(engines[0]))

const char *dl_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void dl_engine_set_model(struct dl_engine_facts *facts, const char *name)
{
	dl_text_safe(facts->model, sizeof(facts->model), name);
	for (char *at = facts->model; *at; at++)
		if (*at == ';' || (*at == '#' && at == facts->model))
			*at = ',';
}

void dl_engine_recognise(char *const argv[], struct dl_engine_facts *ret_facts)
{
	memset(ret_facts, 0, sizeof(*ret_facts));
	for (size_t i = 0; argv[0] && i < ENGINE_COUNT; i++) {
		if (!engines[i]->recognise(argv, ret_facts))
			continue;
		ret_facts->engine = engines[i]->engine;
		return;
	}
}

int dl_engine_to_cpu(enum dl_engine engine, char *const argv[], struct dl_args *ret_args)
{
	memset(ret_args, 0, sizeof(*ret_args));
	for (size_t i = 0; i < ENGINE_COUNT; i++) {
		int err;

		if (engines[i]->engine != engine || !engines[i]->to_cpu)
			continue;
		err = engines[i]->to_cpu(argv, ret_args);
		if (err)
			dl_args_done(ret_args);
		return err;
	}
	return -EOPNOTSUPP;
}

bool dl_engine_movable(enum dl_engine engine)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		if (engines[i]->engine == engine)
			return engines[i]->to_cpu != NULL;
	return false;
}

const char *const *dl_engine_cpu_unset(enum dl_engine engine)
{
	static const char *const nothing[] = { NULL };

	for (size_t i = 0; i < ENGINE_COUNT; i++)
		if (engines[i]->engine == engine && engines[i]->cpu_unset)
			return engines[i]->cpu_unset;
	return nothing;
}

int dl_args_add(struct dl_args *args, const char *text)
{
	char *copy;

	if (args->count == DL_ARGS_MAX)
		return -E2BIG;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	args->at[args->count++] = copy;
	args->at[args->count] = NULL;
	return 0;
}

void dl_args_done(struct dl_args *args)
{
	for (size_t i = 0; i < args->count; i++)
		free(args->at[i]);
	memset(args, 0, sizeof(*args));
}
