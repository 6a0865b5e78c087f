/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The current state of the agent, as one message. */
#include "agent/control/control.h"

#include <time.h>

#include "agent/agent.h"

#include "report/foresight_text.h"
#include "report/process_json.h"
#include "sensors/source_order.h"

#include "lib/text.h"

static const char *const sensor_states[DAVY_SENSOR_STATE_COUNT] = {
	[DAVY_SENSOR_LIVE] = "live",	   [DAVY_SENSOR_ABSENT] = "absent",
	[DAVY_SENSOR_REFUSED] = "refused", [DAVY_SENSOR_RELEASED] = "released",
	[DAVY_SENSOR_LOST] = "lost",
};

static json_t *status_safe(const char *text)
{
	char buf[4 * DAVY_MODEL_LEN];

	return json_string(davy_text_shown(buf, sizeof(buf), text));
}

static json_t *sensor(const struct davy_ev_sensor *s)
{
	return json_pack("{s:s, s:s, s:I, s:s}", "name", s->name, "state", sensor_states[s->state],
			 "programs", (json_int_t)s->count, "reason", s->reason);
}

static json_t *sensors(const struct davy_agent *a)
{
	json_t *list = json_array();
	struct davy_ev_sensor s;

	for (size_t i = 0; a->bpf && davy_bpf_sensor(a->bpf, i, &s); i++)
		json_array_append_new(list, sensor(&s));
	davy_readers_sensor(a, &s);
	json_array_append_new(list, sensor(&s));
	if (a->kfd.state.name[0])
		json_array_append_new(list, sensor(&a->kfd.state));
	if (davy_agent_nvml_sensor(a, &s))
		json_array_append_new(list, sensor(&s));
	return list;
}

/* A message has a maximum size, and any user can start a hundred processes named like an engine. */
#define PROCESSES_BYTES ((size_t)40 * 1024)

static json_t *process(struct davy_agent *a, const struct davy_tracked *t)
{
	const struct davy_frozen *frozen = davy_agent_frozen(a, t->reported.workload);
	json_t *o = json_pack("{s:i, s:b, s:b}", "pid", (int)t->pid, "exceptions_seen",
			      t->cxx_attached, "graphs_seen", t->ggml_attached);

	if (a->bpf && davy_bpf_probe_lost(a->bpf, t->pid))
		json_object_set_new(o, "probes_lost", json_true());
	json_object_update_missing_new(o, davy_process_json(&t->reported));
	davy_view_process(a, t->pid, o);
	if (frozen)
		json_object_set_new(o, "runs_permille",
				    json_integer((json_int_t)frozen->order.on_permille));
	return o;
}

static bool computes(const struct davy_tracked *t)
{
	return t->reported.workload || t->reported.backend != DAVY_BACKEND_UNKNOWN;
}

/* Computing processes come first. Processes without room are counted. */
static json_t *processes(struct davy_agent *a, json_int_t *ret_unlisted)
{
	json_t *list = json_array();
	size_t used = 0;

	for (size_t i = 0; i < (size_t)2 * DAVY_TRACKED_MAX; i++) {
		const struct davy_tracked *t = &a->tracked[i % DAVY_TRACKED_MAX];
		json_t *o;

		if (!t->pid || t->reported.engine == DAVY_ENGINE_NONE ||
		    computes(t) != (i < DAVY_TRACKED_MAX))
			continue;
		o = process(a, t);
		used += json_dumpb(o, NULL, 0, JSON_COMPACT) + 1;
		if (used < PROCESSES_BYTES)
			json_array_append(list, o);
		else
			++*ret_unlisted;
		json_decref(o);
	}
	return list;
}

static json_t *breakers(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->learned.count; i++) {
		const struct davy_learned_entry *e = &a->learned.entry[i];

		json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:s, s:I, s:o}", "device",
						      status_safe(e->device), "backend",
						      davy_backend_name(e->backend), "model",
						      status_safe(e->model), "state",
						      davy_breaker_state_name(e->state), "until",
						      (json_int_t)e->until_s, "because",
						      status_safe(e->reason)));
	}
	return list;
}

/* Effects in force, and acts in progress. */
static json_t *status_in_force(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_IN_FORCE_MAX; i++) {
		const struct davy_intent *in = &a->in_force.open[i];

		if (in->action && !davy_intent_is_rule(in))
			json_array_append_new(
				list, json_pack("{s:I, s:s, s:I, s:i, s:I, s:I}", "intent",
						(json_int_t)in->id, "act",
						davy_action_name((enum davy_action)in->action),
						"workload", (json_int_t)in->workload, "pid",
						(int)in->pid, "begun_s", (json_int_t)in->begun_s,
						"until_ns", (json_int_t)in->lease_until_ns));
	}
	return list;
}

