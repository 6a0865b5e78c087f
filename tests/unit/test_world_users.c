/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core's table of processes when one user has more of them than it holds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/core.h"

#define MALLORY 1000
#define MANY	4000

static struct davy_core core;

static void feed(const struct davy_event *ev)
{
	struct davy_plan plans[DAVY_PLANS_MAX];

	assert_true(davy_event_valid(ev));
	davy_core_step(&core, ev, plans, DAVY_PLANS_MAX);
}

/* An engine as reported by the agent. */
static void tell(uint32_t pid, uint32_t uid, uint64_t at_ns)
{
	struct davy_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.at_ns = at_ns;
	ev.pid = pid;
	ev.kind = DAVY_EV_OWNER;
	ev.owner.uid = uid;
	if (uid)
		feed(&ev);
	memset(&ev.process, 0, sizeof(ev.process));
	ev.kind = DAVY_EV_PROCESS;
	ev.process.start_ticks = pid;
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	feed(&ev);
}

static void a_user_pushes_out_his_own_processes(void **state)
{
	(void)state;
	davy_core_init(&core);
	tell(50, 7, 1);
	tell(51, 0, 2);
	for (uint32_t i = 0; i < MANY; i++)
		tell(100 + i, MALLORY, 3 + i);
	assert_true(core.world.evicted_count > 0);
	assert_non_null(davy_world_process(&core.world, 50));
	assert_int_equal(davy_world_process(&core.world, 50)->uid, 7);
	assert_non_null(davy_world_process(&core.world, 51));
	assert_non_null(davy_world_process(&core.world, 100 + MANY - 1));
}

static void without_users_the_oldest_goes(void **state)
{
	(void)state;
	davy_core_init(&core);
	tell(50, 0, 1);
	for (uint32_t i = 0; i < MANY; i++)
		tell(100 + i, 0, 3 + i);
	assert_null(davy_world_process(&core.world, 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_pushes_out_his_own_processes),
		cmocka_unit_test(without_users_the_oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
