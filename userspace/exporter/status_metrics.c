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
				 !strcmp(mode, davy_mode_name((enum davy_mode)i)), "mode",
				 davy_mode_name((enum davy_mode)i), NULL);
	davy_metrics_add(m, DAVY_METRIC_UPTIME,
			 status_metrics_difference(status_metrics_number(status, "now_ns"),
						   status_metrics_number(status, "started_ns")),
			 NULL);
	davy_metrics_add(m, DAVY_METRIC_EVENTS, status_metrics_number(status, "events"), NULL);
	davy_metrics_add(m, DAVY_METRIC_DROPPED, status_metrics_number(status, "dropped"), NULL);
	davy_metrics_add(m, DAVY_METRIC_DECISIONS, status_metrics_number(status, "decisions"),
			 NULL);
	davy_metrics_add(m, DAVY_METRIC_POLICY_INVALID,
			 *davy_message_text(status, "policy_error") != 0, NULL);
	davy_metrics_add(m, DAVY_METRIC_READERS, status_metrics_number(reader, "live"), "state",
			 "live", NULL);
	davy_metrics_add(m, DAVY_METRIC_READERS, status_metrics_number(reader, "stuck"), "state",
			 "stuck", NULL);
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_WAITING,
			 status_metrics_number(reader, "waiting"), NULL);
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_LOST, status_metrics_number(reader, "lost"),
			 "reason", "reader", NULL);
	davy_metrics_add(m, DAVY_METRIC_INSPECTIONS_LOST, status_metrics_number(reader, "evicted"),
			 "reason", "evicted", NULL);
	davy_metrics_add(m, DAVY_METRIC_PROBES, status_metrics_number(crowding, "probes"), NULL);
	davy_metrics_add(m, DAVY_METRIC_PROBES_LOST,
			 status_metrics_number(crowding, "probes_refused"), "reason", "refused",
			 NULL);
	davy_metrics_add(m, DAVY_METRIC_PROBES_LOST,
			 status_metrics_number(crowding, "probes_evicted"), "reason", "evicted",
			 NULL);
	davy_metrics_add(m, DAVY_METRIC_EVICTED,
			 status_metrics_number(crowding, "processes_evicted"), "table", "processes",
			 NULL);
	davy_metrics_add(m, DAVY_METRIC_EVICTED, status_metrics_number(crowding, "world_evicted"),
			 "table", "world", NULL);
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
				 "kind", kinds[i], NULL);
	c = json_object_get(c, "refused");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		davy_metrics_add(m, DAVY_METRIC_CONNECTIONS_REFUSED,
				 status_metrics_number(c, reasons[i]), "reason", reasons[i], NULL);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(key, sizeof(key), "%s_unlisted", lists[i]);
		davy_metrics_add(m, DAVY_METRIC_UNLISTED, status_metrics_number(status, key),
				 "list", lists[i], NULL);
	}
}

static void status_metrics_sensors(struct davy_metrics *m, const json_t *status)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(status, "sensors"), i, s)
		davy_metrics_max(m, DAVY_METRIC_SENSOR, 1, "sensor", davy_message_text(s, "name"),
				 "state", davy_message_text(s, "state"), NULL);
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
		davy_metrics_max(m, DAVY_METRIC_GPU_SIZE, size, "device", device, "heap", heaps[i],
				 NULL);
		davy_metrics_max(m, DAVY_METRIC_GPU_USED, used, "device", device, "heap", heaps[i],
				 NULL);
		snprintf(key, sizeof(key), "%s_full_in_ms", heaps[i]);
		davy_metrics_max(m, DAVY_METRIC_GPU_FULL, status_metrics_number(gpu, key), "device",
				 device, "heap", heaps[i], NULL);
	}
}

static void status_metrics_gpu(struct davy_metrics *m, const json_t *gpu)
{
	const char *device = davy_message_text(gpu, "device");
	const json_t *o;
	size_t i;

	davy_metrics_max(m, DAVY_METRIC_GPU, 1, "device", device, "driver",
			 davy_message_text(gpu, "driver"), NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_READABLE,
			 json_is_true(json_object_get(gpu, "readable")), "device", device, NULL);
	status_metrics_heaps(m, gpu, device);
	davy_metrics_max(m, DAVY_METRIC_GPU_EVICTIONS, status_metrics_number(gpu, "evictions"),
			 "device", device, NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_RESETS, status_metrics_number(gpu, "resets"), "device",
			 device, NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_CLIENTS,
			 (json_int_t)json_array_size(json_object_get(gpu, "clients")), "device",
			 device, NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_JOB_AGE, 0, "device", device, NULL);
	json_array_foreach(json_object_get(gpu, "rings"), i, o)
		davy_metrics_max(m, DAVY_METRIC_GPU_JOB_AGE, status_metrics_number(o, "age_ns"),
				 "device", device, NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_TEMPERATURE,
			 status_metrics_number(gpu, "temperature_c"), "device", device, NULL);
	davy_metrics_max(m, DAVY_METRIC_GPU_ECC, status_metrics_number(gpu, "ecc_uncorrected"),
			 "device", device, NULL);
	json_array_foreach(json_object_get(gpu, "throttled_by"), i, o) if (json_is_string(o))
		davy_metrics_max(m, DAVY_METRIC_GPU_THROTTLED, 1, "device", device, "reason",
				 json_string_value(o), NULL);
}