static json_t *status_sources(const struct davy_source_order *step)
{
	json_t *list = json_array();

	for (size_t i = 0; i < step->choice_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s}", "source",
						      step->choice[i].source, "hook",
						      step->choice[i].hook, "used", i == step->used,
						      "reason", step->choice[i].reason));
	return list;
}

static json_t *status_source_orders(const struct davy_agent *a)
{
	struct davy_ev_sensor nvml;
	struct davy_source_other others[] = { { .source = "kfd_smi",
						.hook = "/dev/kfd",
						.reason = a->kfd.state.reason,
						.used = a->kfd.watch_count > 0,
						.seen_count = a->kfd.said_count },
					      { .source = "nvml",
						.hook = DAVY_NVML_LIBRARY,
						.reason = nvml.reason,
						.seen_count = a->nvml.record_count } };
	json_t *list = json_array();
	struct davy_source_order step;

	davy_agent_nvml_sensor(a, &nvml);
	others[1].used = nvml.state == DAVY_SENSOR_LIVE;
	for (size_t i = 0; a->bpf && davy_source_order(a->bpf, others, 2, i, &step); i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "driver",
						step.driver, "fact", step.fact, "state",
						davy_source_state_name(step.state), "seen",
						(json_int_t)step.seen_count, "unseen",
						step.state == DAVY_SOURCE_OFF ? step.unseen : "",
						"sources", status_sources(&step)));
	return list;
}

static json_t *programs(const struct davy_agent *a)
{
	json_t *list = json_array();
	struct davy_program_state_view p;

	for (size_t i = 0; a->bpf && davy_bpf_program(a->bpf, i, &p); i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s}", "object", p.object,
						"program", p.program, "hook", p.hook, "state",
						p.state, "reason", p.reason));
	return list;
}

/* Losses of the shared tables since the agent's start. */
static json_t *crowding(const struct davy_agent *a)
{
	struct davy_bpf_probes probes = { 0 };

	if (a->bpf)
		davy_bpf_probes(a->bpf, &probes);
	return json_pack("{s:I, s:i, s:I, s:I, s:I, s:I}", "probes", (json_int_t)probes.used,
			 "probes_max", DAVY_PROBE_SLOTS, "probes_refused",
			 (json_int_t)probes.refused_count, "probes_evicted",
			 (json_int_t)probes.evicted_count, "processes_evicted",
			 (json_int_t)a->tracked_evicted, "world_evicted",
			 (json_int_t)a->core.world.evicted_count +
				 (json_int_t)a->core.world.memory.evicted_count);
}

/* Includes the counts of earlier starts. */
static json_t *all_time(const struct davy_agent *a)
{
	struct davy_counts counts = davy_agent_counts(a);
	json_t *o = davy_foresight_json(&counts.seen);

	json_object_set_new(o, "since", json_integer(counts.since_s));
	return o;
}

json_t *davy_agent_sensors(const struct davy_agent *a)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "op", "sensors", "source_orders",
			 status_source_orders(a), "programs", programs(a), "memory",
			 davy_agent_gpus_memory(a));
}

json_t *davy_agent_status(struct davy_agent *a)
{
	json_int_t unlisted = 0, alarms_unlisted = 0;
	json_t *list = processes(a, &unlisted);
	json_t *alarms = davy_view_alarms(a, &alarms_unlisted);

	return json_pack(
		"{s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o}",
		"op", "status", "mode",
		davy_mode_name((enum davy_mode)a->core.config.value[DAVY_CFG_MODE]), "policy_error",
		status_safe(a->policy_error), "events", (json_int_t)a->event_count, "dropped",
		(json_int_t)a->core.dropped_count, "sensors", sensors(a), "reader",
		davy_readers_status(a), "crowding", crowding(a), "processes", list,
		"processes_unlisted", unlisted, "breakers", breakers(a), "gpus",
		davy_agent_gpus_status(a), "in_force", status_in_force(a), "kfd",
		davy_agent_kfd_status(a), "foresight", davy_foresight_json(&a->core.foresight),
		"foresight_all_time", all_time(a), "connections", davy_links_status(a), "now_ns",
		(json_int_t)davy_boot_ns(), "wall_s", (json_int_t)time(NULL), "started_ns",
		(json_int_t)a->started_ns, "decisions", (json_int_t)a->recent.plan_count, "actions",
		davy_recent_actions(&a->recent), "alarms", alarms, "alarms_unlisted",
		alarms_unlisted, "workloads", davy_view_workloads(a), "vram",
		davy_agent_vram_status(a));
}
