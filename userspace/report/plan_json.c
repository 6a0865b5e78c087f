/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "lib/json_text.h"
#include "lib/text.h"
#include "report/plan_text.h"

static const char *const unit_names[] = {
	[DAVY_UNIT_COUNT] = "count",
	[DAVY_UNIT_MS] = "ms",
	[DAVY_UNIT_NS] = "ns",
	[DAVY_UNIT_BYTES] = "bytes",
	[DAVY_UNIT_PERMILLE] = "permille",
	[DAVY_UNIT_HTTP] = "http_status",
	[DAVY_UNIT_STATUS] = "wait_status",
	[DAVY_UNIT_MODE] = "mode",
};

static void add_text(json_t *o, const char *key, const char *value)
{
	char safe[512];

	if (value[0])
		json_object_set_new(o, key,
				    json_string(davy_text_shown(safe, sizeof(safe), value)));
}

static void plan_json_add_number(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *evidence(const struct davy_plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->evidence_count && i < DAVY_PLAN_EVIDENCE; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:i}", "event",
						      davy_event_kind_name(p->evidence[i].kind),
						      "at_ns", (json_int_t)p->evidence[i].at_ns,
						      "count", (int)p->evidence[i].count));
	return list;
}

static json_t *usages(const struct davy_plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->usage_count && i < DAVY_PLAN_USAGES; i++)
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:i, s:i}", "pid", (json_int_t)p->usages[i].pid,
					"memory", (json_int_t)p->usages[i].memory_bytes,
					"memory_permille", p->usages[i].memory_permille,
					"engine_permille", p->usages[i].engine_permille));
	return list;
}

static void add_subject(json_t *o, const struct davy_plan *p)
{
	plan_json_add_number(o, "pid", p->pid);
	plan_json_add_number(o, "workload", p->workload);
	add_text(o, "comm", p->comm);
	add_text(o, "device", p->device);
	add_text(o, p->heap ? "heap" : "ring", p->ring);
	if (p->engine != DAVY_ENGINE_NONE)
		add_text(o, "engine", davy_engine_name(p->engine));
	if (p->backend != DAVY_BACKEND_UNKNOWN)
		add_text(o, "backend", davy_backend_name(p->backend));
	add_text(o, "model", p->model);
	plan_json_add_number(o, "port", p->port);
	plan_json_add_number(o, "victim_pid", p->victim_pid);
	plan_json_add_number(o, "culprit_pid", p->culprit_pid);
	if (p->usage_count)
		json_object_set_new(o, "shares", usages(p));
}

static void add_observation(json_t *o, const struct davy_plan *p)
{
	char reason[320];

	davy_reason_text(p, reason, sizeof(reason));
	/* This name carries the number of the undone action for readers of decisions. */
	json_object_set_new(o, "level", json_integer(p->undone ? p->undone : p->level));
	json_object_set_new(o, "observed", json_integer((json_int_t)p->observed));
	json_object_set_new(o, "threshold", json_integer((json_int_t)p->threshold));
	json_object_set_new(o, "unit", json_string(unit_names[p->unit]));
	plan_json_add_number(o, "health_status", p->health_status);
	plan_json_add_number(o, "completion_status", p->completion_status);
	plan_json_add_number(o, "rate", p->rate);
	plan_json_add_number(o, "ubatch", p->ubatch);
	plan_json_add_number(o, "fitting_ubatch", p->fitting_ubatch);
	plan_json_add_number(o, "predicted_depth", p->predicted_depth);
	plan_json_add_number(o, "price_ms", p->price_ms);
	plan_json_add_number(o, "harm_ms", p->harm_ms);
	add_text(o, "because", reason);
	json_object_set_new(o, "first_sign_ns", json_integer((json_int_t)p->first_precursor_ns));
	json_object_set_new(o, "evidence", evidence(p));
}

