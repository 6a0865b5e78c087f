/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "../lib/text.h"
#include "plan_text.h"

static const char *const unit_names[] = {
	[DL_UNIT_COUNT] = "count",
	[DL_UNIT_MS] = "ms",
	[DL_UNIT_NS] = "ns",
	[DL_UNIT_BYTES] = "bytes",
	[DL_UNIT_PERMILLE] = "permille",
	[DL_UNIT_HTTP] = "http_status",
	[DL_UNIT_STATUS] = "wait_status",
	[DL_UNIT_MODE] = "mode",
};

static void add_text(json_t *o, const char *key, const char *value)
{
	char safe[512];

	if (value[0])
		json_object_set_new(o, key, json_string(dl_text_safe(safe, sizeof(safe), value)));
}

static void add_number(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *evidence(const struct dl_plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->evidence_count && i < DL_PLAN_EVIDENCE; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:i}", "event",
						      dl_event_kind_name(p->evidence[i].kind),
						      "at_ns", (json_int_t)p->evidence[i].at_ns,
						      "count", (int)p->evidence[i].count));
	return list;
}

static void add_subject(json_t *o, const struct dl_plan *p)
{
	add_number(o, "pid", p->pid);
	add_number(o, "workload", p->workload);
	add_text(o, "comm", p->comm);
	add_text(o, "device", p->device);
	add_text(o, "ring", p->ring);
	if (p->engine != DL_ENGINE_NONE)
		add_text(o, "engine", dl_engine_name(p->engine));
	if (p->backend != DL_BACKEND_UNKNOWN)
		add_text(o, "backend", dl_backend_name(p->backend));
	add_text(o, "model", p->model);
	add_number(o, "port", p->port);
	add_number(o, "victim_pid", p->victim_pid);
}

static void add_observation(json_t *o, const struct dl_plan *p)
{
	char because[320];

	dl_because_text(p, because, sizeof(because));
	json_object_set_new(o, "level", json_integer(p->level));
	json_object_set_new(o, "observed", json_integer((json_int_t)p->observed));
	json_object_set_new(o, "threshold", json_integer((json_int_t)p->threshold));
	json_object_set_new(o, "unit", json_string(unit_names[p->unit]));
	add_number(o, "health_status", p->health_status);
	add_number(o, "completion_status", p->completion_status);
	add_text(o, "because", because);
	json_object_set_new(o, "first_sign_ns", json_integer((json_int_t)p->first_sign_ns));
	json_object_set_new(o, "evidence", evidence(p));
}

static void add_ending(json_t *o, const struct dl_plan *p)
{
	if (p->rung == DL_RUNG_BREAKER) {
		add_text(o, "state", dl_breaker_state_name(p->breaker_state));
		add_number(o, "open_count", p->open_count);
	}
	if (p->rung == DL_RUNG_OUTCOME) {
		add_text(o, "ended", dl_rung_name(p->level));
		json_object_set_new(o, "result", json_integer(p->result));
		add_number(o, "stopped_ns", p->stopped_ns);
	}
	add_number(o, "until_ns", p->until_ns);
}

char *dl_plan_json(const struct dl_plan *p)
{
	json_t *o = json_pack("{s:s, s:I, s:i, s:s, s:s}", "type", "decision", "at_ns",
			      (json_int_t)p->at_ns, "id", (int)p->id, "rung", dl_rung_name(p->rung),
			      "hazard", dl_hazard_name(p->hazard));
	char *text;

	if (!o)
		return NULL;
	if (p->rung == DL_RUNG_RESTART || p->rung == DL_RUNG_MIGRATE_CPU) {
		add_text(o, "verdict", dl_verdict_name(p->verdict));
		add_text(o, "refusal", dl_refusal_name(p->refusal));
	}
	add_subject(o, p);
	if (p->rung != DL_RUNG_OUTCOME)
		add_observation(o, p);
	else
		json_object_set_new(o, "first_sign_ns", json_integer((json_int_t)p->first_sign_ns));
	add_ending(o, p);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}
