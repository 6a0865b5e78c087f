/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment file of a unit: NAME=VALUE lines as systemd.exec(5) reads them. What is written
 * needs no quoting: what rules may say of a variable is letters, digits and some marks
 * (policy_words.c).
 */
#include <errno.h>
#include <string.h>

#include "engines/environment.h"
#include "output/settings.h"

static bool is_in(const struct dl_output_variables *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->at[i].name, name))
			return true;
	return false;
}

/* The first to say it counts: a rule's own words on a variable come after what follows from its
 * other values. */
static void add(struct dl_output_variables *list, const char *name, const char *value,
		const struct dl_policy_origin *origin)
{
	struct dl_output_pair *p = &list->at[list->count];

	if (list->count == DL_OUTPUT_VARIABLES_MAX || is_in(list, name))
		return;
	dl_copy_name(p->name, sizeof(p->name), name);
	dl_copy_name(p->value, sizeof(p->value), value);
	p->origin = origin;
	list->count++;
}

struct telling {
	const struct dl_effective *e;
	const struct dl_engine_look *look;
	struct dl_engine_facts facts;
	struct dl_output_variables *list;
	struct dl_output_result *result;
};

static void take(struct telling *t, int err, const struct dl_environment *e, const char *what,
		 const struct dl_policy_value *v)
{
	if (err)
		dl_output_note(t->result, "%s%s%s = %s: %s", what, v->name ? " " : "",
			       v->name ? v->name : "", v->text, e->why);
	for (size_t i = 0; !err && i < e->count; i++)
		add(t->list, e->at[i].name, e->at[i].value, &v->origin);
}

static void tell(struct telling *t, struct dl_engine_wish wish, enum dl_policy_key key)
{
	struct dl_environment e;
	int err = dl_engine_environment(t->look, &t->facts, &wish, &e);

	take(t, err, &e, dl_policy_key_name(key), &t->e->value[key]);
}

/* A wish at a time: what one cannot be told does not keep the others from being told. */
static void tell_knobs(struct telling *t, uint32_t available)
{
	enum dl_backend backend = dl_policy_backend(t->e, available);
	struct dl_knobs knobs;

	dl_policy_limits(t->e, &t->facts, &knobs);
	tell(t, (struct dl_engine_wish){ .backend = backend }, DL_POLICY_BACKENDS);
	tell(t, (struct dl_engine_wish){ .knobs = { .ubatch = knobs.ubatch } }, DL_POLICY_UBATCH);
	tell(t, (struct dl_engine_wish){ .knobs = { .parallel = knobs.parallel } },
	     DL_POLICY_PARALLEL);
	if (knobs.parallel)
		t->facts.parallel =
			knobs.parallel; /* an engine whose context is one slot's divides by it */
	tell(t, (struct dl_engine_wish){ .knobs = { .context = knobs.context } },
	     DL_POLICY_CONTEXT);
	if (backend != DL_BACKEND_CPU)
		tell(t,
		     (struct dl_engine_wish){ .knobs = { .gpu_layers_off = knobs.gpu_layers_off } },
		     DL_POLICY_GPU_LAYERS_OFF);
}

static bool has_variable(const struct dl_engine_look *look, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; look->envp && look->envp[i]; i++)
		if (!strncmp(look->envp[i], name, len) && look->envp[i][len] == '=')
			return true;
	return false;
}

void dl_output_variables(const struct dl_effective *effective, const struct dl_engine_look *look,
			 const struct dl_engine_facts *facts, uint32_t available,
			 struct dl_output_variables *ret_variables, struct dl_output_result *result)
{
	struct telling t = { effective, look, *facts, ret_variables, result };
	const struct dl_policy_value *cache = &effective->value[DL_POLICY_CACHE_TYPE];
	struct dl_environment e = { 0 };

	ret_variables->count = 0;
	tell_knobs(&t, available);
	if (cache->number)
		take(&t, dl_engine_environment_cache(look, facts, cache->text, &e), &e,
		     "cache_type", cache);
	for (size_t i = 0; i < effective->environment_count; i++) {
		const struct dl_policy_value *v = &effective->environment[i];

		if (!has_variable(look, v->name))
			add(ret_variables, v->name, v->text, &v->origin);
	}
	for (size_t i = 0; i < effective->argument_count; i++) {
		const struct dl_policy_value *v = &effective->argument[i];

		memset(&e, 0, sizeof(e));
		take(&t, dl_engine_environment_argument(look, facts, v->name, v->text, &e), &e,
		     "argument", v);
	}
}

void dl_output_variables_write(const struct dl_output_variables *list, FILE *out)
{
	for (size_t i = 0; i < list->count; i++) {
		dl_output_origin(out, list->at[i].name, list->at[i].origin);
		fprintf(out, "%s=%s\n", list->at[i].name, list->at[i].value);
	}
}

static int write_env(const struct dl_output_request *r, FILE *out, struct dl_output_result *result)
{
	static char *const nothing[] = { NULL };
	const enum dl_engine engine = r->engine ? r->engine : DL_ENGINE_LLAMA_SERVER;
	const struct dl_engine_look look = { .argv = nothing, .exe = "", .parent = "" };
	struct dl_output_variables list = { 0 };
	struct dl_output_settings s;

	dl_output_settle(r, engine, engine, r->model_count ? &r->models[0] : NULL, &s);
	s.facts.engine = engine;
	dl_output_variables(&s.effective, &look, &s.facts, r->subject.available, &list, result);
	fprintf(out, "# EnvironmentFile= of a unit that runs %s.\n", dl_engine_name(engine));
	dl_output_variables_write(&list, out);
	return r->model_count > 1 ? dl_output_refuse(result, "a unit has one environment for all "
							     "its models: one --model at most")
				  : 0;
}

const struct dl_output_format dl_output_env = {
	.name = "env",
	.what = "environment file of a unit",
	.write = write_env,
};
