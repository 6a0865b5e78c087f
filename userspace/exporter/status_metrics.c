/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's status as samples. No label has a pid, a path, a model or a text of a user. */
#include <string.h>

#include "core/event/log_kind.h"
#include "core/event/plan.h"
#include "exporter/metrics.h"
#include "lib/message.h"
#include "verb/verb.h"

#define OTHER "other" /* a name that this version does not know */

static json_int_t status_metrics_number(const json_t *o, const char *key)
{
	return davy_message_number(o, key, -1); /* -1: no sample */
}

/* -1: no sample. The difference of two valid numbers cannot overflow. */
static json_int_t status_metrics_difference(json_int_t whole, json_int_t part)
{
	return whole < 0 || part < 0 ? -1 : whole - part;
}

static const char *status_metrics_hazard(const json_t *o)
{
	const char *name = davy_message_text(o, "hazard");
	bool known =
		!strcmp(name, davy_hazard_name(DAVY_HZ_NONE)) || davy_hazard_from_name(name) > 0;

	return known ? name : OTHER;
}

static const char *status_metrics_action(const json_t *o)
{
	const char *name = davy_message_text(o, "act");

	return davy_action_from_name(name) > 0 ? name : OTHER;
}

static const char *status_metrics_engine(const json_t *o)
{
	const char *name = davy_message_text(o, "engine");

	for (uint32_t i = 0; i < DAVY_ENGINE_COUNT; i++)
		if (!strcmp(name, davy_engine_name((enum davy_engine)i)))
			return name;
	return OTHER;
}

static const char *status_metrics_backend(const json_t *o)
{
	const char *name = davy_message_text(o, "backend");

	return davy_backend_from_name(name) < 0 ? OTHER : name;
}

static const char *status_metrics_workload(const json_t *o, char buf[24])
{
	snprintf(buf, 24, "%lld", (long long)davy_message_number(o, "workload", 0));
	return buf;
}

static void status_metrics_agent(struct davy_metrics *m, const json_t *status)
{
	const json_t *reader = json_object_get(status, "reader");
	const json_t *crowding = json_object_get(status, "crowding");
	const char *mode = davy_message_text(status, "mode");

	for (int i = 0; i < DAVY_MODE_COUNT; i++)
		davy_metrics_add(m, DAVY_METRIC_MODE,
				 !strcmp(mode, davy_mode_name((enum davy_mode)i)),
				 DAVY_LABELS("mode", davy_mode_name((enum davy_mode)i)));
	davy_metrics_add(m, DAVY_METRIC_UPTIME,
			 status_metrics_difference(status_metrics_number(status, "now_ns"),
						   status_metrics_number(status, "started_ns")),
			 DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_EVENTS, status_metrics_number(status, "events"),
			 DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_DROPPED, status_metrics_number(status, "dropped"),
			 DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_DECISIONS, status_metrics_number(status, "decisions"),
			 DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_POLICY_INVALID,
			 *davy_message_text(status, "policy_error") != 0, DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_READERS, status_metrics_number(reader, "live"),
			 DAVY_LABELS("state", "live"));
	davy_metrics_add(m, DAVY_METRIC_READERS, status_metrics_number(reader, "stuck"),
			 DAVY_LABELS("state", "stuck"));
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_WAITING,
			 status_metrics_number(reader, "waiting"), DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_LOST, status_metrics_number(reader, "lost"),
			 DAVY_LABELS("reason", "reader"));
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_LOST, status_metrics_number(reader, "evicted"),
			 DAVY_LABELS("reason", "evicted"));
	davy_metrics_add(m, DAVY_METRIC_PROBES, status_metrics_number(crowding, "probes"),
			 DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_PROBES_LOST,
			 status_metrics_number(crowding, "probes_refused"),
			 DAVY_LABELS("reason", "refused"));
	davy_metrics_add(m, DAVY_METRIC_PROBES_LOST,
			 status_metrics_number(crowding, "probes_evicted"),
			 DAVY_LABELS("reason", "evicted"));
	davy_metrics_add(m, DAVY_METRIC_EVICTED,
			 status_metrics_number(crowding, "processes_evicted"),
			 DAVY_LABELS("table", "processes"));
	davy_metrics_add(m, DAVY_METRIC_EVICTED, status_metrics_number(crowding, "world_evicted"),
			 DAVY_LABELS("table", "world"));
}

