/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/table.h"

int davy_args_add(struct davy_args *args, const char *text)
{
	char *copy;

	if (args->count == DAVY_ARGS_MAX)
		return -E2BIG;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	args->at[args->count++] = copy;
	args->at[args->count] = NULL;
	return 0;
}

void davy_args_done(struct davy_args *args)
{
	for (size_t i = 0; i < args->count; i++)
		free(args->at[i]);
	memset(args, 0, sizeof(*args));
}

/* Also matches "--name=value". */
static bool args_is_option(const char *names, const char *arg)
{
	char name[64];
	size_t len = strcspn(arg, "=");

	if (davy_word_in(names, arg))
		return true;
	if (arg[0] != '-' || !arg[len] || len >= sizeof(name))
		return false;
	memcpy(name, arg, len);
	name[len] = 0;
	return davy_word_in(names, name);
}

int davy_args_without(char *const argv[], const char *values, const char *flags,
		      struct davy_args *args)
{
	int err = 0;

	for (size_t i = 0; argv[i] && !err; i++) {
		if (i && args_is_option(values, argv[i]))
			i += !strchr(argv[i], '=') && argv[i + 1];
		else if (!i || !davy_word_in(flags, argv[i]))
			err = davy_args_add(args, argv[i]);
	}
	return err;
}

static void args_take_out(struct davy_args *args, const char *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < args->count; i++) {
		bool gone = i && args_is_option(names, args->at[i]);
		bool with_value = gone && !strchr(args->at[i], '=') && i + 1 < args->count;

		if (!gone) {
			args->at[kept++] = args->at[i];
			continue;
		}
		free(args->at[i]);
		if (with_value)
			free(args->at[++i]);
	}
	args->count = kept;
	args->at[kept] = NULL;
}

int davy_args_set(const char *names, const char *value, struct davy_args *args)
{
	const char *name = names ? strrchr(names, ' ') : NULL;
	int err;

	if (!names)
		return -EOPNOTSUPP;
	args_take_out(args, names);
	err = davy_args_add(args, name ? name + 1 : names);
	return err ? err : davy_args_add(args, value);
}
