/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions become incidents: by subject and time, with action, outcome and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/message.h"
#include "report/incidents.h"

#define S 1000000000LL

static struct davy_incidents all;

static int incidents_empty(void **state)
{
	(void)state;
	davy_incidents_done(&all);
	return 0;
}

static void decide(const char *rung, json_int_t at_s, const char *hazard, int level, int pid,
		   const char *device)
{
	json_t *line =
		json_pack("{s:i, s:s, s:{s:s, s:I, s:i, s:s, s:i, s:i, s:s}}", "number", 1, "text",
			  rung, "json", "rung", rung, "at_ns", at_s * S, "id", (int)at_s, "hazard",
			  hazard, "level", level, "pid", pid, "device", device);

	davy_incidents_add(&all, line);
	json_decref(line);
}

static void an_alarm_its_action_and_its_end_are_one_incident(void **state)
{
	(void)state;
	decide("note", 100, "job_stall", 1, 50, "gpu");
	decide("note", 101, "job_stall", 3, 50, "gpu");
	decide("pause", 101, "job_stall", 3, 50, "gpu");
	decide("outcome", 102, "job_stall", 0, 50, "gpu");
	assert_int_equal(all.count, 1);
	assert_int_equal(all.at[0].id, 100);
	assert_int_equal(all.at[0].level, 3);
	assert_int_equal(all.at[0].ended_ns, 0);
	decide("clear", 110, "job_stall", 3, 50, "gpu");
	assert_int_equal(all.at[0].ended_ns, 110 * S);
	assert_int_equal(json_array_size(all.at[0].lines), 5);
	assert_string_equal(davy_message_text(davy_incident_last(&all.at[0], NULL), "rung"),
			    "pause");
	assert_null(davy_incident_last(&all.at[0], "failure"));
	assert_null(all.at[0].failure);
}

static void alarms_of_one_device_are_one_incident(void **state)
{
	(void)state;
	decide("note", 100, "exhaustion", 2, 0, "gpu");
	decide("note", 105, "eviction_storm", 1, 60, "gpu");
	decide("clear", 110, "exhaustion", 2, 0, "gpu");
	assert_int_equal(all.count, 1);
	assert_string_equal(all.at[0].hazard, "exhaustion");
	assert_int_equal(all.at[0].ended_ns, 0); /* the other one stands */
	decide("clear", 111, "eviction_storm", 1, 60, "gpu");
	assert_int_equal(all.at[0].ended_ns, 111 * S);
}

static void another_device_or_a_later_time_is_another_incident(void **state)
{
	(void)state;
	decide("note", 100, "exhaustion", 2, 0, "gpu");
	decide("note", 101, "exhaustion", 2, 0, "other");
	assert_int_equal(all.count, 2);
	decide("clear", 102, "exhaustion", 2, 0, "gpu");
	decide("note", 131, "reset", 3, 0, "gpu");
	assert_int_equal(all.count, 2); /* 29 s later */
	decide("clear", 132, "reset", 3, 0, "gpu");
	decide("note", 163, "reset", 3, 0, "gpu");
	assert_int_equal(all.count, 3);
}

static void a_failure_without_an_alarm_is_an_incident_that_has_ended(void **state)
{
	json_t *line = json_pack("{s:{s:s, s:I, s:i, s:s, s:s}}", "json", "rung", "failure",
				 "at_ns", 5 * S, "id", 9, "class", "ring_timeout", "device", "gpu");

	(void)state;
	davy_incidents_add(&all, line);
	json_decref(line);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.at[0].hazard, "ring_timeout");
	assert_non_null(all.at[0].failure);
	assert_int_equal(all.at[0].level, 0);
	assert_int_equal(all.at[0].ended_ns, 5 * S);
}

static void orders_and_events_are_no_incident(void **state)
{
	json_t *event = json_pack("{s:s, s:{s:s}}", "text", "x", "json", "event", "sensor");
	json_t *nothing = json_pack("{s:n, s:i}", "json", "text", 5);

	(void)state;
	decide("pause", 100, "none", 0, 50, "gpu");
	decide("clear", 100, "reset", 3, 50, "gpu");
	davy_incidents_add(&all, event);
	davy_incidents_add(&all, nothing);
	assert_int_equal(all.count, 0);
	json_decref(event);
	json_decref(nothing);
}

static void full_tables_drop_what_has_ended(void **state)
{
	char device[16];

	(void)state;
	decide("note", 1, "reset", 3, 0, "stands");
	for (int i = 0; i < 3 * DAVY_INCIDENTS_TOLD; i++) {
		snprintf(device, sizeof(device), "gpu%d", i);
		decide("note", 100 + i, "reset", 3, 0, device);
		decide("clear", 100 + i, "reset", 3, 0, device);
	}
	assert_int_equal(all.count, DAVY_INCIDENTS_TOLD);
	assert_int_equal(all.at[0].id, 1); /* it stands */
	for (int i = 0; i < 2 * DAVY_INCIDENT_LINES; i++)
		decide("check", 1000 + i, "reset", 3, 0, "stands");
	assert_int_equal(json_array_size(all.at[0].lines), DAVY_INCIDENT_LINES);
	assert_int_equal(all.at[0].unlisted, DAVY_INCIDENT_LINES + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_alarm_its_action_and_its_end_are_one_incident,
					  incidents_empty),
		cmocka_unit_test_teardown(alarms_of_one_device_are_one_incident, incidents_empty),
		cmocka_unit_test_teardown(another_device_or_a_later_time_is_another_incident,
					  incidents_empty),
		cmocka_unit_test_teardown(a_failure_without_an_alarm_is_an_incident_that_has_ended,
					  incidents_empty),
		cmocka_unit_test_teardown(orders_and_events_are_no_incident, incidents_empty),
		cmocka_unit_test_teardown(full_tables_drop_what_has_ended, incidents_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