static void status_metrics_clients(struct davy_metrics *m, const json_t *status)
{
	static const char *const kinds[] = { "root", "users" };
	static const char *const reasons[] = { "user_full", "users_full", "all_full", "silent" };
	static const char *const lists[] = { "processes", "alarms" };
	const json_t *c = json_object_get(status, "connections");
	char key[32];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		davy_metrics_add(m, DAVY_METRIC_CONNECTIONS, status_metrics_number(c, kinds[i]),
				 DAVY_LABELS("kind", kinds[i]));
	c = json_object_get(c, "refused");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		davy_metrics_add(m, DAVY_METRIC_CONNECTIONS_REFUSED,
				 status_metrics_number(c, reasons[i]),
				 DAVY_LABELS("reason", reasons[i]));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(key, sizeof(key), "%s_unlisted", lists[i]);
		davy_metrics_add(m, DAVY_METRIC_UNLISTED, status_metrics_number(status, key),
				 DAVY_LABELS("list", lists[i]));
	}
}

static void status_metrics_sensors(struct davy_metrics *m, const json_t *status)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(status, "sensors"), i, s)
		davy_metrics_max(m, DAVY_METRIC_SENSOR, 1,
				 DAVY_LABELS("sensor", davy_message_text(s, "name"), "state",
					     davy_message_text(s, "state")));
}

static void status_metrics_heaps(struct davy_metrics *m, const json_t *gpu, const char *device)
{
	static const char *const heaps[] = { "vram", "visible", "gtt", "host" };
	char key[32];

	for (size_t i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++) {
		json_int_t size, used;

		snprintf(key, sizeof(key), "%s_total", heaps[i]);
		size = davy_message_number(gpu, key, 0);
		if (size <= 0)
			continue;
		snprintf(key, sizeof(key), "%s_used", heaps[i]);
		used = strcmp(heaps[i], "host") != 0
			       ? status_metrics_number(gpu, key)
			       : status_metrics_difference(
					 size, status_metrics_number(gpu, "host_available"));
		davy_metrics_max(m, DAVY_METRIC_GPU_SIZE, size,
				 DAVY_LABELS("device", device, "heap", heaps[i]));
		davy_metrics_max(m, DAVY_METRIC_GPU_USED, used,
				 DAVY_LABELS("device", device, "heap", heaps[i]));
		snprintf(key, sizeof(key), "%s_full_in_ms", heaps[i]);
		davy_metrics_max(m, DAVY_METRIC_GPU_FULL, status_metrics_number(gpu, key),
				 DAVY_LABELS("device", device, "heap", heaps[i]));
	}
}

static void status_metrics_gpu(struct davy_metrics *m, const json_t *gpu)
{
	const char *device = davy_message_text(gpu, "device");
	const json_t *o;
	size_t i;

	davy_metrics_max(m, DAVY_METRIC_GPU, 1,
			 DAVY_LABELS("device", device, "driver", davy_message_text(gpu, "driver")));
	davy_metrics_max(m, DAVY_METRIC_GPU_READABLE,
			 json_is_true(json_object_get(gpu, "readable")),
			 DAVY_LABELS("device", device));
	status_metrics_heaps(m, gpu, device);
	davy_metrics_max(m, DAVY_METRIC_GPU_EVICTIONS, status_metrics_number(gpu, "evictions"),
			 DAVY_LABELS("device", device));
	davy_metrics_max(m, DAVY_METRIC_GPU_RESETS, status_metrics_number(gpu, "resets"),
			 DAVY_LABELS("device", device));
	davy_metrics_max(m, DAVY_METRIC_GPU_CLIENTS,
			 (json_int_t)json_array_size(json_object_get(gpu, "clients")),
			 DAVY_LABELS("device", device));
	davy_metrics_max(m, DAVY_METRIC_GPU_JOB_AGE, 0, DAVY_LABELS("device", device));
	json_array_foreach(json_object_get(gpu, "rings"), i, o)
		davy_metrics_max(m, DAVY_METRIC_GPU_JOB_AGE, status_metrics_number(o, "age_ns"),
				 DAVY_LABELS("device", device));
	davy_metrics_max(m, DAVY_METRIC_GPU_TEMPERATURE,
			 status_metrics_number(gpu, "temperature_c"),
			 DAVY_LABELS("device", device));
	davy_metrics_max(m, DAVY_METRIC_GPU_ECC, status_metrics_number(gpu, "ecc_uncorrected"),
			 DAVY_LABELS("device", device));
	json_array_foreach(json_object_get(gpu, "throttled_by"), i, o) if (json_is_string(o))
		davy_metrics_max(m, DAVY_METRIC_GPU_THROTTLED, 1,
				 DAVY_LABELS("device", device, "reason", json_string_value(o)));
}

