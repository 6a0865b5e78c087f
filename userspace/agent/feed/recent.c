/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/feed/recent.h"

#include <stdlib.h>

#include "report/event_text.h"
#include "report/plan_text.h"

#define LIST_BYTES ((size_t)24 * 1024) /* a message has a maximum size */

void davy_recent_add_plan(struct davy_recent *r, const struct davy_plan *plan)
{
	struct davy_action_count *count = &r->action[plan->action];

	r->plan[r->plan_count++ % DAVY_RECENT_PLANS] = *plan;
	if (plan->kind == DAVY_PLAN_ACTION)
		count->verdict[plan->verdict]++;
	else if (plan->kind == DAVY_PLAN_OUTCOME && plan->result)
		count->failed++;
	else if (plan->kind == DAVY_PLAN_OUTCOME)
		count->done++;
}

json_t *davy_recent_actions(const struct davy_recent *r)
{
	json_t *all = json_object();

	for (uint32_t i = DAVY_ACTION_NONE + 1; i < DAVY_ACTION_COUNT; i++) {
		const struct davy_action_count *count = &r->action[i];
		json_t *o = json_pack("{s:I, s:I}", "done", (json_int_t)count->done, "failed",
				      (json_int_t)count->failed);
		uint64_t sum = count->done + count->failed;

		for (uint32_t v = 0; v < DAVY_VERDICT_COUNT; v++) {
			sum += count->verdict[v];
			json_object_set_new(o, davy_verdict_name((enum davy_verdict)v),
					    json_integer((json_int_t)count->verdict[v]));
		}
		if (sum)
			json_object_set(all, davy_action_name((enum davy_action)i), o);
		json_decref(o);
	}
	return all;
}

/* Takes "dump". False: it did not fit. */
static bool recent_add(json_t *list, size_t *used, uint64_t number, const char *text, char *dump)
{
	json_t *o = json_pack("{s:I, s:s, s:o*}", "number", (json_int_t)number, "text", text,
			      "json", dump ? json_loads(dump, 0, NULL) : NULL);

	free(dump);
	*used += json_dumpb(o, NULL, 0, JSON_COMPACT) + 1;
	if (*used < LIST_BYTES)
		json_array_append(list, o);
	json_decref(o);
	return *used < LIST_BYTES;
}

json_t *davy_recent_plans(const struct davy_recent *r, uint64_t *at)
{
	char text[DAVY_PLAN_TEXT_SIZE];
	json_t *list = json_array();
	size_t used = 0;

	if (*at + DAVY_RECENT_PLANS < r->plan_count)
		*at = r->plan_count - DAVY_RECENT_PLANS;
	for (; *at < r->plan_count; ++*at) {
		const struct davy_plan *p = &r->plan[*at % DAVY_RECENT_PLANS];

		davy_plan_text(p, text, sizeof(text));
		if (!recent_add(list, &used, *at, text, davy_plan_json(p)))
			break;
	}
	return list;
}

json_t *davy_recent_events(const struct davy_recent *r, uint64_t *at)
{
	char text[DAVY_EVENT_TEXT_SIZE];
	json_t *list = json_array();
	size_t used = 0;

	if (*at + DAVY_RECENT_EVENTS < r->event_count)
		*at = r->event_count - DAVY_RECENT_EVENTS;
	for (; *at < r->event_count; ++*at) {
		const struct davy_event *ev = &r->event[*at % DAVY_RECENT_EVENTS];

		davy_event_text(ev, text, sizeof(text));
		if (!recent_add(list, &used, *at, text, davy_event_json(ev)))
			break;
	}
	return list;
}
