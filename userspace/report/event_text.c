/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/event_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/event/fact.h"
#include "core/event/plan.h"
#include "lib/text.h"

static bool sensor_text(const struct dl_ev_sensor *s, char *buf, size_t size)
{
	char reason[2 * DL_REASON_LEN];

	dl_text_safe(reason, sizeof(reason), s->reason);
	if (s->state == DL_SENSOR_LOST)
		snprintf(buf, size, "LOST     %" PRIu64 " events: %s", s->count, reason);
	else if (s->state != DL_SENSOR_LIVE)
		snprintf(buf, size, "sensor   %s is off: %s", s->name, reason);
	else if (s->gap_ns)
		snprintf(buf, size,
			 "sensor   %s is live again (%" PRIu64 " programs), gap %" PRIu64 " ms",
			 s->name, s->count, s->gap_ns / DL_NS_PER_MS);
	else
		snprintf(buf, size, "sensor   %s is live (%" PRIu64 " programs)%s%s", s->name,
			 s->count, reason[0] ? "; " : "", reason);
	return true;
}

static bool process_text(const struct dl_event *ev, char *buf, size_t size)
{
	const struct dl_ev_process *p = &ev->process;
	char comm[4 * DL_COMM_LEN], model[256], device[128];

	if (p->engine == DL_ENGINE_NONE)
		return false;
	snprintf(buf, size, "process  %s[%u]: engine %s, backend %s%s%s, model %s%s",
		 dl_text_safe(comm, sizeof(comm), p->comm), ev->pid, dl_engine_name(p->engine),
		 dl_backend_name(p->backend), p->device[0] ? " on " : "",
		 dl_text_safe(device, sizeof(device), p->device),
		 dl_text_shown(model, sizeof(model), p->model[0] ? p->model : "(none)"),
		 p->workload ? ", adopted" : "");
	return true;
}

static bool act_text(const struct dl_event *ev, char *buf, size_t size)
{
	static const char *const stages[DL_ACT_STAGE_COUNT] = {
		[DL_ACT_STOPPED] = "the old process is gone",
		[DL_ACT_STARTED] = "the new process runs",
		[DL_ACT_SERVING] = "the new process gave a token",
		[DL_ACT_FAILED] = "failed",
		[DL_ACT_HELD] = "held",
		[DL_ACT_RELEASED] = "released",
	};

	snprintf(buf, size, "act      plan %u on workload %u: %s%s%s", ev->act.plan,
		 ev->act.workload, stages[ev->act.stage], ev->act.result ? ": " : "",
		 ev->act.result ? dl_error_text(ev->act.result) : "");
	return true;
}

static bool probe_text(const struct dl_ev_probe *p, char *buf, size_t size)
{
	snprintf(buf, size,
		 "check    workload %u: /health %u, one-token completion %u, %u token, %u ms",
		 p->workload, p->health_status, p->completion_status, p->token_count,
		 p->completion_ms);
	return true;
}

/* Rare facts only: what comes in storms is for the hazards to tell. */
static bool fact_text(const struct dl_event *ev, char *buf, size_t size)
{
	const struct dl_ev_fact *f = &ev->fact;
	char device[2 * DL_DEVICE_LEN], name[2 * DL_FACT_NAME_LEN], who[24] = "", took[32] = "";

	if (f->fact >= DL_FACT_HOT || f->fact == DL_FACT_SIGNAL_SENT ||
	    f->fact == DL_FACT_SIGNAL_TAKEN)
		return false;
	if (ev->pid)
		snprintf(who, sizeof(who), ", pid %u", ev->pid);
	if (f->duration_ns)
		snprintf(took, sizeof(took), ", %" PRIu64 " ms", f->duration_ns / DL_NS_PER_MS);
	dl_text_safe(device, sizeof(device), f->device);
	dl_text_safe(name, sizeof(name), f->name);
	snprintf(buf, size, "kernel   %s%s%s%s%s%s%s%s%s", device, device[0] ? " " : "", name,
		 name[0] ? ": " : "", dl_fact_text(f->fact), who, took, f->error ? ": " : "",
		 f->error ? dl_error_text(f->error) : "");
	return true;
}