/* What the action does, if it has a measure. */
static void add_deed(json_t *o, const struct davy_plan *p)
{
	json_t *settings = json_object();

	if (p->action == DAVY_ACTION_UNDO)
		add_text(o, "undoes", davy_action_name(p->undone));
	if (p->passed_action != DAVY_ACTION_NONE) {
		add_text(o, "passed", davy_action_name(p->passed_action));
		add_text(o, "passed_because", davy_refusal_name(p->passed_refusal));
	}
	plan_json_add_number(o, "lease_ns", p->lease_ns);
	plan_json_add_number(o, "on_permille", p->on_permille);
	plan_json_add_number(o, "cap_bytes", p->cap_bytes);
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (i != DAVY_TUNER_CACHE_TYPE)
			plan_json_add_number(settings, davy_start_setting_name(i),
					     davy_start_setting_get(&p->settings, i));
	add_text(settings, "cache_type", davy_cache_name(p->settings.cache_type));
	if (json_object_size(settings))
		json_object_set(o, "knobs", settings);
	json_decref(settings);
	if (p->tuning.why != DAVY_TUNER_AS_CONFIGURED)
		add_text(o, "tuning", davy_tuner_why_name(p->tuning.why));
	if (p->to_backend != DAVY_BACKEND_UNKNOWN)
		add_text(o, "to_backend", davy_backend_name(p->to_backend));
	if (p->keeps)
		json_object_set_new(o, "keeps", json_true());
}

static void add_failure(json_t *o, const struct davy_plan *p)
{
	char reason[320];

	davy_reason_text(p, reason, sizeof(reason));
	add_text(o, "class", davy_log_class_name(p->failure_class));
	json_object_set_new(o, "foreseen", json_boolean(p->hazard != DAVY_HZ_NONE));
	if (p->hazard != DAVY_HZ_NONE)
		json_object_set_new(o, "lead_ns", json_integer((json_int_t)p->lead_time_ns));
	add_text(o, "because", reason);
	json_object_set_new(o, "first_sign_ns", json_integer((json_int_t)p->first_precursor_ns));
	json_object_set_new(o, "evidence", evidence(p));
}

static void add_ending(json_t *o, const struct davy_plan *p)
{
	if (p->kind == DAVY_PLAN_BREAKER) {
		add_text(o, "state", davy_breaker_state_name(p->breaker_state));
		plan_json_add_number(o, "open_count", p->open_count);
	}
	if (p->kind == DAVY_PLAN_OUTCOME) {
		add_text(o, "ended", davy_action_name(p->action));
		json_object_set_new(o, "result", json_integer(p->result));
		plan_json_add_number(o, "stopped_ns", p->stopped_ns);
	}
	plan_json_add_number(o, "until_ns", p->until_ns);
	if (p->kind == DAVY_PLAN_NOTE)
		plan_json_add_number(o, "probability_permille", p->probability_permille);
}

char *davy_plan_json(const struct davy_plan *p)
{
	json_t *o = json_pack("{s:s, s:I, s:I, s:s, s:s}", "type", "decision", "at_ns",
			      (json_int_t)p->at_ns, "id", (json_int_t)p->id, "rung",
			      davy_plan_name(p), "hazard", davy_hazard_name(p->hazard));
	char *text;

	if (!o)
		return NULL;
	if (p->kind == DAVY_PLAN_ACTION) {
		add_text(o, "verdict", davy_verdict_name(p->verdict));
		add_text(o, "refusal", davy_refusal_name(p->refusal));
		add_deed(o, p);
	}
	add_subject(o, p);
	if (p->kind == DAVY_PLAN_FAILURE)
		add_failure(o, p);
	else if (p->kind != DAVY_PLAN_OUTCOME)
		add_observation(o, p);
	else
		json_object_set_new(o, "first_sign_ns",
				    json_integer((json_int_t)p->first_precursor_ns));
	add_ending(o, p);
	text = davy_json_text(o, JSON_COMPACT);
	json_decref(o);
	return text;
}
