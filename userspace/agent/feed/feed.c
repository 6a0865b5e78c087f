/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one way into the core: trace, step, report, act. */
#include "agent/agent.h"

#include <string.h>

#include "lib/log.h"

struct dl_event dl_agent_event(enum dl_event_kind kind, uint32_t pid)
{
	struct dl_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = dl_boot_ns();
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

static void record(struct dl_agent *a, const struct dl_event *ev)
{
	int err;

	if (!a->trace)
		return;
	err = dl_trace_write(a->trace, ev);
	if (!err)
		return;
	dl_log("trace '%s': %s; recording ends here, the agent goes on", a->options.record_path,
	       strerror(-err));
	dl_trace_close(a->trace);
	a->trace = NULL;
}

/* What the core judges must be about somebody it was told of, as long as that can be read. */
static bool wants_process(const struct dl_event *ev)
{
	return ev->pid && ev->kind != DL_EV_PROCESS && ev->kind != DL_EV_PROCESS_EXIT &&
	       ev->kind != DL_EV_OWNER && ev->kind != DL_EV_WORKLOAD && ev->kind != DL_EV_ACT &&
	       ev->kind != DL_EV_ORDER;
}

static void feed_now(struct dl_agent *a, const struct dl_event *ev)
{
	struct dl_plan plans[DL_PLANS_MAX];
	size_t count;

	if (wants_process(ev))
		dl_tracker_know(a, ev->pid);
	if (ev->kind == DL_EV_BO_MOVED && ev->bo_moved.owner_pid)
		dl_tracker_know(a, ev->bo_moved.owner_pid);
	a->event_count++;
	record(a, ev);
	dl_output_event(a, ev);
	count = dl_core_step(&a->core, ev, plans, DL_PLANS_MAX);
	a->acting = true;
	for (size_t i = 0; i < count; i++) {
		dl_agent_act(a, &plans[i]); /* first: printing may wait for a slow reader */
		dl_output_plan(a, &plans[i]);
	}
	a->acting = false;
	if (ev->kind == DL_EV_JOB_TIMES)
		dl_agent_ledger_job(a, ev);
	if (ev->kind == DL_EV_PROCESS_EXIT)
		dl_tracker_gone(a, ev->pid);
	if (ev->kind == DL_EV_ACT) {
		dl_agent_intents_told(a, &ev->act);
		dl_agent_order_ended(a, &ev->act);
	}
}

/* An act's immediate result waits until all plans of the step are out, as it will in a replay. */
void dl_agent_feed(struct dl_agent *a, const struct dl_event *ev)
{
	if (a->acting) {
		if (a->waiting_count < DL_WAITING_MAX)
			a->waiting[a->waiting_count++] = *ev;
		else
			dl_log("event '%s' dropped: too many at once",
			       dl_event_kind_name(ev->kind));
		return;
	}
	feed_now(a, ev);
	while (a->waiting_count) {
		struct dl_event next = a->waiting[0];

		a->waiting_count--;
		memmove(a->waiting, a->waiting + 1, a->waiting_count * sizeof(next));
		feed_now(a, &next);
	}
}
