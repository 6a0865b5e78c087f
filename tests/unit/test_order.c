/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts that an operator orders: their requirements and their plans. */
#include "able.h"

#include "report/event_text.h"
#include "report/plan_text.h"

static void admitted(uint8_t adopted, uint8_t pinned, uint8_t rival)
{
	struct davy_event ev = able_event(1, 50, ALL_CAN);

	ev.workload.adopted = adopted;
	ev.workload.pinned = pinned;
	ev.workload.rival = rival;
	tell(&ev);
}

static void begin(enum davy_mode mode, uint8_t can)
{
	begin_able(NULL, can);
	set("agent.mode", mode);
}

static struct davy_event an_order(enum davy_action action)
{
	struct davy_event ev = event(DAVY_EV_ORDER, 0);

	ev.order.workload = 1;
	ev.order.action = (uint8_t)action;
	ev.order.cap_bytes = 1 << 30;
	ev.order.to_backend =
		action == DAVY_ACTION_SWITCH ? DAVY_BACKEND_ROCM : DAVY_BACKEND_UNKNOWN;
	return ev;
}

static const struct davy_plan *order(enum davy_action action)
{
	struct davy_event ev = an_order(action);

	tell(&ev);
	return last_action(action, DAVY_HZ_NONE);
}

static void an_order_becomes_a_plan_with_its_measures(void **state)
{
	struct davy_event ev;
	const struct davy_plan *plan;
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	ev = an_order(DAVY_ACTION_THROTTLE);
	ev.order.on_permille = 500;
	ev.order.lease_ns = 30 * S;
	tell(&ev);
	plan = last_action(DAVY_ACTION_THROTTLE, DAVY_HZ_NONE);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->id, (1 << 16) + 1);
	assert_int_equal(plan->pid, 50);
	assert_int_equal(plan->on_permille, 500);
	assert_int_equal(plan->lease_ns, 30 * S);
	davy_plan_text(plan, text, sizeof(text));
	assert_non_null(strstr(text, "throttle to 50 % for 30.0 s (go)"));
	assert_non_null(strstr(text, "ordered by an operator"));
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_NONE)->action, DAVY_ACTION_THROTTLE);
	assert_int_equal(core.world.workloads[0].freeze_plan, plan->id);
	ev = an_order(DAVY_ACTION_SHRINK);
	ev.order.settings.ubatch = 128;
	ev.order.settings.context = 4096;
	tell(&ev);
	plan = last_action(DAVY_ACTION_SHRINK, DAVY_HZ_NONE);
	assert_int_equal(plan->settings.ubatch, 128);
	davy_plan_text(plan, text, sizeof(text));
	assert_non_null(strstr(text, "shrink to ubatch 128, context 4096 (go)"));
}

static void orders_need_admission(void **state)
{
	struct davy_event ev;

	(void)state;
	begin(DAVY_MODE_OBSERVE, ALL_CAN);
	assert_int_equal(order(DAVY_ACTION_PAUSE)->refusal, DAVY_REFUSED_MODE);
	begin(DAVY_MODE_ADVISE, ALL_CAN);
	assert_int_equal(order(DAVY_ACTION_PAUSE)->verdict, DAVY_VERDICT_ADVISED);
	set("agent.mode", DAVY_MODE_ENFORCE);
	admitted(0, 0, 0);
	assert_int_equal(order(DAVY_ACTION_PAUSE)->refusal, DAVY_REFUSED_NOT_ADOPTED);
	admitted(1, 1, 0);
	assert_int_equal(order(DAVY_ACTION_PAUSE)->refusal, DAVY_REFUSED_PINNED);
	ev = an_order(DAVY_ACTION_STOP);
	ev.order.workload = 9;
	tell(&ev);
	assert_int_equal(last_action(DAVY_ACTION_STOP, DAVY_HZ_NONE)->refusal,
			 DAVY_REFUSED_NOT_ADOPTED);
	assert_int_equal(last_action(DAVY_ACTION_STOP, DAVY_HZ_NONE)->workload, 9);
}

