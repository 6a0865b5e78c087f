/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/event.h"

#include <string.h>

#include "core/event/fact.h"
#include "core/event/plan.h"

static const struct {
	const char *name;
	size_t size;
} kinds[DAVY_EV_COUNT] = {
	[DAVY_EV_TICK] = { "tick", 0 },
	[DAVY_EV_CONFIG] = { "config", sizeof(struct davy_ev_config) },
	[DAVY_EV_PROCESS] = { "process", sizeof(struct davy_ev_process) },
	[DAVY_EV_PROCESS_EXIT] = { "process_exit", sizeof(struct davy_ev_process_exit) },
	[DAVY_EV_THROW] = { "exception", sizeof(struct davy_ev_throw) },
	[DAVY_EV_GRAPH] = { "graph", sizeof(struct davy_ev_graph) },
	[DAVY_EV_FAULT] = { "gpu_fault", sizeof(struct davy_ev_fault) },
	[DAVY_EV_PASID] = { "pasid", sizeof(struct davy_ev_pasid) },
	[DAVY_EV_BO_MOVED] = { "bo_moved", sizeof(struct davy_ev_bo_moved) },
	[DAVY_EV_RING] = { "ring", sizeof(struct davy_ev_ring) },
	[DAVY_EV_JOB_TIMEOUT] = { "job_timeout", sizeof(struct davy_ev_job_timeout) },
	[DAVY_EV_RESET] = { "reset", sizeof(struct davy_ev_reset) },
	[DAVY_EV_WORKLOAD] = { "workload", sizeof(struct davy_ev_workload) },
	[DAVY_EV_PROBE] = { "probe", sizeof(struct davy_ev_probe) },
	[DAVY_EV_ACT] = { "act", sizeof(struct davy_ev_act) },
	[DAVY_EV_BREAKER] = { "breaker", sizeof(struct davy_ev_breaker) },
	[DAVY_EV_SENSOR] = { "sensor", sizeof(struct davy_ev_sensor) },
	[DAVY_EV_ALLOC_FAILED] = { "alloc_failed", sizeof(struct davy_ev_alloc_failed) },
	[DAVY_EV_FACT] = { "fact", sizeof(struct davy_ev_fact) },
	[DAVY_EV_JOB_TIMES] = { "job_times", sizeof(struct davy_ev_job_times) },
	[DAVY_EV_MEMORY] = { "memory", sizeof(struct davy_ev_memory) },
	[DAVY_EV_CLIENT] = { "client", sizeof(struct davy_ev_client) },
	[DAVY_EV_DEVICE] = { "device", sizeof(struct davy_ev_device) },
	[DAVY_EV_LOG] = { "log", sizeof(struct davy_ev_log) },
	[DAVY_EV_KFD] = { "kfd", sizeof(struct davy_ev_kfd) },
	[DAVY_EV_KFD_USE] = { "kfd_use", sizeof(struct davy_ev_kfd_use) },
	[DAVY_EV_LOCKUP] = { "lockup_timeout", sizeof(struct davy_ev_lockup) },
	[DAVY_EV_DMEM] = { "dmem", sizeof(struct davy_ev_dmem) },
	[DAVY_EV_CONFIG_FOR] = { "config_for", sizeof(struct davy_ev_config_for) },
	[DAVY_EV_PROGRESS] = { "progress", sizeof(struct davy_ev_progress) },
	[DAVY_EV_ORDER] = { "order", sizeof(struct davy_ev_order) },
	[DAVY_EV_LEFT] = { "left", sizeof(struct davy_ev_left) },
	[DAVY_EV_CLOCK] = { "clock", sizeof(struct davy_ev_clock) },
	[DAVY_EV_TUNING] = { "tuning", sizeof(struct davy_ev_tuning) },
	[DAVY_EV_RULES] = { "rules", sizeof(struct davy_ev_rules) },
	[DAVY_EV_FINDING] = { "finding", sizeof(struct davy_ev_finding) },
	[DAVY_EV_OWNER] = { "owner", sizeof(struct davy_ev_owner) },
};

size_t davy_event_payload_size(uint32_t kind)
{
	return kind < DAVY_EV_COUNT ? kinds[kind].size : 0;
}

const char *davy_event_kind_name(uint32_t kind)
{
	return kind < DAVY_EV_COUNT && kinds[kind].name ? kinds[kind].name : "unknown";
}

const char *davy_device_change_name(uint32_t change)
{
	static const char *const names[DAVY_DEVICE_CHANGE_COUNT] = {
		[DAVY_DEVICE_ADDED] = "added",	 [DAVY_DEVICE_REMOVED] = "removed",
		[DAVY_DEVICE_WEDGED] = "wedged", [DAVY_DEVICE_ERROR] = "error",
		[DAVY_DEVICE_RESET] = "reset",	 [DAVY_DEVICE_COREDUMP] = "coredump",
	};

	return change < DAVY_DEVICE_CHANGE_COUNT && names[change] ? names[change] : "unknown";
}