static void status_metrics_gpus(struct davy_metrics *m, const json_t *status)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(status, "gpus"), i, o) status_metrics_gpu(m, o);
	json_array_foreach(json_object_get(json_object_get(status, "vram"), "cgroups"), i, o)
		davy_metrics_add(m, DAVY_METRIC_QUOTA_REFUSED, status_metrics_number(o, "refused"),
				 DAVY_LABELS("device", davy_message_text(o, "device")));
}

/* Memory of one process of a workload, on each GPU. */
static void status_metrics_memory(struct davy_metrics *m, const json_t *status, json_int_t pid,
				  const char *workload)
{
	const json_t *gpu, *c;
	size_t i, j;

	json_array_foreach(json_object_get(status, "gpus"), i, gpu)
	{
		const char *device = davy_message_text(gpu, "device");

		json_array_foreach(json_object_get(gpu, "clients"), j, c)
		{
			if (davy_message_number(c, "pid", 0) != pid)
				continue;
			davy_metrics_add(m, DAVY_METRIC_WORKLOAD_MEMORY,
					 status_metrics_number(c, "vram"),
					 DAVY_LABELS("workload", workload, "device", device, "heap",
						     "vram"));
			davy_metrics_add(
				m, DAVY_METRIC_WORKLOAD_MEMORY, status_metrics_number(c, "gtt"),
				DAVY_LABELS("workload", workload, "device", device, "heap", "gtt"));
		}
	}
}

/* The counters of a workload begin at 0 again when its process is replaced. */
static void status_metrics_process(struct davy_metrics *m, const json_t *status, const json_t *p)
{
	static const struct {
		enum davy_metric metric;
		const char *key;
	} counts[] = {
		{ DAVY_METRIC_GRAPHS, "graphs" },
		{ DAVY_METRIC_GRAPHS_FAILED, "failed_graphs" },
		{ DAVY_METRIC_PROMPT_TOKENS, "prompt_tokens" },
		{ DAVY_METRIC_GENERATED_TOKENS, "generated_tokens" },
		{ DAVY_METRIC_CONTEXT, "context" },
		{ DAVY_METRIC_DEPTH, "depth" },
	};
	char buf[24];
	const char *workload = status_metrics_workload(p, buf);

	davy_metrics_add(m, DAVY_METRIC_ENGINES, 1,
			 DAVY_LABELS("engine", status_metrics_engine(p), "backend",
				     status_metrics_backend(p)));
	if (davy_message_number(p, "workload", 0) <= 0)
		return;
	davy_metrics_max(m, DAVY_METRIC_WORKLOAD, 1,
			 DAVY_LABELS("workload", workload, "engine", status_metrics_engine(p),
				     "backend", status_metrics_backend(p), "device",
				     davy_message_text(p, "device")));
	davy_metrics_max(m, DAVY_METRIC_WORKLOAD_RUN, davy_message_number(p, "runs_permille", 1000),
			 DAVY_LABELS("workload", workload));
	status_metrics_memory(m, status, davy_message_number(p, "pid", 0), workload);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		davy_metrics_add(m, counts[i].metric, status_metrics_number(p, counts[i].key),
				 DAVY_LABELS("workload", workload));
}

static void status_metrics_workloads(struct davy_metrics *m, const json_t *status)
{
	const json_t *o, *effect;
	char buf[24];
	size_t i, j;

	json_array_foreach(json_object_get(status, "processes"), i, o)
		status_metrics_process(m, status, o);
	json_array_foreach(json_object_get(status, "workloads"), i, o)
	{
		const char *workload = status_metrics_workload(o, buf);

		davy_metrics_max(m, DAVY_METRIC_WORKLOAD_ADOPTED,
				 json_is_true(json_object_get(o, "adopted")),
				 DAVY_LABELS("workload", workload));
		json_array_foreach(json_object_get(o, "in_force"), j, effect) davy_metrics_add(
			m, DAVY_METRIC_WORKLOAD_ACTION, 1,
			DAVY_LABELS("workload", workload, "action", status_metrics_action(effect),
				    "hazard", status_metrics_hazard(effect)));
	}
}