static void a_workload_of_another_manager_is_held_and_not_replaced(void **state)
{
	static const enum davy_action replacing[] = { DAVY_ACTION_RESTART, DAVY_ACTION_MIGRATE_CPU,
						      DAVY_ACTION_SHRINK,  DAVY_ACTION_SWITCH,
						      DAVY_ACTION_UNLOAD,  DAVY_ACTION_STOP };

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	admitted(1, 0, 1);
	for (size_t i = 0; i < sizeof(replacing) / sizeof(replacing[0]); i++)
		assert_int_equal(order(replacing[i])->refusal, DAVY_REFUSED_RIVAL);
	assert_int_equal(order(DAVY_ACTION_PAUSE)->verdict, DAVY_VERDICT_GO);
}

static void an_act_that_a_workload_cannot_do_is_refused(void **state)
{
	static const struct {
		enum davy_action action;
		uint8_t can;
	} needs[] = {
		{ DAVY_ACTION_PAUSE, DAVY_CAN_FREEZE },	 { DAVY_ACTION_THROTTLE, DAVY_CAN_FREEZE },
		{ DAVY_ACTION_SHRINK, DAVY_CAN_SHRINK }, { DAVY_ACTION_CAP, DAVY_CAN_CAP },
		{ DAVY_ACTION_UNLOAD, DAVY_CAN_UNLOAD }, { DAVY_ACTION_SWITCH, DAVY_CAN_SWITCH }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		begin(DAVY_MODE_ENFORCE, (uint8_t)(ALL_CAN & ~needs[i].can));
		assert_int_equal(order(needs[i].action)->refusal, DAVY_REFUSED_UNABLE);
		begin(DAVY_MODE_ENFORCE, needs[i].can);
		assert_int_equal(order(needs[i].action)->verdict, DAVY_VERDICT_GO);
	}
}

static void orders_run_one_at_a_time_without_a_budget(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	set("budget.acts_per_hour", 0);
	plan = order(DAVY_ACTION_PAUSE);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(order(DAVY_ACTION_SHRINK)->refusal, DAVY_REFUSED_BUSY);
	act(plan->id, DAVY_ACT_FAILED, 0, -3);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_NONE)->result, -3);
	assert_int_equal(order(DAVY_ACTION_SHRINK)->verdict, DAVY_VERDICT_GO);
}

static void a_hold_ends_by_its_lease_or_an_undo(void **state)
{
	const struct davy_plan *plan;
	struct davy_event ev;
	uint32_t pause;

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	pause = order(DAVY_ACTION_PAUSE)->id;
	act(pause, DAVY_ACT_IN_FORCE, 0, 0);
	act(pause, DAVY_ACT_RELEASED, 0, 0);
	assert_int_equal(core.world.workloads[0].freeze_plan, 0);
	pause = order(DAVY_ACTION_PAUSE)->id;
	act(pause, DAVY_ACT_IN_FORCE, 0, 0);
	ev = an_order(DAVY_ACTION_UNDO);
	ev.order.undo = DAVY_ACTION_PAUSE;
	tell(&ev);
	plan = last_action(DAVY_ACTION_UNDO, DAVY_HZ_NONE);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	assert_int_equal(plan->undone, DAVY_ACTION_PAUSE);
	act(plan->id, DAVY_ACT_RELEASED, 0, 0);
	assert_int_equal(last_of(DAVY_PLAN_OUTCOME, DAVY_HZ_NONE)->action, DAVY_ACTION_UNDO);
	assert_int_equal(core.world.workloads[0].freeze_plan, 0);
}

static void only_actions_for_orders_are_valid(void **state)
{
	struct davy_event good, ev;

	(void)state;
	begin_history();
	good = an_order(DAVY_ACTION_THROTTLE);
	assert_true(davy_event_valid(&good));
	for (uint8_t action = 0; action < DAVY_ACTION_COUNT + 2; action++) {
		ev = good;
		ev.order.action = action;
		assert_int_equal(davy_event_valid(&ev), davy_action_known(action));
		ev = good;
		ev.order.undo = action;
		assert_int_equal(davy_event_valid(&ev), !action || davy_action_known(action));
	}
	ev = good;
	ev.order.workload = 0;
	assert_false(davy_event_valid(&ev));
	ev = good;
	ev.order.on_permille = 1001;
	assert_false(davy_event_valid(&ev));
	ev = good;
	ev.order.lease_ns = DAVY_ORDER_LEASE_MAX_NS + 1;
	assert_false(davy_event_valid(&ev));
	ev = good;
	ev.order.to_backend = DAVY_BACKEND_COUNT;
	assert_false(davy_event_valid(&ev));
}