const char *davy_kfd_event_name(uint32_t event)
{
	static const char *const names[DAVY_KFD_EVENT_COUNT] = {
		[DAVY_KFD_VM_FAULT] = "vm_fault",
		[DAVY_KFD_THERMAL_THROTTLE] = "thermal_throttle",
		[DAVY_KFD_RESET_BEGIN] = "reset_begin",
		[DAVY_KFD_RESET_END] = "reset_end",
		[DAVY_KFD_MIGRATE_BEGIN] = "migrate_begin",
		[DAVY_KFD_MIGRATE_END] = "migrate_end",
		[DAVY_KFD_PAGE_FAULT_BEGIN] = "page_fault_begin",
		[DAVY_KFD_PAGE_FAULT_END] = "page_fault_end",
		[DAVY_KFD_QUEUES_EVICTED] = "queues_evicted",
		[DAVY_KFD_QUEUES_RESTORED] = "queues_restored",
		[DAVY_KFD_UNMAPPED] = "unmapped",
		[DAVY_KFD_PROCESS_BEGIN] = "process_begin",
		[DAVY_KFD_PROCESS_END] = "process_end",
	};

	return event < DAVY_KFD_EVENT_COUNT && names[event] ? names[event] : "unknown";
}

const char *davy_lockup_origin_name(uint32_t origin)
{
	static const char *const names[DAVY_LOCKUP_ORIGIN_COUNT] = {
		"unknown", "scheduler", "sysfs", "parameter", "default", "none",
	};

	return names[origin < DAVY_LOCKUP_ORIGIN_COUNT ? origin : DAVY_LOCKUP_UNKNOWN];
}

