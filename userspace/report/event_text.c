/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/event_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/event/fact.h"
#include "core/event/plan.h"
#include "lib/text.h"
#include "report/plan_text.h"

static bool sensor_text(const struct davy_ev_sensor *s, char *buf, size_t size)
{
	char reason[2 * DAVY_REASON_LEN];

	davy_text_safe(reason, sizeof(reason), s->reason);
	if (s->state == DAVY_SENSOR_LOST)
		snprintf(buf, size, "LOST     %" PRIu64 " events: %s", s->count, reason);
	else if (s->state != DAVY_SENSOR_LIVE)
		snprintf(buf, size, "sensor   %s is off: %s", s->name, reason);
	else if (s->gap_ns)
		snprintf(buf, size,
			 "sensor   %s is live again (%" PRIu64 " program%s), gap %" PRIu64 " ms",
			 s->name, s->count, s->count == 1 ? "" : "s", s->gap_ns / DAVY_NS_PER_MS);
	else
		snprintf(buf, size, "sensor   %s is live (%" PRIu64 " program%s)%s%s", s->name,
			 s->count, s->count == 1 ? "" : "s", reason[0] ? ": " : "", reason);
	return true;
}

static bool process_text(const struct davy_event *ev, char *buf, size_t size)
{
	const struct davy_ev_process *p = &ev->process;
	char comm[4 * DAVY_COMM_LEN], model[256], device[128];

	if (p->engine == DAVY_ENGINE_NONE)
		return false;
	snprintf(buf, size, "process  %s[%u]: engine %s, backend %s%s%s, model %s%s",
		 davy_text_safe(comm, sizeof(comm), p->comm), ev->pid, davy_engine_name(p->engine),
		 davy_backend_name(p->backend), p->device[0] ? " on " : "",
		 davy_text_safe(device, sizeof(device), p->device),
		 davy_text_shown(model, sizeof(model), p->model[0] ? p->model : "(none)"),
		 p->workload ? ", adopted" : "");
	return true;
}

static bool event_text_act_text(const struct davy_event *ev, char *buf, size_t size)
{
	static const char *const stages[DAVY_ACT_STAGE_COUNT] = {
		[DAVY_ACT_STOPPED] = "the old process has exited",
		[DAVY_ACT_STARTED] = "the new process runs",
		[DAVY_ACT_SERVING] = "the new process generated a token",
		[DAVY_ACT_FAILED] = "failed",
		[DAVY_ACT_IN_FORCE] = "in force",
		[DAVY_ACT_RELEASED] = "released",
	};

	snprintf(buf, size, "act      plan %u on workload %u: %s%s%s", ev->act.plan,
		 ev->act.workload, stages[ev->act.stage], ev->act.result ? ": " : "",
		 ev->act.result ? davy_act_error_text(ev->act.result) : "");
	return true;
}

static bool probe_text(const struct davy_ev_probe *p, char *buf, size_t size)
{
	snprintf(buf, size,
		 "check    workload %u: /health %u, one-token completion %u, %u token, %u ms%s",
		 p->workload, p->health_status, p->completion_status, p->token_count,
		 p->completion_ms, p->flags & DAVY_PROBE_COMPUTE_FAILED ? ", a graph failed" : "");
	return true;
}

/* "Xid 31, MMU fault", "Xid 999", "page_fault" */
static void event_text_line_name(uint32_t kind, uint32_t code, char *buf, size_t size)
{
	if (kind == DAVY_LOG_XID && !davy_xid_meaning(code)->name)
		snprintf(buf, size, "Xid %u", code);
	else
		davy_copy_name(buf, size, davy_log_line_name(kind, code));
}

/* Rare facts only: hazards report the frequent ones. */
static bool fact_text(const struct davy_event *ev, char *buf, size_t size)
{
	const struct davy_ev_fact *f = &ev->fact;
	char device[2 * DAVY_DEVICE_LEN], name[2 * DAVY_FACT_NAME_LEN], who[24] = "", took[32] = "";

	if (f->fact >= DAVY_FACT_HOT || f->fact == DAVY_FACT_SIGNAL_SENT ||
	    f->fact == DAVY_FACT_SIGNAL_TAKEN)
		return false;
	if (ev->pid)
		snprintf(who, sizeof(who), ", pid %u", ev->pid);
	if (f->duration_ns)
		snprintf(took, sizeof(took), ", %" PRIu64 " ms", f->duration_ns / DAVY_NS_PER_MS);
	davy_text_safe(device, sizeof(device), f->device);
	if (f->fact == DAVY_FACT_NVIDIA_XID) /* the text of an Xid does not fit into the name */
		event_text_line_name(DAVY_LOG_XID, f->detail, name, sizeof(name));
	else
		davy_text_safe(name, sizeof(name), f->name);
	snprintf(buf, size, "kernel   %s%s%s%s%s%s%s%s%s", device, device[0] ? " " : "", name,
		 name[0] ? ": " : "", davy_fact_text(f->fact), who, took, f->error ? ": " : "",
		 f->error ? davy_error_text(f->error) : "");
	return true;
}

static bool device_text(const struct davy_ev_device *d, char *buf, size_t size)
{
	char name[2 * DAVY_DEVICE_LEN], driver[48], detail[2 * DAVY_DETAIL_LEN];

	snprintf(buf, size, "device   %s (%s) %s %s", davy_text_safe(name, sizeof(name), d->device),
		 davy_text_safe(driver, sizeof(driver), d->driver),
		 davy_device_change_name(d->change),
		 davy_text_safe(detail, sizeof(detail), d->detail));
	return true;
}

