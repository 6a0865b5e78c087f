/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/event.h"

#include <string.h>

#include "core/event/fact.h"
#include "core/event/plan.h"

static const struct {
	const char *name;
	size_t size;
} kinds[DL_EV_COUNT] = {
	[DL_EV_TICK] = { "tick", 0 },
	[DL_EV_CONFIG] = { "config", sizeof(struct dl_ev_config) },
	[DL_EV_PROCESS] = { "process", sizeof(struct dl_ev_process) },
	[DL_EV_PROCESS_EXIT] = { "process_exit", sizeof(struct dl_ev_process_exit) },
	[DL_EV_THROW] = { "exception", sizeof(struct dl_ev_throw) },
	[DL_EV_GRAPH] = { "graph", sizeof(struct dl_ev_graph) },
	[DL_EV_FAULT] = { "gpu_fault", sizeof(struct dl_ev_fault) },
	[DL_EV_PASID] = { "pasid", sizeof(struct dl_ev_pasid) },
	[DL_EV_BO_MOVED] = { "bo_moved", sizeof(struct dl_ev_bo_moved) },
	[DL_EV_RING] = { "ring", sizeof(struct dl_ev_ring) },
	[DL_EV_JOB_TIMEOUT] = { "job_timeout", sizeof(struct dl_ev_job_timeout) },
	[DL_EV_RESET] = { "reset", sizeof(struct dl_ev_reset) },
	[DL_EV_WORKLOAD] = { "workload", sizeof(struct dl_ev_workload) },
	[DL_EV_PROBE] = { "probe", sizeof(struct dl_ev_probe) },
	[DL_EV_ACT] = { "act", sizeof(struct dl_ev_act) },
	[DL_EV_BREAKER] = { "breaker", sizeof(struct dl_ev_breaker) },
	[DL_EV_SENSOR] = { "sensor", sizeof(struct dl_ev_sensor) },
	[DL_EV_ALLOC_FAILED] = { "alloc_failed", sizeof(struct dl_ev_alloc_failed) },
	[DL_EV_FACT] = { "fact", sizeof(struct dl_ev_fact) },
	[DL_EV_JOB_TIMES] = { "job_times", sizeof(struct dl_ev_job_times) },
	[DL_EV_MEMORY] = { "memory", sizeof(struct dl_ev_memory) },
	[DL_EV_CLIENT] = { "client", sizeof(struct dl_ev_client) },
	[DL_EV_DEVICE] = { "device", sizeof(struct dl_ev_device) },
	[DL_EV_LOG] = { "log", sizeof(struct dl_ev_log) },
	[DL_EV_KFD] = { "kfd", sizeof(struct dl_ev_kfd) },
	[DL_EV_KFD_USE] = { "kfd_use", sizeof(struct dl_ev_kfd_use) },
	[DL_EV_LOCKUP] = { "lockup_timeout", sizeof(struct dl_ev_lockup) },
	[DL_EV_DMEM] = { "dmem", sizeof(struct dl_ev_dmem) },
	[DL_EV_CONFIG_FOR] = { "config_for", sizeof(struct dl_ev_config_for) },
	[DL_EV_PROGRESS] = { "progress", sizeof(struct dl_ev_progress) },
	[DL_EV_ORDER] = { "order", sizeof(struct dl_ev_order) },
	[DL_EV_LEFT] = { "left", sizeof(struct dl_ev_left) },
	[DL_EV_CLOCK] = { "clock", sizeof(struct dl_ev_clock) },
	[DL_EV_TUNING] = { "tuning", sizeof(struct dl_ev_tuning) },
	[DL_EV_RULES] = { "rules", sizeof(struct dl_ev_rules) },
	[DL_EV_FINDING] = { "finding", sizeof(struct dl_ev_finding) },
	[DL_EV_OWNER] = { "owner", sizeof(struct dl_ev_owner) },
};

size_t dl_event_payload_size(uint32_t kind)
{
	return kind < DL_EV_COUNT ? kinds[kind].size : 0;
}

const char *dl_event_kind_name(uint32_t kind)
{
	return kind < DL_EV_COUNT && kinds[kind].name ? kinds[kind].name : "unknown";
}

const char *dl_device_change_name(uint32_t change)
{
	static const char *const names[DL_DEVICE_CHANGE_COUNT] = {
		[DL_DEVICE_ADDED] = "added",   [DL_DEVICE_REMOVED] = "removed",
		[DL_DEVICE_WEDGED] = "wedged", [DL_DEVICE_ERROR] = "error",
		[DL_DEVICE_RESET] = "reset",   [DL_DEVICE_COREDUMP] = "coredump",
	};

	return change < DL_DEVICE_CHANGE_COUNT && names[change] ? names[change] : "unknown";
}

