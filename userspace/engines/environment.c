/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/command.h"
#include "engines/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Other engines have no such variables: their services can be restarted, frozen and capped. */
static const struct davy_environment_ops *const rows[] = {
	&davy_environment_llama_server,
	&davy_environment_ollama,
};

static const struct davy_environment_ops *environment_row_of(enum davy_engine engine)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i]->engine == engine)
			return rows[i];
	return NULL;
}

/*
 * Vulkan's loader: VK_LOADER_DRIVERS_SELECT filters all drivers since 1.3.234, VK_DRIVER_FILES
 * replaces the list since 1.3.207 and VK_ICD_FILENAMES before (LoaderInterfaceArchitecture.md).
 * Without a driver vkCreateInstance fails, and ggml's Vulkan backend is left out (llama.cpp #11494,
 * February 2025; an older llama-server ends, and the next action follows). -1 is no index: CUDA,
 * HIP and ROCr end the list of devices there.
 */
const struct davy_environment_variable davy_environment_no_gpu[] = {
	{ "VK_LOADER_DRIVERS_SELECT", "none" },
	{ "VK_DRIVER_FILES", "/nonexistent" },
	{ "VK_ICD_FILENAMES", "/nonexistent" },
	{ "CUDA_VISIBLE_DEVICES", "-1" },
	{ "ROCR_VISIBLE_DEVICES", "-1" },
	{ "HIP_VISIBLE_DEVICES", "-1" },
	{ NULL, NULL },
};

void davy_environment_hide_gpus(struct davy_environment *e)
{
	for (size_t i = 0; davy_environment_no_gpu[i].name; i++)
		davy_environment_set(e, davy_environment_no_gpu[i].name,
				     davy_environment_no_gpu[i].value);
}

bool davy_environment_hides_gpus(const struct davy_engine_look *look)
{
	const char *value = davy_env(look, davy_environment_no_gpu[0].name);

	return value && !strcmp(value, davy_environment_no_gpu[0].value);
}

bool davy_engine_override_empty(const struct davy_engine_override *w)
{
	return w->backend == DAVY_BACKEND_UNKNOWN && davy_start_settings_none(&w->settings);
}

uint8_t davy_engine_service_can(enum davy_engine engine, enum davy_role role)
{
	const struct davy_environment_ops *row = environment_row_of(engine);

	if (!row)
		return 0;
	return role == DAVY_ROLE_MANAGER ? row->can | row->manager_can : row->can;
}

bool davy_engine_service_movable(enum davy_engine engine)
{
	const struct davy_environment_ops *row = environment_row_of(engine);

	return row && row->movable;
}

void davy_environment_set(struct davy_environment *e, const char *name, const char *value)
{
	if (e->count == DAVY_ENVIRONMENT_MAX)
		return;
	e->at[e->count].name = name;
	davy_copy_name(e->at[e->count++].value, DAVY_ENVIRONMENT_VALUE, value);
}

/* Characters that systemd reads literally from an environment file. */
static bool environment_is_plain(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789,.:/_+=@-";

	return value[0] && !value[strspn(value, plain)] && strlen(value) < DAVY_ENVIRONMENT_VALUE;
}

void davy_environment_set_number(struct davy_environment *e, const char *name, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	davy_environment_set(e, name, text);
}

int davy_environment_refuse(struct davy_environment *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->why, sizeof(e->why), format, args);
	va_end(args);
	return -EOPNOTSUPP;
}

int davy_engine_environment_cache(const struct davy_engine_look *look,
				  const struct davy_engine_facts *facts, const char *type,
				  struct davy_environment *e)
{
	static const char *const variables[] = { "LLAMA_ARG_CACHE_TYPE_K", "LLAMA_ARG_CACHE_TYPE_V",
						 "OLLAMA_KV_CACHE_TYPE" };
	const struct davy_environment_ops *row = environment_row_of(facts->engine);
	struct davy_command c;

	if (!row || !row->cache_variables)
		return davy_environment_refuse(e, "%s has no variable for the cache type",
					       davy_engine_name(facts->engine));
	davy_command_of(look, &c);
	if (row->cache_options && davy_has_option(c.args, row->cache_options))
		return davy_environment_refuse(e, "the engine's command line has one of %s",
					       row->cache_options);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (davy_word_in(row->cache_variables, variables[i]) &&
		    !davy_env(look, variables[i]))
			davy_environment_set(e, variables[i], type);
	return 0;
}

int davy_engine_environment(const struct davy_engine_look *look,
			    const struct davy_engine_facts *facts,
			    const struct davy_engine_override *override,
			    struct davy_environment *ret_environment)
{
	const struct davy_environment_ops *row = environment_row_of(facts->engine);
	const char *cache = davy_cache_name(override->settings.cache_type);
	int err;

	memset(ret_environment, 0, sizeof(*ret_environment));
	if (davy_engine_override_empty(override))
		return 0;
	if (!row)
		return davy_environment_refuse(
			ret_environment, "%s has no variable for this; change its command line",
			davy_engine_name(facts->engine));
	err = row->configure(look, facts, override, ret_environment);
	if (!err && cache[0])
		err = davy_engine_environment_cache(look, facts, cache, ret_environment);
	return err;
}

int davy_engine_environment_argument(const struct davy_engine_look *look,
				     const struct davy_engine_facts *facts, const char *option,
				     const char *value, struct davy_environment *e)
{
	const struct davy_environment_ops *row = environment_row_of(facts->engine);
	const struct davy_environment_option *o = row ? row->options : NULL;
	struct davy_command c;

	while (o && o->names && !davy_word_in(o->names, option))
		o++;
	if (!o || !o->names || !environment_is_plain(value))
		return davy_environment_refuse(e, "%s has no variable for it",
					       davy_engine_name(facts->engine));
	davy_command_of(look, &c);
	if (davy_option(c.args, o->names) || davy_env(look, o->variable))
		return davy_environment_refuse(e, "the unit already sets it");
	davy_environment_set(e, o->variable, value);
	return 0;
}
