/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/policy_json.h"

#include "lib/text.h"

#define SHOWN 768 /* of a sanitized text of a rule */

static void policy_json_set_text(json_t *o, const char *key, const char *text)
{
	char safe[SHOWN];

	if (text[0])
		json_object_set_new(o, key, json_string(davy_text_shown(safe, sizeof(safe), text)));
}

static void add_value(json_t *list, const char *key, const struct davy_policy_value *v)
{
	const struct davy_policy_origin *at = &v->origin;
	char text[SHOWN];
	json_t *o;

	if (!at->rule)
		return;
	o = json_pack("{s:s, s:s, s:s, s:i, s:s, s:b}", "key", key, "value",
		      davy_text_shown(text, sizeof(text), v->text), "layer",
		      davy_layer_name((enum davy_layer)at->layer->layer), "line", (int)at->line,
		      "rule", at->rule->name, "pinned", at->pinned);
	if (v->name)
		policy_json_set_text(o, "name", v->name);
	policy_json_set_text(o, "file", at->layer->path);
	policy_json_set_text(o, "because", davy_policy_text(at->layer, at->rule->reason));
	policy_json_set_text(o, "source", davy_policy_text(at->layer, at->rule->source));
	policy_json_set_text(o, "date", davy_policy_text(at->layer, at->rule->date));
	json_array_append_new(list, o);
}

static json_t *values_of(const struct davy_effective *e)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < DAVY_POLICY_ENVIRONMENT; i++)
		add_value(list, davy_policy_key_name(i), &e->value[i]);
	for (size_t i = 0; i < e->environment_count; i++)
		add_value(list, "environment", &e->environment[i]);
	for (size_t i = 0; i < e->argument_count; i++)
		add_value(list, "argument", &e->argument[i]);
	return list;
}

static void set_facts(json_t *o, const struct davy_policy_subject *s)
{
	policy_json_set_text(o, "device", s->device);
	policy_json_set_text(o, "driver", s->driver);
	policy_json_set_text(o, "vendor", s->vendor);
	policy_json_set_text(o, "kind", s->kind);
	policy_json_set_text(o, "pci", s->pci);
	policy_json_set_text(o, "gfx", s->gfx);
	policy_json_set_text(o, "generation", s->generation);
	policy_json_set_text(o, "firmware", s->firmware);
	policy_json_set_text(o, "kernel", s->kernel);
	if (s->compute_units)
		json_object_set_new(o, "compute_units", json_integer((json_int_t)s->compute_units));
	if (s->engine)
		policy_json_set_text(o, "engine", davy_engine_name(s->engine));
	policy_json_set_text(o, "model", s->model);
}

json_t *davy_policy_json(const struct davy_policy_subject *s, const struct davy_effective *e)
{
	json_t *o = json_object(), *backends = json_array();

	set_facts(o, s);
	for (size_t i = 0; i < e->backend_count; i++)
		json_array_append_new(backends, json_string(davy_backend_name(e->backends[i])));
	json_object_set_new(o, "backend", json_string(davy_backend_name(e->backend)));
	json_object_set_new(o, "backends", backends);
	json_object_set_new(o, "against", json_boolean(e->against));
	json_object_set_new(o, "none_left", json_boolean(e->none_left));
	json_object_set_new(o, "values", values_of(e));
	return o;
}
