/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only entry into the core: trace, step, report, act. */
#include "agent/agent.h"

#include <string.h>

#include "lib/log.h"

struct davy_event davy_agent_event(enum davy_event_kind kind, uint32_t pid)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = davy_boot_ns();
	ev.kind = kind;
	ev.pid = pid;
	return ev;
}

void davy_agent_acted(struct davy_agent *a, uint32_t plan, uint32_t workload,
		      enum davy_act_stage stage, uint32_t pid, int result)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_ACT, pid);

	ev.act.plan = plan;
	ev.act.workload = workload;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	davy_agent_feed(a, &ev);
}

static void record(struct davy_agent *a, const struct davy_event *ev)
{
	int err;

	if (!a->trace)
		return;
	err = davy_trace_write(a->trace, ev);
	if (!err)
		return;
	davy_log("trace '%s': %s; recording ends here, 10 s may be lost; the agent continues",
		 a->options.record_path, strerror(-err));
	davy_trace_close(a->trace);
	a->trace = NULL;
}

/* The core must know the process of an event before it judges the event. */
static bool wants_process(const struct davy_event *ev)
{
	return ev->pid && ev->kind != DAVY_EV_PROCESS && ev->kind != DAVY_EV_PROCESS_EXIT &&
	       ev->kind != DAVY_EV_OWNER && ev->kind != DAVY_EV_WORKLOAD &&
	       ev->kind != DAVY_EV_ACT && ev->kind != DAVY_EV_ORDER;
}

static void feed_now(struct davy_agent *a, const struct davy_event *ev)
{
	const struct davy_agent_hooks *hooks = a->hooks;
	struct davy_plan plans[DAVY_PLANS_MAX];
	size_t count;

	if (hooks && wants_process(ev))
		hooks->process_named(a, ev->pid);
	if (hooks && ev->kind == DAVY_EV_BO_MOVED && ev->bo_moved.owner_pid)
		hooks->process_named(a, ev->bo_moved.owner_pid);
	a->event_count++;
	if (ev->kind != DAVY_EV_TICK && ev->kind != DAVY_EV_CLOCK)
		a->news_ns = davy_boot_ns();
	record(a, ev);
	davy_output_event(a, ev);
	count = davy_core_step(&a->core, ev, plans, DAVY_PLANS_MAX);
	a->acting = true;
	for (size_t i = 0; i < count; i++) {
		if (hooks) /* first: printing may wait for a slow reader */
			hooks->plan_made(a, &plans[i]);
		davy_output_plan(a, &plans[i]);
	}
	a->acting = false;
	if (hooks)
		hooks->event_judged(a, ev);
}

/* The immediate result of an act waits until all plans of the step are printed, as in a replay. */
void davy_agent_feed(struct davy_agent *a, const struct davy_event *ev)
{
	if (a->acting) {
		if (a->waiting_count < DAVY_WAITING_MAX)
			a->waiting[a->waiting_count++] = *ev;
		else
			davy_log("event '%s' dropped: too many results at once",
				 davy_event_kind_name(ev->kind));
		return;
	}
	feed_now(a, ev);
	while (a->waiting_count) {
		struct davy_event next = a->waiting[0];

		a->waiting_count--;
		memmove(a->waiting, a->waiting + 1, a->waiting_count * sizeof(next));
		feed_now(a, &next);
	}
}
