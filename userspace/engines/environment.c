/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/command.h"
#include "engines/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The others have no variables for it: their services are restarted, held and capped. */
static const struct dl_environment_ops *const rows[] = {
	&dl_environment_llama_server,
	&dl_environment_ollama,
};

static const struct dl_environment_ops *row_of(enum dl_engine engine)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i]->engine == engine)
			return rows[i];
	return NULL;
}

bool dl_engine_wish_empty(const struct dl_engine_wish *w)
{
	return w->backend == DL_BACKEND_UNKNOWN && dl_knobs_none(&w->knobs);
}

uint8_t dl_engine_service_can(enum dl_engine engine)
{
	const struct dl_environment_ops *row = row_of(engine);

	return row ? row->can : 0;
}

bool dl_engine_service_movable(enum dl_engine engine)
{
	const struct dl_environment_ops *row = row_of(engine);

	return row && row->movable;
}

void dl_environment_set(struct dl_environment *e, const char *name, const char *value)
{
	if (e->count == DL_ENVIRONMENT_MAX)
		return;
	e->at[e->count].name = name;
	dl_copy_name(e->at[e->count++].value, DL_ENVIRONMENT_VALUE, value);
}

/* What systemd reads from an environment file as it stands. */
static bool is_plain(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789,.:/_+=@-";

	return value[0] && !value[strspn(value, plain)] && strlen(value) < DL_ENVIRONMENT_VALUE;
}

void dl_environment_set_number(struct dl_environment *e, const char *name, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	dl_environment_set(e, name, text);
}

int dl_environment_refuse(struct dl_environment *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(e->why, sizeof(e->why), format, args);
	va_end(args);
	return -EOPNOTSUPP;
}

int dl_engine_environment_cache(const struct dl_engine_look *look,
				const struct dl_engine_facts *facts, const char *type,
				struct dl_environment *e)
{
	static const char *const variables[] = { "LLAMA_ARG_CACHE_TYPE_K", "LLAMA_ARG_CACHE_TYPE_V",
						 "OLLAMA_KV_CACHE_TYPE" };
	const struct dl_environment_ops *row = row_of(facts->engine);
	struct dl_command c;

	if (!row || !row->cache_variables)
		return dl_environment_refuse(e, "%s has no variable for the type of its cache",
					     dl_engine_name(facts->engine));
	dl_command_of(look, &c);
	if (row->cache_options && dl_has_option(c.args, row->cache_options))
		return dl_environment_refuse(e, "the unit's command line has one of %s",
					     row->cache_options);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (dl_word_in(row->cache_variables, variables[i]) && !dl_env(look, variables[i]))
			dl_environment_set(e, variables[i], type);
	return 0;
}

int dl_engine_environment(const struct dl_engine_look *look, const struct dl_engine_facts *facts,
			  const struct dl_engine_wish *wish, struct dl_environment *ret_environment)
{
	const struct dl_environment_ops *row = row_of(facts->engine);
	const char *cache = dl_cache_name(wish->knobs.cache_type);
	int err;

	memset(ret_environment, 0, sizeof(*ret_environment));
	if (dl_engine_wish_empty(wish))
		return 0;
	if (!row)
		return dl_environment_refuse(ret_environment,
					     "no variable of %s does this; change its command line",
					     dl_engine_name(facts->engine));
	err = row->tell(look, facts, wish, ret_environment);
	if (!err && cache[0])
		err = dl_engine_environment_cache(look, facts, cache, ret_environment);
	return err;
}

int dl_engine_environment_argument(const struct dl_engine_look *look,
				   const struct dl_engine_facts *facts, const char *option,
				   const char *value, struct dl_environment *e)
{
	const struct dl_environment_ops *row = row_of(facts->engine);
	const struct dl_environment_option *o = row ? row->options : NULL;
	struct dl_command c;

	while (o && o->names && !dl_word_in(o->names, option))
		o++;
	if (!o || !o->names || !is_plain(value))
		return dl_environment_refuse(e, "%s has no variable that says it",
					     dl_engine_name(facts->engine));
	dl_command_of(look, &c);
	if (dl_option(c.args, o->names) || dl_env(look, o->variable))
		return dl_environment_refuse(e, "the unit says it itself");
	dl_environment_set(e, o->variable, value);
	return 0;
}
