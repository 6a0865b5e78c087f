/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "environment.h"

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

int dl_engine_environment(const struct dl_engine_look *look, const struct dl_engine_facts *facts,
			  const struct dl_engine_wish *wish, struct dl_environment *ret_environment)
{
	const struct dl_environment_ops *row = row_of(facts->engine);

	memset(ret_environment, 0, sizeof(*ret_environment));
	if (dl_engine_wish_empty(wish))
		return 0;
	if (row)
		return row->tell(look, facts, wish, ret_environment);
	return dl_environment_refuse(ret_environment,
				     "no variable of %s does this; change its command line",
				     dl_engine_name(facts->engine));
}