static bool device_text(const struct dl_ev_device *d, char *buf, size_t size)
{
	char name[2 * DL_DEVICE_LEN], driver[48], detail[2 * DL_DETAIL_LEN];

	snprintf(buf, size, "device   %s (%s) %s %s", dl_text_safe(name, sizeof(name), d->device),
		 dl_text_safe(driver, sizeof(driver), d->driver), dl_device_change_name(d->change),
		 dl_text_safe(detail, sizeof(detail), d->detail));
	return true;
}

static bool log_text(const struct dl_event *ev, char *buf, size_t size)
{
	const struct dl_ev_log *l = &ev->log;
	char device[2 * DL_DEVICE_LEN], ring[4 * DL_RING_NAME_LEN], comm[4 * DL_COMM_LEN];
	char who[96] = "";

	if (l->role != DL_PART_FAILURE && l->role != DL_PART_PRECURSOR)
		return false;
	if (l->named_pid)
		snprintf(who, sizeof(who), ", %s[%u]", dl_text_safe(comm, sizeof(comm), l->comm),
			 ev->pid ? ev->pid : l->named_pid);
	snprintf(buf, size, "log      %s%s%s%s%s%s (%s %s)",
		 dl_text_safe(device, sizeof(device), l->device), l->device[0] ? " " : "",
		 dl_text_safe(ring, sizeof(ring), l->ring), l->ring[0] ? ": " : "",
		 dl_log_kind_name(l->kind), who, dl_log_role_name(l->role),
		 l->role == DL_PART_FAILURE ? dl_log_class_name(l->log_class)
					    : dl_log_hazard_name(l->hazard));
	return true;
}

/* Migrations and page faults come in thousands: they are for the hazards. */
static bool kfd_text(const struct dl_event *ev, char *buf, size_t size)
{
	const struct dl_ev_kfd *k = &ev->kfd;
	char device[2 * DL_DEVICE_LEN], detail[2 * DL_DETAIL_LEN], who[24] = "";

	if (k->event != DL_KFD_VM_FAULT && k->event != DL_KFD_RESET_BEGIN &&
	    k->event != DL_KFD_RESET_END && k->event != DL_KFD_THERMAL_THROTTLE)
		return false;
	if (ev->pid)
		snprintf(who, sizeof(who), ", pid %u", ev->pid);
	snprintf(buf, size, "kfd      %s %s%s%s%s", dl_text_safe(device, sizeof(device), k->device),
		 dl_kfd_event_name(k->event), who, k->detail[0] ? ": " : "",
		 dl_text_safe(detail, sizeof(detail), k->detail));
	return true;
}

static bool body(const struct dl_event *ev, char *buf, size_t size)
{
	switch (ev->kind) {
	case DL_EV_SENSOR:
		return sensor_text(&ev->sensor, buf, size);
	case DL_EV_DEVICE:
		return device_text(&ev->device, buf, size);
	case DL_EV_LOG:
		return log_text(ev, buf, size);
	case DL_EV_KFD:
		return kfd_text(ev, buf, size);
	case DL_EV_FACT:
		return fact_text(ev, buf, size);
	case DL_EV_PROCESS:
		return process_text(ev, buf, size);
	case DL_EV_ACT:
		return act_text(ev, buf, size);
	case DL_EV_ORDER:
		snprintf(buf, size, "order    %s of workload %u", dl_rung_name(ev->order.rung),
			 ev->order.workload);
		return true;
	case DL_EV_LEFT:
		snprintf(buf, size, "left     %s of workload %u, by an earlier agent",
			 dl_rung_name(ev->left.rung), ev->left.workload);
		return true;
	case DL_EV_PROBE:
		return probe_text(&ev->probe, buf, size);
	default:
		return false;
	}
}

bool dl_event_text(const struct dl_event *ev, char *buf, size_t size)
{
	char text[DL_EVENT_TEXT_SIZE - 24];

	if (!body(ev, text, sizeof(text)))
		return false;
	snprintf(buf, size, "%6" PRIu64 ".%03" PRIu64 "  %s", ev->at_ns / DL_NS_PER_S,
		 ev->at_ns % DL_NS_PER_S / DL_NS_PER_MS, text);
	return true;
}