static bool log_text(const struct davy_event *ev, char *buf, size_t size)
{
	const struct davy_ev_log *l = &ev->log;
	char device[2 * DAVY_DEVICE_LEN], ring[4 * DAVY_RING_NAME_LEN], comm[4 * DAVY_COMM_LEN];
	char who[96] = "", kind[DAVY_DETAIL_LEN];

	if (l->role != DAVY_PART_FAILURE && l->role != DAVY_PART_PRECURSOR)
		return false;
	if (l->named_pid)
		snprintf(who, sizeof(who), ", %s[%u]", davy_text_safe(comm, sizeof(comm), l->comm),
			 ev->pid ? ev->pid : l->named_pid);
	event_text_line_name(l->kind, l->code, kind, sizeof(kind));
	snprintf(buf, size, "log      %s%s%s%s%s%s (%s %s)",
		 davy_text_safe(device, sizeof(device), l->device), l->device[0] ? " " : "",
		 davy_text_safe(ring, sizeof(ring), l->ring), l->ring[0] ? ": " : "", kind, who,
		 davy_log_role_name(l->role),
		 l->role == DAVY_PART_FAILURE ? davy_log_class_name(l->log_class)
					      : davy_log_hazard_name(l->hazard));
	return true;
}

/* Migrations and page faults come in thousands: hazards report them. */
static bool kfd_text(const struct davy_event *ev, char *buf, size_t size)
{
	const struct davy_ev_kfd *k = &ev->kfd;
	char device[2 * DAVY_DEVICE_LEN], detail[2 * DAVY_DETAIL_LEN], who[24] = "";

	if (k->event != DAVY_KFD_VM_FAULT && k->event != DAVY_KFD_RESET_BEGIN &&
	    k->event != DAVY_KFD_RESET_END && k->event != DAVY_KFD_THERMAL_THROTTLE)
		return false;
	if (ev->pid)
		snprintf(who, sizeof(who), ", pid %u", ev->pid);
	snprintf(buf, size, "kfd      %s %s%s%s%s",
		 davy_text_safe(device, sizeof(device), k->device), davy_kfd_event_name(k->event),
		 who, k->detail[0] ? ": " : "", davy_text_safe(detail, sizeof(detail), k->detail));
	return true;
}

static bool clocks_text(const struct davy_ev_clocks *c, char *buf, size_t size)
{
	char device[2 * DAVY_DEVICE_LEN];

	snprintf(buf, size, "clocks   %s lowers its clocks: %s",
		 davy_text_safe(device, sizeof(device), c->device),
		 davy_clock_reason_name(c->reason));
	return true;
}

static bool vram_text(const struct davy_event *ev, char *buf, size_t size)
{
	static const char *const what[DAVY_VRAM_WHY_COUNT] = {
		[DAVY_VRAM_NONE] = "",
		[DAVY_VRAM_QUOTA] = "refused over its quota",
		[DAVY_VRAM_RESERVE] = "refused, the reserve stays free",
		[DAVY_VRAM_PLACEMENT] = "refused: a move into VRAM",
		[DAVY_VRAM_RACED] = "made otherwise than what was allowed (changed argument)",
	};
	char cgroup[4 * DAVY_VRAM_NAME_LEN];

	davy_text_safe(cgroup, sizeof(cgroup), ev->vram.cgroup);
	if (ev->vram.why == DAVY_VRAM_HIGH)
		snprintf(buf, size,
			 "vram     %s: %s has %" PRIu64 " KiB, more than vram_high (%" PRIu64
			 " KiB)",
			 ev->vram.device, cgroup, ev->vram.used >> 10, ev->vram.limit >> 10);
	else
		snprintf(buf, size,
			 "vram     %s: %" PRIu64 " KiB for pid %u %s; %s has %" PRIu64
			 " of %" PRIu64 " KiB (%" PRIu64 " times)",
			 ev->vram.device, ev->vram.bytes >> 10, ev->pid, what[ev->vram.why], cgroup,
			 ev->vram.used >> 10, ev->vram.limit >> 10, ev->vram.count);
	return true;
}

static bool body(const struct davy_event *ev, char *buf, size_t size)
{
	switch (ev->kind) {
	case DAVY_EV_SENSOR:
		return sensor_text(&ev->sensor, buf, size);
	case DAVY_EV_DEVICE:
		return device_text(&ev->device, buf, size);
	case DAVY_EV_LOG:
		return log_text(ev, buf, size);
	case DAVY_EV_KFD:
		return kfd_text(ev, buf, size);
	case DAVY_EV_VRAM:
		return vram_text(ev, buf, size);
	case DAVY_EV_CLOCKS:
		return clocks_text(&ev->clocks, buf, size);
	case DAVY_EV_FACT:
		return fact_text(ev, buf, size);
	case DAVY_EV_PROCESS:
		return process_text(ev, buf, size);
	case DAVY_EV_ACT:
		return event_text_act_text(ev, buf, size);
	case DAVY_EV_ORDER:
		snprintf(buf, size, "order    %s of workload %u",
			 davy_action_name(ev->order.action), ev->order.workload);
		return true;
	case DAVY_EV_RESTORED:
		snprintf(buf, size, "restored %s of workload %u, in force since an earlier agent",
			 davy_action_name(ev->restored.action), ev->restored.workload);
		return true;
	case DAVY_EV_PROBE:
		return probe_text(&ev->probe, buf, size);
	default:
		return false;
	}
}

bool davy_event_text(const struct davy_event *ev, char *buf, size_t size)
{
	char text[DAVY_EVENT_TEXT_SIZE - 24];

	if (!body(ev, text, sizeof(text)))
		return false;
	snprintf(buf, size, "%6" PRIu64 ".%03" PRIu64 "  %s", ev->at_ns / DAVY_NS_PER_S,
		 ev->at_ns % DAVY_NS_PER_S / DAVY_NS_PER_MS, text);
	return true;
}
