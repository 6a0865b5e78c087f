/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>

#include "lib/text.h"
#include "doctor/next.h"
#include "doctor/print.h"

static void print_json_put(FILE *to, json_t *object)
{
	if (object)
		json_dumpf(object, to, JSON_COMPACT);
	fputc('\n', to);
	json_decref(object);
}

static json_t *backend_list(uint32_t bits)
{
	json_t *list = json_array();

	for (int b = 0; b < DAVY_BACKEND_COUNT; b++)
		if (bits & 1u << b)
			json_array_append_new(list,
					      json_string(davy_backend_name((enum davy_backend)b)));
	return list;
}

static void put_finding(FILE *to, const struct davy_finding *f)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s}", "type", "finding",
			      "check", f->check->id, "title", f->check->title, "layer",
			      davy_doctor_layer_name(f->check->layer), "verdict",
			      davy_diagnosis_name(f->verdict), "about", f->about, "backends",
			      backend_list(f->backends), "evidence", f->evidence);

	if (f->fix[0])
		json_object_set_new(o, "fix", json_string(f->fix));
	if (f->verify[0])
		json_object_set_new(o, "verify", json_string(f->verify));
	print_json_put(to, o);
}

static json_t *cause_list(const struct davy_conclusion *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->cause_count; i++) {
		const struct davy_cause *cause = &c->cause[i];
		const struct davy_finding *f = cause->finding;

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:I}", "check",
						      f->check->id, "layer",
						      davy_doctor_layer_name(f->check->layer),
						      "about", f->about, "evidence", f->evidence,
						      "backends", backend_list(cause->backends),
						      "findings", (json_int_t)cause->count));
	}
	return list;
}

static json_t *healthy_list(const struct davy_conclusion *c)
{
	json_t *list = json_array();

	for (int layer = 0; layer < DAVY_DOCTOR_LAYERS; layer++)
		if (c->healthy & 1u << layer)
			json_array_append_new(list, json_string(davy_doctor_layer_name(
							    (enum davy_doctor_layer)layer)));
	return list;
}

static json_t *policy_object(const struct davy_doctor_facts *facts, const struct davy_conclusion *c)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < c->policy_count; i++)
		json_array_append_new(list, json_string(davy_backend_name(c->policy[i])));
	o = json_pack("{s:o}", "backends", list);
	if (c->gpu)
		json_object_set_new(o, "device", json_string(c->gpu->device));
	if (c->vendor)
		json_object_set_new(o, "vendor", json_string(c->vendor));
	if (facts->engine.name[0])
		json_object_set_new(o, "engine", json_string(facts->engine.name));
	return o;
}

static json_t *host_object(const struct davy_doctor_facts *facts)
{
	char user[128], unit[160], path[512];
	json_t *o =
		json_pack("{s:s, s:s, s:s, s:I, s:I}", "type", "host", "kernel", facts->kernel,
			  "user", davy_text_safe(user, sizeof(user), facts->service.user), "uid",
			  (json_int_t)facts->service.uid, "gpus", (json_int_t)facts->gpu_count);

	if (facts->service.unit[0])
		json_object_set_new(
			o, "unit",
			json_string(davy_text_safe(unit, sizeof(unit), facts->service.unit)));
	if (facts->engine.path[0])
		json_object_set_new(
			o, "engine",
			json_string(davy_text_safe(path, sizeof(path), facts->engine.path)));
	return o;
}

void davy_doctor_print_json(FILE *to, const struct davy_doctor_facts *facts,
			    const struct davy_findings *findings,
			    const struct davy_conclusion *conclusion)
{
	const struct davy_conclusion *c = conclusion;
	struct davy_next next = { 0 };
	json_t *o;

	davy_doctor_next(facts, &next);
	print_json_put(to, host_object(facts));
	for (size_t i = 0; i < findings->count; i++)
		put_finding(to, &findings->at[i]);
	o = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:I, s:s}", "type", "conclusion",
		      "kind", davy_conclusion_name(c->kind), "worst",
		      davy_diagnosis_name(davy_findings_worst(findings)), "causes", cause_list(c),
		      "healthy", healthy_list(c), "usable", backend_list(c->usable), "broken",
		      backend_list(c->broken), "proven", c->proven, "left_out",
		      (json_int_t)findings->left_out, "text", c->text);
	json_object_set_new(o, "next", json_string(next.command));
	json_object_set_new(o, "exit", json_integer(davy_doctor_exit(findings, c)));
	json_object_set_new(o, "policy", c->policy_count ? policy_object(facts, c) : json_null());
	print_json_put(to, o);
}