static void missing_values_are_chosen(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	plan = order(DAVY_ACTION_THROTTLE);
	assert_int_equal(plan->on_permille, 500);
	assert_int_equal(plan->lease_ns, 30 * S);
	act(plan->id, DAVY_ACT_FAILED, 0, -3);
	plan = order(DAVY_ACTION_PAUSE);
	assert_int_equal(plan->lease_ns, 2 * S);
	act(plan->id, DAVY_ACT_FAILED, 0, -3);
	plan = order(DAVY_ACTION_SHRINK);
	assert_int_equal(plan->settings.ubatch, 256);
	assert_int_equal(plan->keeps, 1);
	act(plan->id, DAVY_ACT_SERVING, 0, 0);
	assert_int_equal(order(DAVY_ACTION_SHRINK)->settings.ubatch, 128);
}

static void an_undo_needs_something_to_undo(void **state)
{
	const struct davy_plan *plan;
	struct davy_event ev;

	(void)state;
	begin(DAVY_MODE_ENFORCE, ALL_CAN);
	assert_int_equal(order(DAVY_ACTION_UNDO)->refusal, DAVY_REFUSED_UNABLE);
	act(order(DAVY_ACTION_SHRINK)->id, DAVY_ACT_SERVING, 0, 0);
	act(order(DAVY_ACTION_SHRINK)->id, DAVY_ACT_SERVING, 0, 0);
	rest(3600 * S); /* only the operator undoes it */
	assert_int_equal(count_of_action(DAVY_ACTION_UNDO, DAVY_HZ_NONE), 1);
	plan = order(DAVY_ACTION_UNDO);
	assert_int_equal(plan->undone, DAVY_ACTION_SHRINK);
	assert_int_equal(plan->settings.ubatch, 256);
	act(plan->id, DAVY_ACT_SERVING, 0, 0);
	plan = order(DAVY_ACTION_UNDO);
	assert_int_equal(plan->settings.ubatch, 0); /* as its command says */
	act(plan->id, DAVY_ACT_FAILED, 0, -5);
	assert_int_equal(first_workload()->effect_count, 1);
	ev = an_order(DAVY_ACTION_UNDO);
	ev.order.undo = DAVY_ACTION_CAP;
	tell(&ev);
	assert_int_equal(last_action(DAVY_ACTION_UNDO, DAVY_HZ_NONE)->refusal, DAVY_REFUSED_UNABLE);
}

static void an_order_is_reported(void **state)
{
	struct davy_event ev;
	char text[DAVY_EVENT_TEXT_SIZE];
	char *json;

	(void)state;
	begin_history();
	ev = an_order(DAVY_ACTION_UNDO);
	ev.order.undo = DAVY_ACTION_SHRINK;
	assert_true(davy_event_text(&ev, text, sizeof(text)));
	assert_non_null(strstr(text, "order    undo of workload 1"));
	json = davy_event_json(&ev);
	assert_non_null(strstr(json, "\"event\":\"order\""));
	assert_non_null(strstr(json, "\"undoes\":\"shrink\""));
	free(json);
}

static void orders_are_replayed(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("order", ALL_CAN);
	set("agent.mode", DAVY_MODE_ADVISE);
	order(DAVY_ACTION_PAUSE); /* advised */
	set("agent.mode", DAVY_MODE_ENFORCE);
	plan = order(DAVY_ACTION_PAUSE);
	act(plan->id, DAVY_ACT_IN_FORCE, 0, 0);
	now += 2 * S;
	act(plan->id, DAVY_ACT_RELEASED, 0, 0);
	admitted(1, 1, 0);
	order(DAVY_ACTION_PAUSE); /* refused */
	assert_replays();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_becomes_a_plan_with_its_measures),
		cmocka_unit_test(orders_need_admission),
		cmocka_unit_test(a_workload_of_another_manager_is_held_and_not_replaced),
		cmocka_unit_test(an_act_that_a_workload_cannot_do_is_refused),
		cmocka_unit_test(orders_run_one_at_a_time_without_a_budget),
		cmocka_unit_test(a_hold_ends_by_its_lease_or_an_undo),
		cmocka_unit_test(only_actions_for_orders_are_valid),
		cmocka_unit_test(missing_values_are_chosen),
		cmocka_unit_test(an_undo_needs_something_to_undo),
		cmocka_unit_test(an_order_is_reported),
		cmocka_unit_test(orders_are_replayed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