const char *dl_kfd_event_name(uint32_t event)
{
	static const char *const names[DL_KFD_EVENT_COUNT] = {
		[DL_KFD_VM_FAULT] = "vm_fault",
		[DL_KFD_THERMAL_THROTTLE] = "thermal_throttle",
		[DL_KFD_RESET_BEGIN] = "reset_begin",
		[DL_KFD_RESET_END] = "reset_end",
		[DL_KFD_MIGRATE_BEGIN] = "migrate_begin",
		[DL_KFD_MIGRATE_END] = "migrate_end",
		[DL_KFD_PAGE_FAULT_BEGIN] = "page_fault_begin",
		[DL_KFD_PAGE_FAULT_END] = "page_fault_end",
		[DL_KFD_QUEUES_EVICTED] = "queues_evicted",
		[DL_KFD_QUEUES_RESTORED] = "queues_restored",
		[DL_KFD_UNMAPPED] = "unmapped",
		[DL_KFD_PROCESS_BEGIN] = "process_begin",
		[DL_KFD_PROCESS_END] = "process_end",
	};

	return event < DL_KFD_EVENT_COUNT && names[event] ? names[event] : "unknown";
}

const char *dl_lockup_origin_name(uint32_t origin)
{
	static const char *const names[DL_LOCKUP_ORIGIN_COUNT] = {
		"unknown", "scheduler", "sysfs", "parameter", "default", "none",
	};

	return names[origin < DL_LOCKUP_ORIGIN_COUNT ? origin : DL_LOCKUP_UNKNOWN];
}

