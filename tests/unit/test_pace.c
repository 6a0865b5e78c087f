/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's tick rate: low at rest, and full from the first precursor on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "agent/agent_pace.h"
#include "agent/act/units.h"

#define NOW_NS	 (1000 * DAVY_NS_PER_S)
#define QUICK_US 100000

static struct davy_agent agent;

static int new_agent(void **state)
{
	(void)state;
	memset(&agent, 0, sizeof(agent));
	davy_core_init(&agent.core);
	return 0;
}

static bool rests(void)
{
	uint64_t us = davy_agent_pace_us(&agent, NOW_NS);

	assert_true(us == QUICK_US || us >= 1000000);
	assert_int_equal(agent.rests, us > QUICK_US);
	return agent.rests;
}

/* What has just been put into "agent" ends a rest before the loop waits, and keeps it away. */
static void assert_wakes(void)
{
	uint64_t us = 0;

	agent.rests = true;
	assert_true(davy_agent_pace_wakes(&agent, NOW_NS, &us));
	assert_int_equal(us, QUICK_US);
	assert_false(davy_agent_pace_wakes(&agent, NOW_NS, &us)); /* the tick is near already */
	assert_false(rests());
}

static void an_agent_with_nothing_to_do_rests(void **state)
{
	uint64_t us = 1;

	(void)state;
	assert_true(rests());
	assert_false(davy_agent_pace_wakes(&agent, NOW_NS, &us));
	assert_int_equal(us, 1);
	assert_true(agent.rests);
}

static void an_event_keeps_it_awake_for_seconds(void **state)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_PASID, 0);
	uint64_t fed_ns, us;

	(void)state;
	agent.out.fd = -1; /* prints nothing */
	davy_agent_feed(&agent, &ev);
	fed_ns = agent.news_ns;
	agent.rests = true;
	assert_true(davy_agent_pace_wakes(&agent, fed_ns, &us));
	assert_int_equal(davy_agent_pace_us(&agent, fed_ns - 1),
			 QUICK_US); /* fed within the tick */
	assert_int_equal(davy_agent_pace_us(&agent, fed_ns + 4 * DAVY_NS_PER_S), QUICK_US);
	assert_true(davy_agent_pace_us(&agent, fed_ns + 6 * DAVY_NS_PER_S) > QUICK_US);
}

static void ticks_and_the_time_of_day_are_no_news(void **state)
{
	struct davy_event tick = davy_agent_event(DAVY_EV_TICK, 0);
	struct davy_event clock = davy_agent_event(DAVY_EV_CLOCK, 0);

	(void)state;
	agent.out.fd = -1;
	davy_agent_feed(&agent, &tick);
	davy_agent_feed(&agent, &clock);
	assert_int_equal(agent.news_ns, 0);
}

static void an_engine_ends_the_rest(void **state)
{
	(void)state;
	agent.tracked[DAVY_TRACKED_MAX - 1].pid = 7;
	assert_true(rests()); /* a process that is no engine, and is not looked at again */
	agent.tracked[DAVY_TRACKED_MAX - 1].reported.engine = DAVY_ENGINE_LLAMA_SERVER;
	assert_wakes();
}

static void a_look_that_is_due_ends_the_rest(void **state)
{
	(void)state;
	agent.tracked[0].pid = 7;
	agent.tracked[0].inspect_ns = NOW_NS + 5000000;
	assert_wakes();
}

static void a_look_under_way_ends_the_rest(void **state)
{
	(void)state;
	agent.readers.at[DAVY_READERS - 1].begun_ns = NOW_NS;
	assert_wakes();
}

static void a_look_that_waits_ends_the_rest(void **state)
{
	(void)state;
	agent.readers.queue.count = 1;
	assert_wakes();
}

static void an_alarm_ends_the_rest(void **state)
{
	(void)state;
	agent.core.alarm_count = 1;
	assert_wakes();
}

static void acts_in_force_end_the_rest(void **state)
{
	struct davy_workload *w = davy_world_workload_get(&agent.core.world, 3, NOW_NS);

	(void)state;
	assert_true(rests()); /* adopted, and does not run */
	w->effect_count = 1;
	assert_wakes();
	w->effect_count = 0;
	w->retry_ns = NOW_NS;
	assert_wakes();
	w->retry_ns = 0;
	w->freeze_plan = 1;
	assert_wakes();
	w->freeze_plan = 0;
	w->pid = 7;
	assert_wakes();
}

static void a_unit_under_way_ends_the_rest(void **state)
{
	static struct davy_units units;

	(void)state;
	memset(&units, 0, sizeof(units));
	agent.units = &units;
	strcpy(units.unit[0].name, "a.service");
	assert_true(rests());
	units.unit[0].act.plan = 1;
	assert_wakes();
	units.unit[0].act.plan = 0;
	units.unit[0].main_pid = 7;
	assert_wakes();
}

static void a_client_ends_the_rest(void **state)
{
	(void)state;
	agent.links[DAVY_LINKS_MAX - 1].source = (void *)&agent; /* not called */
	assert_wakes();
	agent.links[DAVY_LINKS_MAX - 1].source = NULL;
	assert_true(rests());
	agent.sockets.all.connects = 1; /* it was turned away, and the count waits for a tick */
	assert_wakes();
}

static void a_gpu_that_fills_up_ends_the_rest(void **state)
{
	struct davy_watched_gpu *w = &agent.gpus.gpu[0];

	(void)state;
	agent.gpus.count = 1;
	w->lockups_ns = w->sampled_ns = NOW_NS;
	w->next_ns = NOW_NS + 5 * DAVY_NS_PER_S;
	assert_true(rests());
	w->next_ns = NOW_NS + 200 * DAVY_NS_PER_MS;
	assert_wakes();
}

static void a_held_line_of_the_log_ends_the_rest(void **state)
{
	(void)state;
	agent.kernel_log.said[0].ev.kind = DAVY_EV_LOG;
	assert_true(rests());
	agent.kernel_log.said[0].ev.log.repeats = 1;
	assert_wakes();
}

#define TEST(f) cmocka_unit_test_setup(f, new_agent)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agent_with_nothing_to_do_rests),
		TEST(an_event_keeps_it_awake_for_seconds),
		TEST(ticks_and_the_time_of_day_are_no_news),
		TEST(an_engine_ends_the_rest),
		TEST(a_look_that_is_due_ends_the_rest),
		TEST(a_look_under_way_ends_the_rest),
		TEST(a_look_that_waits_ends_the_rest),
		TEST(an_alarm_ends_the_rest),
		TEST(acts_in_force_end_the_rest),
		TEST(a_unit_under_way_ends_the_rest),
		TEST(a_client_ends_the_rest),
		TEST(a_gpu_that_fills_up_ends_the_rest),
		TEST(a_held_line_of_the_log_ends_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
