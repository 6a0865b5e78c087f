/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the status for views: alarms, what is in force, rings, speeds. */
#include "agent/control/control.h"

#include <string.h>

#include "agent/agent.h"
#include "lib/text.h"
#include "report/plan_text.h"

#define ALARMS_BYTES ((size_t)8 * 1024) /* a message has a maximum size */

static json_t *view_text(const char *text)
{
	char safe[4 * DAVY_MODEL_LEN];

	return json_string(davy_text_shown(safe, sizeof(safe), text));
}

static json_t *view_alarm(const struct davy_alarm *alarm)
{
	const struct davy_plan *n = &alarm->note;
	char reason[320];

	davy_reason_text(n, reason, sizeof(reason));
	return json_pack("{s:I, s:s, s:i, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:I, s:I, s:s}", "id",
			 (json_int_t)n->id, "hazard", davy_hazard_name((enum davy_hazard)n->hazard),
			 "level", (int)n->level, "since_ns", (json_int_t)n->at_ns, "first_sign_ns",
			 (json_int_t)n->first_precursor_ns, "until_ns", (json_int_t)n->until_ns,
			 "device", view_text(n->device), "ring", view_text(n->ring), "pid",
			 (json_int_t)n->pid, "comm", view_text(n->comm), "workload",
			 (json_int_t)n->workload, "culprit_pid", (json_int_t)n->culprit_pid,
			 "because", reason);
}

json_t *davy_view_alarms(const struct davy_agent *a, json_int_t *ret_unlisted)
{
	json_t *list = json_array();
	size_t used = 0;

	for (size_t i = 0; i < (size_t)3 * DAVY_CORE_ALARMS; i++) {
		const struct davy_alarm *alarm = &a->core.alarms[i % DAVY_CORE_ALARMS];
		json_t *o;

		if (!alarm->used || alarm->note.level != 3 - i / DAVY_CORE_ALARMS)
			continue;
		o = view_alarm(alarm);
		used += json_dumpb(o, NULL, 0, JSON_COMPACT) + 1;
		if (used < ALARMS_BYTES)
			json_array_append(list, o);
		else
			++*ret_unlisted;
		json_decref(o);
	}
	return list;
}

static json_t *view_effect(uint32_t action, uint32_t hazard, uint64_t until_ns)
{
	return json_pack("{s:s, s:s, s:I}", "act", davy_action_name((enum davy_action)action),
			 "hazard", davy_hazard_name((enum davy_hazard)hazard), "until_ns",
			 (json_int_t)until_ns);
}

static json_t *view_workload(const struct davy_workload *w)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < w->effect_count && i < DAVY_EFFECTS_MAX; i++)
		json_array_append_new(list, view_effect(w->effects[i].action, w->effects[i].hazard,
							w->effects[i].until_ns));
	if (w->freeze_plan)
		json_array_append_new(
			list, view_effect(w->freeze_action, w->freeze_hazard, w->freeze_until_ns));
	return json_pack("{s:I, s:I, s:b, s:s, s:o}", "workload", (json_int_t)w->id, "pid",
			 (json_int_t)w->pid, "adopted", w->adopted, "acting",
			 w->act_plan ? davy_action_name((enum davy_action)w->act_action) : "",
			 "in_force", list);
}

json_t *davy_view_workloads(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS; i++)
		if (a->core.world.workloads[i].id)
			json_array_append_new(list, view_workload(&a->core.world.workloads[i]));
	return list;
}

static json_t *view_rings(const struct davy_world *w, const char *device)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_WORLD_RINGS; i++) {
		const struct davy_ring_state *r = &w->rings[i];
		uint64_t timeout_ns = r->timeout_ns;

		if (!r->age_ns || strcmp(r->device, device) != 0)
			continue;
		if (!timeout_ns)
			timeout_ns = davy_world_timeout(w, device, r->ring);
		json_array_append_new(
			list, json_pack("{s:o, s:I, s:I, s:I}", "ring", view_text(r->ring),
					"age_ns", (json_int_t)r->age_ns, "timeout_ns",
					(json_int_t)timeout_ns, "pid", (json_int_t)r->age_pid));
	}
	return list;
}

/* Absent while it does not grow. */
static void view_put_full(json_t *o, const char *key, const struct davy_forecast *f, uint64_t used,
			  uint64_t total, uint64_t trend_ns)
{
	struct davy_outlook look = davy_forecast_look(f, total, trend_ns);

	if (look.rate && used < total)
		json_object_set_new(
			o, key,
			json_integer((json_int_t)davy_forecast_left_ms(total - used, look.rate)));
}

void davy_view_gpu(const struct davy_agent *a, const char *device, json_t *o)
{
	const struct davy_device_state *d = davy_world_device(&a->core.world, device);
	uint64_t trend_ns = davy_config_ns(&a->core.config, DAVY_CFG_EXHAUSTION_TREND_MS);

	json_object_set_new(o, "rings", view_rings(&a->core.world, device));
	json_object_set_new(o, "resets", json_integer(d ? (json_int_t)d->reset_count : 0));
	json_object_set_new(o, "reset_ns", json_integer(d ? (json_int_t)d->reset_ns : 0));
	for (size_t i = 0; i < DAVY_MEMORY_DEVICES; i++) {
		const struct davy_memory_device *m = &a->core.world.memory.devices[i];

		if (strcmp(m->device, device) != 0)
			continue;
		view_put_full(o, "vram_full_in_ms", &m->heap[DAVY_HEAP_VRAM].forecast,
			      m->now.vram_used, m->now.vram_total, trend_ns);
		view_put_full(o, "gtt_full_in_ms", &m->heap[DAVY_HEAP_GTT].forecast,
			      m->now.gtt_used, m->now.gtt_total, trend_ns);
		view_put_full(o, "host_full_in_ms", &m->heap[DAVY_HEAP_HOST].forecast,
			      m->now.host_total - m->now.host_available, m->now.host_total,
			      trend_ns);
	}
}

/* On a host with hundreds of processes and alarms: without them, rather than without an answer. */
json_t *davy_view_fit(json_t *status)
{
	static const char *const least[] = { "workloads", "alarms", "processes" };

	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		if (json_dumpb(status, NULL, 0, JSON_COMPACT) <= DAVY_MESSAGE_MAX)
			break;
		json_object_set_new(status, least[i], json_array());
		json_object_set_new(status, "shortened", json_true());
	}
	return status;
}

/* Cumulative counts: a view divides differences by the time between two answers. */
void davy_view_process(struct davy_agent *a, uint32_t pid, json_t *o)
{
	const struct davy_process *p = davy_world_process(&a->core.world, pid);

	if (!p)
		return;
	json_object_set_new(o, "graphs", json_integer((json_int_t)p->graph.graph_count));
	json_object_set_new(o, "failed_graphs", json_integer((json_int_t)p->graph.failed_count));
	if (!p->life.progress_ns)
		return;
	json_object_set_new(o, "prompt_tokens",
			    json_integer((json_int_t)p->life.progress.prompt_count));
	json_object_set_new(o, "generated_tokens",
			    json_integer((json_int_t)p->life.progress.generated_count));
	json_object_set_new(o, "depth", json_integer(p->life.progress.depth));
}