static bool ended(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

#define ENDED(field) ended(field, sizeof(field))

static bool process_valid(const struct davy_ev_process *p)
{
	for (size_t i = 0; i < DAVY_DEVICES_MAX - 1; i++)
		if (!ENDED(p->more_devices[i]))
			return false;
	return ENDED(p->comm) && ENDED(p->device) && ENDED(p->model) && ENDED(p->architecture) &&
	       ENDED(p->quantisation) && ENDED(p->cache_k) && ENDED(p->cache_v) && ENDED(p->unit) &&
	       ENDED(p->container) && ENDED(p->pod) && p->engine < DAVY_ENGINE_COUNT &&
	       p->backend < DAVY_BACKEND_COUNT && p->role < DAVY_ROLE_COUNT &&
	       p->runtime < DAVY_RUNTIME_COUNT;
}

static bool workload_valid(const struct davy_ev_workload *w)
{
	return ENDED(w->device) && ENDED(w->model) && w->workload && w->op <= DAVY_WORKLOAD_GONE &&
	       w->engine < DAVY_ENGINE_COUNT && w->backend < DAVY_BACKEND_COUNT;
}

static bool breaker_valid(const struct davy_ev_breaker *b)
{
	return ENDED(b->device) && ENDED(b->model) && b->backend < DAVY_BACKEND_COUNT &&
	       b->state < DAVY_BREAKER_STATE_COUNT;
}

static bool log_valid(const struct davy_ev_log *l)
{
	return ENDED(l->device) && ENDED(l->ring) && ENDED(l->comm) &&
	       l->kind < DAVY_LOG_KIND_COUNT && l->log_class < DAVY_CLASS_COUNT &&
	       l->role < DAVY_PART_COUNT && l->hazard < DAVY_LOG_HZ_COUNT;
}

static bool kfd_valid(const struct davy_ev_kfd *k)
{
	return ENDED(k->device) && ENDED(k->detail) && k->event >= DAVY_KFD_VM_FAULT &&
	       k->event < DAVY_KFD_EVENT_COUNT;
}

static bool order_valid(const struct davy_ev_order *o)
{
	return o->workload && davy_rung_acts(o->rung) && o->to_backend < DAVY_BACKEND_COUNT &&
	       o->on_permille <= 1000 && o->lease_ns <= DAVY_ORDER_LEASE_MAX_NS &&
	       o->knobs.cache_type < DAVY_TUNER_CACHE_COUNT &&
	       (!o->undo || davy_rung_acts(o->undo));
}

static bool left_valid(const struct davy_ev_left *l)
{
	bool stays = l->rung == DAVY_RUNG_SHRINK || l->rung == DAVY_RUNG_SWITCH ||
		     l->rung == DAVY_RUNG_MIGRATE_CPU;

	return l->workload && stays && l->hazard < DAVY_HZ_COUNT &&
	       l->backend < DAVY_BACKEND_COUNT && l->knobs.cache_type < DAVY_TUNER_CACHE_COUNT &&
	       ENDED(l->device);
}

static bool config_for_valid(const struct davy_ev_config_for *c)
{
	return ENDED(c->config.key) && ENDED(c->name) && c->scope >= DAVY_SCOPE_DRIVER &&
	       c->scope < DAVY_SCOPE_COUNT;
}

static bool rules_valid(const struct davy_ev_rules *r)
{
	return r->workload && r->mode <= DAVY_MODE_COUNT && r->fixed < 1u << DAVY_TUNER_KNOBS;
}

static bool finding_valid(const struct davy_ev_finding *f)
{
	return ENDED(f->device) && ENDED(f->model) && ENDED(f->where) && f->where[0] &&
	       f->engine < DAVY_ENGINE_COUNT && f->backend < DAVY_BACKEND_COUNT;
}

static bool tuning_valid(const struct davy_ev_tuning *in)
{
	struct davy_tuner tuner;

	if (!in->workload || in->backend >= DAVY_BACKEND_COUNT ||
	    in->flags & ~(DAVY_TUNING_FIRST | DAVY_TUNING_LAST | DAVY_TUNING_FORGET))
		return false;
	memset(&tuner, 0, sizeof(tuner));
	memcpy(&tuner, in->head, DAVY_TUNER_HEAD);
	tuner.of[in->backend] = in->of;
	return davy_tuner_valid(&tuner);
}

static bool device_valid(const struct davy_ev_device *d)
{
	return ENDED(d->device) && ENDED(d->driver) && ENDED(d->detail) &&
	       d->change >= DAVY_DEVICE_ADDED && d->change < DAVY_DEVICE_CHANGE_COUNT;
}

bool davy_event_valid(const struct davy_event *ev)
{
	switch (ev->kind) {
	case DAVY_EV_TICK:
	case DAVY_EV_PROCESS_EXIT:
	case DAVY_EV_GRAPH:
	case DAVY_EV_PASID:
	case DAVY_EV_PROBE:
	case DAVY_EV_CLOCK:
		return true;
	case DAVY_EV_CONFIG_FOR:
		return config_for_valid(&ev->config_for);
	case DAVY_EV_PROGRESS:
	case DAVY_EV_OWNER:
		return ev->pid != 0;
	case DAVY_EV_ORDER:
		return order_valid(&ev->order);
	case DAVY_EV_LEFT:
		return left_valid(&ev->left);
	case DAVY_EV_FINDING:
		return finding_valid(&ev->finding);
	case DAVY_EV_RULES:
		return rules_valid(&ev->rules);
	case DAVY_EV_TUNING:
		return tuning_valid(&ev->tuning);
	case DAVY_EV_CONFIG:
		return ENDED(ev->config.key);
	case DAVY_EV_PROCESS:
		return ev->pid && process_valid(&ev->process);
	case DAVY_EV_THROW:
		return ENDED(ev->thrown.type);
	case DAVY_EV_FAULT:
		return ENDED(ev->fault.device);
	case DAVY_EV_BO_MOVED:
		return ENDED(ev->bo_moved.device);
	case DAVY_EV_RING:
		return ENDED(ev->ring.device) && ENDED(ev->ring.ring);
	case DAVY_EV_JOB_TIMEOUT:
		return ENDED(ev->job_timeout.device) && ENDED(ev->job_timeout.ring);
	case DAVY_EV_RESET:
		return ENDED(ev->reset.device);
	case DAVY_EV_WORKLOAD:
		return workload_valid(&ev->workload);
	case DAVY_EV_ACT:
		return ev->act.stage < DAVY_ACT_STAGE_COUNT;
	case DAVY_EV_BREAKER:
		return breaker_valid(&ev->breaker);
	case DAVY_EV_ALLOC_FAILED:
		return ENDED(ev->alloc_failed.device) &&
		       ev->alloc_failed.stage >= DAVY_ALLOC_RESOURCE &&
		       ev->alloc_failed.stage <= DAVY_ALLOC_POPULATE;
	case DAVY_EV_FACT:
		return ENDED(ev->fact.device) && ENDED(ev->fact.name) &&
		       davy_fact_known(ev->fact.fact);
	case DAVY_EV_MEMORY:
		return ENDED(ev->memory.device);
	case DAVY_EV_CLIENT:
		return ev->pid && ENDED(ev->client.device);
	case DAVY_EV_DEVICE:
		return device_valid(&ev->device);
	case DAVY_EV_LOG:
		return log_valid(&ev->log);
	case DAVY_EV_KFD:
		return kfd_valid(&ev->kfd);
	case DAVY_EV_KFD_USE:
		return ev->pid && ENDED(ev->kfd_use.device);
	case DAVY_EV_LOCKUP:
		return ENDED(ev->lockup.device) && ENDED(ev->lockup.queue) &&
		       ev->lockup.origin < DAVY_LOCKUP_ORIGIN_COUNT;
	case DAVY_EV_DMEM:
		return ENDED(ev->dmem.device) && ENDED(ev->dmem.region) && ENDED(ev->dmem.unit);
	case DAVY_EV_JOB_TIMES:
		return ENDED(ev->job_times.device) && ENDED(ev->job_times.ring);
	case DAVY_EV_SENSOR:
		return ENDED(ev->sensor.name) && ENDED(ev->sensor.reason) &&
		       ev->sensor.state < DAVY_SENSOR_STATE_COUNT;
	default:
		return false;
	}
}
