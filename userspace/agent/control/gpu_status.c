/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of the GPUs: memory, lockup timeouts, clients. */
#include "agent/control/control.h"

#include <string.h>

#include "agent/agent.h"

static json_t *clients_of(const struct davy_gpus *g, const char *device)
{
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		const struct davy_gpu_client *c = &g->client[i];

		if (!c->pid || strcmp(c->info.device, device) != 0)
			continue;
		json_array_append_new(
			list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "pid", (int)c->pid,
					"client_id", (json_int_t)c->info.client_id, "vram",
					(json_int_t)c->info.vram, "gtt", (json_int_t)c->info.gtt,
					"system", (json_int_t)c->info.system, "evicted",
					(json_int_t)c->info.evicted, "busy_ns",
					(json_int_t)c->info.busy_ns));
	}
	return list;
}

static json_t *lockups_of(const struct davy_lockups *lockups)
{
	json_t *list = json_array();

	for (size_t i = 0; i < lockups->count; i++) {
		const struct davy_lockup *l = &lockups->at[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:s}", "queue", l->queue, "timeout_ms",
						(json_int_t)(l->timeout_ns / DAVY_NS_PER_MS),
						"origin", davy_lockup_origin_name(l->origin)));
	}
	return list;
}

static json_t *gpu_status(const struct davy_gpus *g, const struct davy_watched_gpu *w)
{
	const struct davy_ev_memory *m = &w->memory;
	json_t *o =
		json_pack("{s:s, s:s, s:b, s:b}", "device", w->gpu.device, "driver", w->gpu.driver,
			  "readable", w->readable, "shared_memory", m->flags & DAVY_MEMORY_SHARED);
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{ "vram_total", m->vram_total },
		{ "vram_used", m->vram_used },
		{ "visible_total", m->visible_total },
		{ "visible_used", m->visible_used },
		{ "gtt_total", m->gtt_total },
		{ "gtt_used", m->gtt_used },
		{ "host_total", m->host_total },
		{ "host_available", m->host_available },
		{ "pressure_permille", m->pressure_permille },
		{ "evictions", m->eviction_count },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_object_set_new(o, rows[i].key, json_integer((json_int_t)rows[i].value));
	json_object_set_new(o, "lockup", lockups_of(&w->lockups));
	json_object_set_new(o, "clients", clients_of(g, w->gpu.device));
	return o;
}

json_t *davy_agent_gpus_status(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->gpus.count; i++)
		json_array_append_new(list, gpu_status(&a->gpus, &a->gpus.gpu[i]));
	return list;
}
