/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status fits a message whatever is in it; the latest decisions come in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "agent/control/control.h"

static struct davy_agent agent;

static void fill_alarms(void)
{
	for (size_t i = 0; i < DAVY_CORE_ALARMS; i++) {
		struct davy_alarm *a = &agent.core.alarms[i];

		a->used = true;
		a->note.level = (uint8_t)(1 + i % 3);
		a->note.hazard = DAVY_HZ_ENGINE_EXCEPTION;
		a->note.id = (uint32_t)i + 1;
		memset(a->note.comm, 'c', sizeof(a->note.comm) - 1);
	}
}

static void the_worst_alarms_are_listed_and_the_rest_counted(void **state)
{
	json_int_t unlisted = 0;
	json_t *list;

	(void)state;
	fill_alarms();
	list = davy_view_alarms(&agent, &unlisted);
	assert_true(json_array_size(list) > 8);
	assert_int_equal(json_array_size(list) + (size_t)unlisted, DAVY_CORE_ALARMS);
	assert_int_equal(davy_message_number(json_array_get(list, 0), "level", 0), 3);
	json_decref(list);
}

static void a_status_that_is_too_large_is_shortened(void **state)
{
	json_t *status = json_pack("{s:s, s:[], s:[], s:[]}", "op", "status", "workloads", "alarms",
				   "processes");
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	status = davy_view_fit(status);
	assert_null(json_object_get(status, "shortened"));
	for (int i = 0; i < 60; i++) {
		json_array_append_new(json_object_get(status, "processes"), json_string(text));
		json_array_append_new(json_object_get(status, "workloads"), json_string(text));
	}
	status = davy_view_fit(status);
	assert_true(json_is_true(json_object_get(status, "shortened")));
	assert_int_equal(json_array_size(json_object_get(status, "workloads")), 0);
	assert_int_equal(json_array_size(json_object_get(status, "processes")), 60);
	json_decref(status);
}

static void decisions_come_in_parts_and_old_ones_are_gone(void **state)
{
	uint64_t at = 0, before;
	size_t count = 0;
	json_t *list;

	(void)state;
	memset(&agent.recent, 0, sizeof(agent.recent));
	for (uint32_t i = 0; i < DAVY_RECENT_PLANS + 10; i++) {
		struct davy_plan *p = &agent.recent.plan[i % DAVY_RECENT_PLANS];

		p->id = i + 1;
		p->hazard = DAVY_HZ_RESET;
		p->level = 1;
		agent.recent.plan_count++;
	}
	do {
		before = at;
		list = davy_recent_plans(&agent.recent, &at);
		assert_true(json_dumpb(list, NULL, 0, JSON_COMPACT) < DAVY_MESSAGE_MAX / 2);
		if (!count)
			assert_int_equal(davy_message_number(json_array_get(list, 0), "number", -1),
					 10);
		count += json_array_size(list);
		json_decref(list);
	} while (at != before);
	assert_int_equal(count, DAVY_RECENT_PLANS);
	assert_int_equal(at, DAVY_RECENT_PLANS + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_alarms_are_listed_and_the_rest_counted),
		cmocka_unit_test(a_status_that_is_too_large_is_shortened),
		cmocka_unit_test(decisions_come_in_parts_and_old_ones_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
