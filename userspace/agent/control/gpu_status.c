/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of the GPUs: memory, lockup timeouts, clients. */
#include "agent/control/control.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "lib/file.h"
#include "lib/text.h"

static json_t *clients_of(const struct davy_agent *a, const char *device)
{
	const struct davy_gpus *g = &a->gpus;
	json_t *list = json_array();

	for (size_t i = 0; i < DAVY_GPU_CLIENTS_MAX; i++) {
		const struct davy_gpu_client *c = &g->client[i];
		char path[64], comm[32] = "", safe[128];

		if (!c->pid || strcmp(c->info.device, device) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/comm", c->pid);
		davy_read_file(path, comm, sizeof(comm));
		comm[strcspn(comm, "\n")] = 0;
		json_array_append_new(list, json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I}",
						      "pid", (int)c->pid, "comm",
						      davy_text_safe(safe, sizeof(safe), comm),
						      "client_id", (json_int_t)c->info.client_id,
						      "vram", (json_int_t)c->info.vram, "gtt",
						      (json_int_t)c->info.gtt, "system",
						      (json_int_t)c->info.system, "evicted",
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

/* Why the memory of this GPU is not known; "": it is, or it was not read yet. */
static const char *why_unreadable(const struct davy_watched_gpu *w)
{
	if (w->readable || (!w->sampled_ns && !w->nvml.reason[0]))
		return "";
	if (davy_nvml_reads(&w->gpu))
		return w->nvml.reason;
	return "its driver reports none; Vulkan's heap budget is not read";
}

static json_t *throttle_reasons(uint64_t bits)
{
	json_t *list = json_array();

	for (uint32_t bit = 0; bit < DAVY_CLOCK_REASON_COUNT; bit++)
		if (bits >> bit & 1)
			json_array_append_new(list, json_string(davy_clock_reason_name(bit)));
	return list;
}

/* What only NVML reports, as far as this GPU has it. */
static void nvml_status(json_t *o, const struct davy_nvml_gpu *n)
{
	if (n->has & DAVY_NVML_HAS_TEMPERATURE)
		json_object_set_new(o, "temperature_c", json_integer((json_int_t)n->temperature_c));
	if (n->has & DAVY_NVML_HAS_ECC)
		json_object_set_new(o, "ecc_uncorrected", json_integer((json_int_t)n->ecc_count));
	if (n->has & DAVY_NVML_HAS_THROTTLE)
		json_object_set_new(o, "throttled_by", throttle_reasons(n->throttle));
}

static json_t *gpu_status(const struct davy_agent *a, const struct davy_watched_gpu *w)
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
	json_object_set_new(o, "unreadable", json_string(why_unreadable(w)));
	nvml_status(o, &w->nvml);
	json_object_set_new(o, "lockup", lockups_of(&w->lockups));
	json_object_set_new(o, "clients", clients_of(a, w->gpu.device));
	davy_view_gpu(a, w->gpu.device, o);
	return o;
}

json_t *davy_agent_gpus_status(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->gpus.count; i++)
		json_array_append_new(list, gpu_status(a, &a->gpus.gpu[i]));
	return list;
}

static const char *memory_source(const struct davy_gpu *gpu)
{
	if (davy_nvml_reads(gpu))
		return DAVY_NVML_LIBRARY;
	return strcmp(gpu->driver, "amdgpu") ? "ioctl" : "sysfs";
}

json_t *davy_agent_gpus_memory(const struct davy_agent *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->gpus.count; i++) {
		const struct davy_watched_gpu *w = &a->gpus.gpu[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s}", "device", w->gpu.device,
						"driver", w->gpu.driver, "source",
						w->readable ? memory_source(&w->gpu) : "none",
						"reason", why_unreadable(w)));
	}
	return list;
}
