/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment file of a unit: NAME=VALUE lines as in systemd.exec(5). Values need no quoting:
 * rules allow only letters, digits and some marks in variables (policy_words.c).
 */
#include <errno.h>
#include <string.h>

#include "engines/environment.h"
#include "output/settings.h"

static bool env_contains(const struct davy_output_variables *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->at[i].name, name))
			return true;
	return false;
}

/*
 * The first setting of a variable counts: variables that a rule names come after those that follow
 * from its other settings.
 */
static void env_add(struct davy_output_variables *list, const char *name, const char *value,
		    const struct davy_policy_origin *origin)
{
	struct davy_output_pair *p = &list->at[list->count];

	if (list->count == DAVY_OUTPUT_VARIABLES_MAX || env_contains(list, name))
		return;
	davy_copy_name(p->name, sizeof(p->name), name);
	davy_copy_name(p->value, sizeof(p->value), value);
	p->origin = origin;
	list->count++;
}

struct env_build {
	const struct davy_effective *e;
	const struct davy_engine_look *look;
	struct davy_engine_facts facts;
	struct davy_output_variables *list;
	struct davy_output_result *result;
};

static void env_take(struct env_build *t, int err, const struct davy_environment *e,
		     const char *what, const struct davy_policy_value *v)
{
	if (err)
		davy_output_note(t->result, "%s%s%s = %s: %s", what, v->name ? " " : "",
				 v->name ? v->name : "", v->text, e->why);
	for (size_t i = 0; !err && i < e->count; i++)
		env_add(t->list, e->at[i].name, e->at[i].value, &v->origin);
}

static void env_apply(struct env_build *t, struct davy_engine_override override,
		      enum davy_policy_key key)
{
	struct davy_environment e;
	int err = davy_engine_environment(t->look, &t->facts, &override, &e);

	env_take(t, err, &e, davy_policy_key_name(key), &t->e->value[key]);
}

/* One setting per override, so that a refused one does not affect the others. */
static void env_apply_settings(struct env_build *t, uint32_t available)
{
	enum davy_backend backend = davy_policy_backend(t->e, available);
	struct davy_start_settings settings;

	davy_policy_limits(t->e, &t->facts, &settings);
	env_apply(t, (struct davy_engine_override){ .backend = backend }, DAVY_POLICY_BACKENDS);
	env_apply(t, (struct davy_engine_override){ .settings = { .ubatch = settings.ubatch } },
		  DAVY_POLICY_UBATCH);
	env_apply(t, (struct davy_engine_override){ .settings = { .parallel = settings.parallel } },
		  DAVY_POLICY_PARALLEL);
	if (settings.parallel)
		t->facts.parallel =
			settings.parallel; /* engines with a context per slot divide by it */
	env_apply(t, (struct davy_engine_override){ .settings = { .context = settings.context } },
		  DAVY_POLICY_CONTEXT);
	if (backend != DAVY_BACKEND_CPU)
		env_apply(t,
			  (struct davy_engine_override){
				  .settings = { .gpu_layers_off = settings.gpu_layers_off } },
			  DAVY_POLICY_GPU_LAYERS_OFF);
}

static bool env_has_variable(const struct davy_engine_look *look, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; look->envp && look->envp[i]; i++)
		if (!strncmp(look->envp[i], name, len) && look->envp[i][len] == '=')
			return true;
	return false;
}

void davy_output_variables(const struct davy_effective *effective,
			   const struct davy_engine_look *look,
			   const struct davy_engine_facts *facts, uint32_t available,
			   struct davy_output_variables *ret_variables,
			   struct davy_output_result *result)
{
	struct env_build t = { effective, look, *facts, ret_variables, result };
	const struct davy_policy_value *cache = &effective->value[DAVY_POLICY_CACHE_TYPE];
	struct davy_environment e = { 0 };

	ret_variables->count = 0;
	env_apply_settings(&t, available);
	if (cache->number)
		env_take(&t, davy_engine_environment_cache(look, facts, cache->text, &e), &e,
			 "cache_type", cache);
	for (size_t i = 0; i < effective->environment_count; i++) {
		const struct davy_policy_value *v = &effective->environment[i];

		if (!env_has_variable(look, v->name))
			env_add(ret_variables, v->name, v->text, &v->origin);
	}
	for (size_t i = 0; i < effective->argument_count; i++) {
		const struct davy_policy_value *v = &effective->argument[i];

		memset(&e, 0, sizeof(e));
		env_take(&t, davy_engine_environment_argument(look, facts, v->name, v->text, &e),
			 &e, "argument", v);
	}
}

void davy_output_variables_write(const struct davy_output_variables *list, FILE *out)
{
	for (size_t i = 0; i < list->count; i++) {
		davy_output_origin(out, list->at[i].name, list->at[i].origin);
		fprintf(out, "%s=%s\n", list->at[i].name, list->at[i].value);
	}
}

enum davy_engine davy_output_engine(const struct davy_output_request *r)
{
	return r->engine ? r->engine : DAVY_ENGINE_LLAMA_SERVER;
}

void davy_output_environment(const struct davy_output_request *r, struct davy_output_settings *s,
			     struct davy_output_variables *ret_list,
			     struct davy_output_result *result)
{
	static char *const nothing[] = { NULL };
	const enum davy_engine engine = davy_output_engine(r);
	const struct davy_engine_look look = { .argv = nothing, .exe = "", .parent = "" };

	davy_output_settle(r, engine, engine, r->model_count ? &r->models[0] : NULL, s);
	s->facts.engine = engine;
	davy_output_variables(&s->effective, &look, &s->facts, r->subject.available, ret_list,
			      result);
}

static int env_write(const struct davy_output_request *r, FILE *out,
		     struct davy_output_result *result)
{
	struct davy_output_variables list = { 0 };
	struct davy_output_settings s;

	davy_output_environment(r, &s, &list, result);
	fprintf(out, "# EnvironmentFile= of a unit that runs %s.\n",
		davy_engine_name(davy_output_engine(r)));
	davy_output_variables_write(&list, out);
	return r->model_count > 1 ? davy_output_refuse(result, "a unit has one environment for all "
							       "its models: one --model at most")
				  : 0;
}

const struct davy_output_format davy_output_env = {
	.name = "env",
	.what = "environment file of a unit",
	.write = env_write,
};