static bool ended(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

#define ENDED(field) ended(field, sizeof(field))

static bool process_valid(const struct dl_ev_process *p)
{
	for (size_t i = 0; i < DL_DEVICES_MAX - 1; i++)
		if (!ENDED(p->more_devices[i]))
			return false;
	return ENDED(p->comm) && ENDED(p->device) && ENDED(p->model) && ENDED(p->architecture) &&
	       ENDED(p->quantisation) && ENDED(p->cache_k) && ENDED(p->cache_v) && ENDED(p->unit) &&
	       ENDED(p->container) && ENDED(p->pod) && p->engine < DL_ENGINE_COUNT &&
	       p->backend < DL_BACKEND_COUNT && p->role < DL_ROLE_COUNT &&
	       p->runtime < DL_RUNTIME_COUNT;
}

static bool workload_valid(const struct dl_ev_workload *w)
{
	return ENDED(w->device) && ENDED(w->model) && w->workload && w->op <= DL_WORKLOAD_GONE &&
	       w->engine < DL_ENGINE_COUNT && w->backend < DL_BACKEND_COUNT;
}

static bool breaker_valid(const struct dl_ev_breaker *b)
{
	return ENDED(b->device) && ENDED(b->model) && b->backend < DL_BACKEND_COUNT &&
	       b->state < DL_BREAKER_STATE_COUNT;
}

static bool log_valid(const struct dl_ev_log *l)
{
	return ENDED(l->device) && ENDED(l->ring) && ENDED(l->comm) &&
	       l->kind < DL_LOG_KIND_COUNT && l->log_class < DL_CLASS_COUNT &&
	       l->role < DL_PART_COUNT && l->hazard < DL_LOG_HZ_COUNT;
}

static bool kfd_valid(const struct dl_ev_kfd *k)
{
	return ENDED(k->device) && ENDED(k->detail) && k->event >= DL_KFD_VM_FAULT &&
	       k->event < DL_KFD_EVENT_COUNT;
}

static bool order_valid(const struct dl_ev_order *o)
{
	return o->workload && dl_rung_acts(o->rung) && o->to_backend < DL_BACKEND_COUNT &&
	       o->on_permille <= 1000 && o->lease_ns <= DL_ORDER_LEASE_MAX_NS &&
	       o->knobs.cache_type < DL_TUNER_CACHE_COUNT && (!o->undo || dl_rung_acts(o->undo));
}

static bool left_valid(const struct dl_ev_left *l)
{
	bool stays = l->rung == DL_RUNG_SHRINK || l->rung == DL_RUNG_SWITCH ||
		     l->rung == DL_RUNG_MIGRATE_CPU;

	return l->workload && stays && l->hazard < DL_HZ_COUNT && l->backend < DL_BACKEND_COUNT &&
	       l->knobs.cache_type < DL_TUNER_CACHE_COUNT && ENDED(l->device);
}

static bool config_for_valid(const struct dl_ev_config_for *c)
{
	return ENDED(c->config.key) && ENDED(c->name) && c->scope >= DL_SCOPE_DRIVER &&
	       c->scope < DL_SCOPE_COUNT;
}

static bool rules_valid(const struct dl_ev_rules *r)
{
	return r->workload && r->mode <= DL_MODE_COUNT && r->fixed < 1u << DL_TUNER_KNOBS;
}

static bool finding_valid(const struct dl_ev_finding *f)
{
	return ENDED(f->device) && ENDED(f->model) && ENDED(f->where) && f->where[0] &&
	       f->engine < DL_ENGINE_COUNT && f->backend < DL_BACKEND_COUNT;
}

static bool tuning_valid(const struct dl_ev_tuning *in)
{
	struct dl_tuner tuner;

	if (!in->workload || in->backend >= DL_BACKEND_COUNT ||
	    in->flags & ~(DL_TUNING_FIRST | DL_TUNING_LAST | DL_TUNING_FORGET))
		return false;
	memset(&tuner, 0, sizeof(tuner));
	memcpy(&tuner, in->head, DL_TUNER_HEAD);
	tuner.of[in->backend] = in->of;
	return dl_tuner_valid(&tuner);
}

static bool device_valid(const struct dl_ev_device *d)
{
	return ENDED(d->device) && ENDED(d->driver) && ENDED(d->detail) &&
	       d->change >= DL_DEVICE_ADDED && d->change < DL_DEVICE_CHANGE_COUNT;
}

bool dl_event_valid(const struct dl_event *ev)
{
	switch (ev->kind) {
	case DL_EV_TICK:
	case DL_EV_PROCESS_EXIT:
	case DL_EV_GRAPH:
	case DL_EV_PASID:
	case DL_EV_PROBE:
	case DL_EV_CLOCK:
		return true;
	case DL_EV_CONFIG_FOR:
		return config_for_valid(&ev->config_for);
	case DL_EV_PROGRESS:
	case DL_EV_OWNER:
		return ev->pid != 0;
	case DL_EV_ORDER:
		return order_valid(&ev->order);
	case DL_EV_LEFT:
		return left_valid(&ev->left);
	case DL_EV_FINDING:
		return finding_valid(&ev->finding);
	case DL_EV_RULES:
		return rules_valid(&ev->rules);
	case DL_EV_TUNING:
		return tuning_valid(&ev->tuning);
	case DL_EV_CONFIG:
		return ENDED(ev->config.key);
	case DL_EV_PROCESS:
		return ev->pid && process_valid(&ev->process);
	case DL_EV_THROW:
		return ENDED(ev->thrown.type);
	case DL_EV_FAULT:
		return ENDED(ev->fault.device);
	case DL_EV_BO_MOVED:
		return ENDED(ev->bo_moved.device);
	case DL_EV_RING:
		return ENDED(ev->ring.device) && ENDED(ev->ring.ring);
	case DL_EV_JOB_TIMEOUT:
		return ENDED(ev->job_timeout.device) && ENDED(ev->job_timeout.ring);
	case DL_EV_RESET:
		return ENDED(ev->reset.device);
	case DL_EV_WORKLOAD:
		return workload_valid(&ev->workload);
	case DL_EV_ACT:
		return ev->act.stage < DL_ACT_STAGE_COUNT;
	case DL_EV_BREAKER:
		return breaker_valid(&ev->breaker);
	case DL_EV_ALLOC_FAILED:
		return ENDED(ev->alloc_failed.device) &&
		       ev->alloc_failed.stage >= DL_ALLOC_RESOURCE &&
		       ev->alloc_failed.stage <= DL_ALLOC_POPULATE;
	case DL_EV_FACT:
		return ENDED(ev->fact.device) && ENDED(ev->fact.name) &&
		       dl_fact_known(ev->fact.fact);
	case DL_EV_MEMORY:
		return ENDED(ev->memory.device);
	case DL_EV_CLIENT:
		return ev->pid && ENDED(ev->client.device);
	case DL_EV_DEVICE:
		return device_valid(&ev->device);
	case DL_EV_LOG:
		return log_valid(&ev->log);
	case DL_EV_KFD:
		return kfd_valid(&ev->kfd);
	case DL_EV_KFD_USE:
		return ev->pid && ENDED(ev->kfd_use.device);
	case DL_EV_LOCKUP:
		return ENDED(ev->lockup.device) && ENDED(ev->lockup.queue) &&
		       ev->lockup.origin < DL_LOCKUP_ORIGIN_COUNT;
	case DL_EV_DMEM:
		return ENDED(ev->dmem.device) && ENDED(ev->dmem.region) && ENDED(ev->dmem.unit);
	case DL_EV_JOB_TIMES:
		return ENDED(ev->job_times.device) && ENDED(ev->job_times.ring);
	case DL_EV_SENSOR:
		return ENDED(ev->sensor.name) && ENDED(ev->sensor.reason) &&
		       ev->sensor.state < DL_SENSOR_STATE_COUNT;
	default:
		return false;
	}
}
