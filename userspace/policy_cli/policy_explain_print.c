/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "report/policy_json.h"
#include "store/config_value.h"
#include "policy_cli/policy_explain.h"

#define SHOWN 768 /* of a rule's text, after sanitizing */

static const char *policy_explain_print_said(const struct davy_policy_origin *o, uint32_t text,
					     char buf[SHOWN])
{
	return davy_text_shown(buf, SHOWN, davy_policy_text(o->layer, text));
}

static void policy_explain_print_origin(const struct davy_policy_origin *o)
{
	const struct davy_rule *r = o->rule;
	char path[SHOWN], reason[SHOWN], source[SHOWN];

	printf("      %s, %s:%u, rule %s%s\n", davy_layer_name((enum davy_layer)o->layer->layer),
	       davy_text_shown(path, sizeof(path), o->layer->path), o->line, r->name,
	       o->pinned ? ", pinned" : "");
	if (r->reason)
		printf("      because %s\n", policy_explain_print_said(o, r->reason, reason));
	if (r->source || r->date)
		printf("      %s%s%s\n", policy_explain_print_said(o, r->source, source),
		       r->source && r->date ? ", " : "", davy_policy_text(o->layer, r->date));
}

static void policy_explain_print_value(const char *key, const struct davy_policy_value *v)
{
	char text[SHOWN];

	if (!v->origin.rule)
		return;
	printf("  %s%s%s = %s\n", key, v->name ? " " : "", v->name ? v->name : "",
	       davy_text_shown(text, sizeof(text), v->text));
	policy_explain_print_origin(&v->origin);
}

static void print_fact(const char *before, const char *fact)
{
	char text[4 * sizeof(((struct davy_policy_subject *)0)->firmware)];

	if (fact[0])
		printf("%s%s", before, davy_text_shown(text, sizeof(text), fact));
}

/* "0000:03:00.0: amdgpu, amd, igpu, gfx1151, 40 compute units, mes 0x83, Linux 7.0.0" */
static void print_subject(const struct davy_policy_subject *s)
{
	printf("%s:", s->device[0] ? s->device : "a GPU");
	print_fact(" ", s->driver);
	print_fact(", ", s->vendor);
	print_fact(", ", s->kind);
	print_fact(", ", s->gfx);
	print_fact(", ", s->generation);
	if (s->compute_units)
		printf(", %u compute units", s->compute_units);
	print_fact(", ", s->firmware);
	print_fact(", Linux ", s->kernel);
	putchar('\n');
}

static void print_lockup(uint64_t timeout_ns)
{
	char text[DAVY_CONFIG_VALUE_LEN];

	davy_config_value_text(DAVY_UNIT_MS, (int64_t)(timeout_ns / DAVY_NS_PER_MS), text);
	printf(", lockup timeout of its jobs %s", text);
}

static void print_backend(const struct davy_policy_subject *s, const struct davy_effective *e)
{
	if (e->none_left)
		printf("none of the allowed backends is available");
	else if (e->backend == DAVY_BACKEND_UNKNOWN)
		printf("no rule selects a backend");
	else
		printf("%s%s", davy_backend_name(e->backend),
		       e->against ? ", against the rules" : "");
	if (!e->none_left && s->lockup_ns[e->backend] == DAVY_LOCKUP_NEVER)
		printf(", no lockup timeout for its jobs");
	else if (!e->none_left && s->lockup_ns[e->backend])
		print_lockup(s->lockup_ns[e->backend]);
	putchar('\n');
}

void davy_policy_print(const struct davy_policy_subject *s, const struct davy_effective *e)
{
	char model[4 * DAVY_MODEL_LEN];

	print_subject(s);
	printf("  %s%s%s: ", s->engine ? davy_engine_name(s->engine) : "any engine",
	       s->model[0] ? " with " : "", davy_text_shown(model, sizeof(model), s->model));
	print_backend(s, e);
	for (uint32_t i = 0; i < DAVY_POLICY_ENVIRONMENT; i++)
		policy_explain_print_value(davy_policy_key_name(i), &e->value[i]);
	for (size_t i = 0; i < e->environment_count; i++)
		policy_explain_print_value("environment", &e->environment[i]);
	for (size_t i = 0; i < e->argument_count; i++)
		policy_explain_print_value("argument", &e->argument[i]);
	if (e->left_out)
		printf("  %u more are not shown: the table is full\n", e->left_out);
}

void davy_policy_print_json(const struct davy_policy_subject *s, const struct davy_effective *e)
{
	json_t *o = davy_policy_json(s, e);

	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}
