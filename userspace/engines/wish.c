/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How engines are started otherwise than their command says; what each can is in its row. */
#include <errno.h>
#include <stdio.h>
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

/* "--name=value" too. */
static bool is_option(const char *names, const char *arg)
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
		if (i && is_option(values, argv[i]))
			i += !strchr(argv[i], '=') && argv[i + 1];
		else if (!i || !davy_word_in(flags, argv[i]))
			err = davy_args_add(args, argv[i]);
	}
	return err;
}

static void take_out(struct davy_args *args, const char *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < args->count; i++) {
		bool gone = i && is_option(names, args->at[i]);
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

/* The last of "names" has this value, and none of the others is left. */
static int set_option(const char *names, const char *value, struct davy_args *args)
{
	const char *name = names ? strrchr(names, ' ') : NULL;
	int err;

	if (!names)
		return -EOPNOTSUPP;
	take_out(args, names);
	err = davy_args_add(args, name ? name + 1 : names);
	return err ? err : davy_args_add(args, value);
}

static int set_knob(const char *names, uint32_t value, struct davy_args *args)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return value ? set_option(names, text, args) : 0;
}

static int set_cache(const struct davy_engine_ops *ops, uint32_t type, struct davy_args *args)
{
	int err = type ? set_option(ops->knobs.cache_k, davy_cache_name(type), args) : 0;

	return err || !type ? err : set_option(ops->knobs.cache_v, davy_cache_name(type), args);
}

/* One layer more than the model has blocks: its output. */
static int set_layers(const struct davy_engine_ops *ops, const struct davy_engine_facts *facts,
		      const struct davy_engine_wish *wish, struct davy_args *args)
{
	uint32_t now = wish->layers + 1, off = wish->knobs.gpu_layers_off;

	if (!off)
		return 0;
	if (facts->gpu_layers >= 0)
		now = (uint32_t)facts->gpu_layers;
	else if (!wish->layers)
		return -EOPNOTSUPP;
	if (off >= now)
		return -ERANGE; /* a partial CPU is not strictly the CPU: that is another rung */
	return set_knob(ops->knobs.gpu_layers, now - off, args);
}

static int rewrite(const struct davy_engine_ops *ops, char *const argv[],
		   const struct davy_engine_facts *facts, const struct davy_engine_wish *wish,
		   struct davy_args *args)
{
	const struct davy_knobs *k = &wish->knobs;
	int err;

	if (wish->backend == DAVY_BACKEND_CPU)
		err = ops->to_cpu ? ops->to_cpu(argv, args) : -EOPNOTSUPP;
	else if (wish->backend != DAVY_BACKEND_UNKNOWN)
		err = ops->to_backend ? ops->to_backend(argv, wish->backend, args) : -EOPNOTSUPP;
	else
		err = davy_args_without(argv, "", "", args);
	if (!err)
		err = set_knob(ops->knobs.ubatch, k->ubatch, args);
	if (!err)
		err = set_knob(ops->knobs.context, k->context, args);
	if (!err)
		err = set_knob(ops->knobs.parallel, k->parallel, args);
	if (!err)
		err = set_cache(ops, k->cache_type, args);
	if (!err && wish->backend != DAVY_BACKEND_CPU)
		err = set_layers(ops, facts, wish, args);
	return err;
}

int davy_engine_command(const struct davy_engine_facts *facts, char *const argv[],
			const struct davy_engine_wish *wish, struct davy_args *ret_args)
{
	static const struct davy_engine_ops unknown = { .engine = DAVY_ENGINE_NONE };
	const struct davy_engine_ops *ops = davy_engine_ops_of(facts->engine);
	int err;

	memset(ret_args, 0, sizeof(*ret_args));
	err = rewrite(ops ? ops : &unknown, argv, facts, wish, ret_args);
	if (err)
		davy_args_done(ret_args);
	return err;
}

bool davy_engine_movable(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops && ops->to_cpu;
}

uint8_t davy_engine_can(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);
	unsigned int can = 0;

	if (!ops)
		return 0;
	if (ops->knobs.ubatch || ops->knobs.context || ops->knobs.parallel)
		can |= DAVY_CAN_SHRINK;
	if (ops->to_backend)
		can |= DAVY_CAN_SWITCH;
	if (ops->share_port && ops->save_slots)
		can |= DAVY_CAN_KEEP;
	return (uint8_t)can;
}

const char *const *davy_engine_cpu_unset(enum davy_engine engine)
{
	static const char *const nothing[] = { NULL };
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops && ops->cpu_unset ? ops->cpu_unset : nothing;
}

const char *davy_engine_library(enum davy_engine engine, enum davy_backend backend)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops && backend < DAVY_BACKEND_COUNT ? ops->libraries[backend] : NULL;
}

const char *davy_engine_share_port(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops ? ops->share_port : NULL;
}

const char *davy_engine_save_slots(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops ? ops->save_slots : NULL;
}