static void status_metrics_gpus(struct davy_metrics *m, const json_t *status)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(status, "gpus"), i, o) status_metrics_gpu(m, o);
	json_array_foreach(json_object_get(json_object_get(status, "vram"), "cgroups"), i, o)
		davy_metrics_add(m, DAVY_METRIC_QUOTA_REFUSED, status_metrics_number(o, "refused"),
				 "device", davy_message_text(o, "device"), NULL);
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
					 status_metrics_number(c, "vram"), "workload", workload,
					 "device", device, "heap", "vram", NULL);
			davy_metrics_add(m, DAVY_METRIC_WORKLOAD_MEMORY,
					 status_metrics_number(c, "gtt"), "workload", workload,
					 "device", device, "heap", "gtt", NULL);
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

	davy_metrics_add(m, DAVY_METRIC_ENGINES, 1, "engine", status_metrics_engine(p), "backend",
			 status_metrics_backend(p), NULL);
	if (davy_message_number(p, "workload", 0) <= 0)
		return;
	davy_metrics_max(m, DAVY_METRIC_WORKLOAD, 1, "workload", workload, "engine",
			 status_metrics_engine(p), "backend", status_metrics_backend(p), "device",
			 davy_message_text(p, "device"), NULL);
	davy_metrics_max(m, DAVY_METRIC_WORKLOAD_RUN, davy_message_number(p, "runs_permille", 1000),
			 "workload", workload, NULL);
	status_metrics_memory(m, status, davy_message_number(p, "pid", 0), workload);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		davy_metrics_add(m, counts[i].metric, status_metrics_number(p, counts[i].key),
				 "workload", workload, NULL);
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
				 json_is_true(json_object_get(o, "adopted")), "workload", workload,
				 NULL);
		json_array_foreach(json_object_get(o, "in_force"), j, effect)
			davy_metrics_add(m, DAVY_METRIC_WORKLOAD_ACTION, 1, "workload", workload,
					 "action", status_metrics_action(effect), "hazard",
					 status_metrics_hazard(effect), NULL);
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
			davy_metrics_add(m, DAVY_METRIC_ALARMS, 1, "hazard",
					 status_metrics_hazard(o), "level", levels[level - 1],
					 "device", davy_message_text(o, "device"), NULL);
	}
	json_array_foreach(json_object_get(status, "breakers"), i, o) davy_metrics_add(
		m, DAVY_METRIC_BREAKERS, 1, "device", davy_message_text(o, "device"), "backend",
		status_metrics_backend(o), "state", davy_message_text(o, "state"), NULL);
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
				 "class", name, NULL);
		davy_metrics_add(m, DAVY_METRIC_FAILURES_MISSED,
				 davy_message_number(o, "missed", 0), "class", name, NULL);
	}
	for (uint32_t i = DAVY_HZ_NONE + 1; i < DAVY_HZ_COUNT; i++) {
		const char *name = davy_hazard_name((enum davy_hazard)i);
		const json_t *o = json_object_get(hazards, name);

		davy_metrics_add(m, DAVY_METRIC_PREDICTIONS, davy_message_number(o, "signs", 0),
				 "hazard", name, NULL);
		for (size_t j = 0; j < sizeof(results) / sizeof(results[0]); j++)
			davy_metrics_add(m, DAVY_METRIC_PREDICTIONS_ENDED,
					 davy_message_number(o, results[j], 0), "hazard", name,
					 "result", results[j], NULL);
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
					 "action", name, "verdict", verdict, NULL);
		}
		for (size_t j = 0; j < sizeof(outcomes) / sizeof(outcomes[0]); j++)
			davy_metrics_add(m, DAVY_METRIC_OUTCOMES,
					 davy_message_number(o, outcomes[j], 0), "action", name,
					 "result", outcomes[j], NULL);
	}
}

void davy_metrics_of_status(struct davy_metrics *m, const json_t *status)
{
	davy_metrics_add(m, DAVY_METRIC_UP, status != NULL, NULL);
	davy_metrics_add(m, DAVY_METRIC_BUILD, 1, "version", DAVY_VERSION, NULL);
	davy_metrics_max(m, DAVY_METRIC_SERIES_DROPPED, 0, NULL); /* before the set can be full */
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
	davy_metrics_max(m, DAVY_METRIC_SERIES_DROPPED, (json_int_t)m->dropped, NULL);
}