static void status_metrics_alarms(struct davy_metrics *m, const json_t *status)
{
	static const char *const levels[] = { "1", "2", "3" };
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(status, "alarms"), i, o)
	{
		json_int_t level = davy_message_number(o, "level", 0);

		if (level >= 1 && level <= 3)
			davy_metrics_add(m, DAVY_METRIC_ALARMS, 1,
					 DAVY_LABELS("hazard", status_metrics_hazard(o), "level",
						     levels[level - 1], "device",
						     davy_message_text(o, "device")));
	}
	json_array_foreach(json_object_get(status, "breakers"), i, o) davy_metrics_add(
		m, DAVY_METRIC_BREAKERS, 1,
		DAVY_LABELS("device", davy_message_text(o, "device"), "backend",
			    status_metrics_backend(o), "state", davy_message_text(o, "state")));
}

/* Every known name has a sample from the start: increase() ignores the first one of a series. */
static void status_metrics_foresight(struct davy_metrics *m, const json_t *status)
{
	static const char *const results[] = { "confirmed", "averted", "late", "false_alarms" };
	const json_t *f = json_object_get(status, "foresight");
	const json_t *classes = json_object_get(f, "classes"),
		     *hazards = json_object_get(f, "hazards");

	for (uint32_t i = DAVY_CLASS_NONE + 1; i < DAVY_CLASS_COUNT; i++) {
		const char *name = davy_log_class_name(i);
		const json_t *o = json_object_get(classes, name);

		davy_metrics_add(m, DAVY_METRIC_FAILURES, davy_message_number(o, "failures", 0),
				 DAVY_LABELS("class", name));
		davy_metrics_add(m, DAVY_METRIC_FAILURES_MISSED,
				 davy_message_number(o, "missed", 0), DAVY_LABELS("class", name));
	}
	for (uint32_t i = DAVY_HZ_NONE + 1; i < DAVY_HZ_COUNT; i++) {
		const char *name = davy_hazard_name((enum davy_hazard)i);
		const json_t *o = json_object_get(hazards, name);

		davy_metrics_add(m, DAVY_METRIC_PREDICTIONS, davy_message_number(o, "signs", 0),
				 DAVY_LABELS("hazard", name));
		for (size_t j = 0; j < sizeof(results) / sizeof(results[0]); j++)
			davy_metrics_add(m, DAVY_METRIC_PREDICTIONS_ENDED,
					 davy_message_number(o, results[j], 0),
					 DAVY_LABELS("hazard", name, "result", results[j]));
	}
}

static void status_metrics_actions(struct davy_metrics *m, const json_t *status)
{
	static const char *const outcomes[] = { "done", "failed" };

	for (uint32_t i = DAVY_ACTION_NONE + 1; i < DAVY_ACTION_COUNT; i++) {
		const char *name = davy_action_name((enum davy_action)i);
		const json_t *o = json_object_get(json_object_get(status, "actions"), name);

		if (!davy_action_known(i))
			continue;
		for (uint32_t v = 0; v < DAVY_VERDICT_COUNT; v++) {
			const char *verdict = davy_verdict_name((enum davy_verdict)v);

			davy_metrics_add(m, DAVY_METRIC_ACTIONS, davy_message_number(o, verdict, 0),
					 DAVY_LABELS("action", name, "verdict", verdict));
		}
		for (size_t j = 0; j < sizeof(outcomes) / sizeof(outcomes[0]); j++)
			davy_metrics_add(m, DAVY_METRIC_OUTCOMES,
					 davy_message_number(o, outcomes[j], 0),
					 DAVY_LABELS("action", name, "result", outcomes[j]));
	}
}

void davy_metrics_of_status(struct davy_metrics *m, const json_t *status)
{
	davy_metrics_add(m, DAVY_METRIC_UP, status != NULL, DAVY_LABELS());
	davy_metrics_add(m, DAVY_METRIC_BUILD, 1, DAVY_LABELS("version", DAVY_VERSION));
	davy_metrics_max(m, DAVY_METRIC_SERIES_DROPPED, 0,
			 DAVY_LABELS()); /* before the set can be full */
	if (!status)
		return;
	status_metrics_agent(m, status);
	status_metrics_clients(m, status);
	status_metrics_foresight(m, status);
	status_metrics_actions(m, status);
	status_metrics_alarms(m, status);
	status_metrics_gpus(m, status);
	status_metrics_workloads(m, status);
	status_metrics_sensors(m, status);
	davy_metrics_max(m, DAVY_METRIC_SERIES_DROPPED, (json_int_t)m->dropped, DAVY_LABELS());
}
