/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes the command line of an engine; its row defines what is supported. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/table.h"
#include "engines/wrapper.h"

static int override_set_number(const char *names, uint32_t value, struct davy_args *args)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return value ? davy_args_set(names, text, args) : 0;
}

static int override_set_cache(const struct davy_engine_ops *ops, uint32_t type,
			      struct davy_args *args)
{
	int err = type ? davy_args_set(ops->settings.cache_k, davy_cache_name(type), args) : 0;

	return err || !type ? err
			    : davy_args_set(ops->settings.cache_v, davy_cache_name(type), args);
}

/* One layer more than the model has blocks: the output layer. */
static int override_set_layers(const struct davy_engine_ops *ops,
			       const struct davy_engine_facts *facts,
			       const struct davy_engine_override *override, struct davy_args *args)
{
	uint32_t now = override->layers + 1, off = override->settings.gpu_layers_off;

	if (!off)
		return 0;
	if (facts->gpu_layers >= 0)
		now = (uint32_t)facts->gpu_layers;
	else if (!override->layers)
		return -EOPNOTSUPP;
	if (off >= now)
		/*
		 * a partial move to the CPU must not become a complete one: that is another action
		 */
		return -ERANGE;
	return override_set_number(ops->settings.gpu_layers, now - off, args);
}

/* Variables leave the command as it is. */
static int override_to_cpu(const struct davy_engine_ops *ops, char *const argv[],
			   struct davy_args *args)
{
	if (ops->to_cpu)
		return ops->to_cpu(argv, args);
	return ops->cpu_by_variables ? davy_args_without(argv, "", "", args) : -EOPNOTSUPP;
}

static int override_rewrite(const struct davy_engine_ops *ops, char *const argv[],
			    const struct davy_engine_facts *facts,
			    const struct davy_engine_override *override, struct davy_args *args)
{
	const struct davy_start_settings *k = &override->settings;
	int err;

	if (override->backend == DAVY_BACKEND_CPU)
		err = override_to_cpu(ops, argv, args);
	else if (override->backend != DAVY_BACKEND_UNKNOWN)
		err = ops->to_backend ? ops->to_backend(argv, override->backend, args)
				      : -EOPNOTSUPP;
	else
		err = davy_args_without(argv, "", "", args);
	if (!err)
		err = override_set_number(ops->settings.ubatch, k->ubatch, args);
	if (!err)
		err = override_set_number(ops->settings.context, k->context, args);
	if (!err)
		err = override_set_number(ops->settings.parallel, k->parallel, args);
	if (!err)
		err = override_set_cache(ops, k->cache_type, args);
	if (!err && override->backend != DAVY_BACKEND_CPU)
		err = override_set_layers(ops, facts, override, args);
	return err;
}

static int override_join(char *const *at, char *const *end, char *const *more,
			 struct davy_args *args)
{
	int err = 0;

	for (; at < end && !err; at++)
		err = davy_args_add(args, *at);
	for (; *more && !err; more++)
		err = davy_args_add(args, *more);
	return err;
}

int davy_engine_command(const struct davy_engine_facts *facts, char *const argv[],
			const struct davy_engine_override *override, struct davy_args *ret_args)
{
	static const struct davy_engine_ops unknown = { .engine = DAVY_ENGINE_NONE };
	const struct davy_engine_ops *ops = davy_engine_ops_of(facts->engine);
	struct davy_args own = { 0 };
	struct davy_wrapped wrapped;
	int err;

	memset(ret_args, 0, sizeof(*ret_args));
	davy_wrapped_of(argv, &wrapped);
	err = override_rewrite(ops ? ops : &unknown, wrapped.argv, facts, override, &own);
	if (!err)
		err = override_join(argv, wrapped.argv, own.at, ret_args);
	davy_args_done(&own);
	if (err)
		davy_args_done(ret_args);
	return err;
}

bool davy_engine_movable(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops && (ops->to_cpu || ops->cpu_by_variables);
}

uint8_t davy_engine_can(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);
	unsigned int can = 0;

	if (!ops)
		return 0;
	if (ops->settings.ubatch || ops->settings.context || ops->settings.parallel)
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
