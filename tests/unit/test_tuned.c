/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tuner in the core: settings for an engine that failed, and when they are raised. */
#include "able.h"

static void computes(uint32_t pid, uint64_t prompt, uint32_t depth)
{
	struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

	ev.progress.prompt_count = prompt;
	ev.progress.depth = depth;
	tell(&ev);
}

static void rules(enum davy_mode mode, uint32_t fixed, uint32_t floor)
{
	struct davy_event ev = event(DAVY_EV_RULES, 0);

	ev.rules.workload = 1;
	ev.rules.mode = (uint8_t)(mode + 1);
	ev.rules.fixed = (uint8_t)fixed;
	ev.rules.ubatch_floor = floor;
	assert_true(davy_event_valid(&ev));
	tell(&ev);
}

/* A batch of that many tokens takes the device with it, and the process with that. */
static void dies_of(uint32_t pid, uint32_t batch, uint32_t depth)
{
	computes(pid, depth, depth);
	if (depth > batch)
		computes(pid, depth + batch, depth + batch);
	throws(pid, LOST);
	ends(pid, 6);
}

static const struct davy_plan *smaller(void)
{
	return last_action(DAVY_ACTION_SHRINK, DAVY_HZ_RUNNER_CRASH);
}

/* It serves for so long, every minute a prompt of that depth. */
static void serves_for(uint32_t pid, uint64_t ns, uint32_t depth)
{
	static uint64_t prompts = 100000;
	uint64_t end = now + ns;

	while (now < end) {
		computes(pid, prompts += depth, depth);
		rest(60 * S);
	}
}

static void an_engine_that_has_served_gets_half_the_size(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	serves_for(50, 1800 * S, 300);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->verdict, DAVY_VERDICT_GO);
	assert_int_equal(smaller()->settings.ubatch, 256);
	assert_int_equal(smaller()->tuning.why, DAVY_TUNER_LOWER);
	assert_int_equal(core.breaker_count, 0); /* the device is not given up */
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 256);
	serves_for(51, 1800 * S, 300);
	dies_of(51, 256, 256);
	assert_int_equal(smaller()->settings.ubatch, 64);
	replaced_by(smaller()->id, 51, 52, DAVY_BACKEND_VULKAN, 64);
	assert_int_equal(first_workload()->effect_count, 1);
}

static void an_engine_that_dies_at_once_gets_the_smallest_size(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.ubatch, 64);
	assert_int_equal(smaller()->tuning.depth, 512);
}

/* An hour's soak, as deep as it failed; then half way to what is known to be bad. */
static void the_size_is_raised_after_a_soak_of_equal_depth(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able("undo-tuned", ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 64);
	serves_for(51, 7200 * S, 300);
	assert_int_equal(undo_count(), 0); /* it has not been tried */
	serves_for(51, 120 * S, 600);
	assert_int_equal(undo_count(), 1);
	plan = undo_of(DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->undone, DAVY_ACTION_SHRINK);
	assert_int_equal(plan->tuning.why, DAVY_TUNER_RAISE);
	assert_in_range(plan->settings.ubatch, 65, 511);
	replaced_by(plan->id, 51, 52, DAVY_BACKEND_VULKAN, plan->settings.ubatch);
	assert_int_equal(first_workload()->settings.ubatch,
			 undo_of(DAVY_HZ_RUNNER_CRASH)->settings.ubatch);
	assert_int_equal(first_workload()->effect_count, 1); /* something of it is left */
	serves_for(52, 3 * 3600 * S, 600);
	assert_int_equal(undo_count(), 1); /* at most one in a back-off */
	assert_replays();
}

static void an_engine_that_dies_with_the_smallest_size_moves_to_the_cpu(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 64);
	rest(60 * S);
	dies_of(51, 64, 64);
	assert_int_equal(last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH)->verdict,
			 DAVY_VERDICT_GO);
	assert_int_equal(core.breaker_count, 1);
}

/* A deep context: the batch is as small as it may be, so it is the context's turn. */
static void an_engine_that_dies_at_a_depth_gets_less_context(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, 1u << DAVY_TUNER_UBATCH, 0);
	dies_of(50, 60, 9000);
	assert_int_equal(smaller()->settings.context, 4096);
}

static void from_the_cpu_it_comes_back_with_less(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 64);
	rest(60 * S);
	dies_of(51, 300, 300);
	replaced_by(smaller()->id, 51, 52, DAVY_BACKEND_VULKAN, 64);
	rest(60 * S);
	dies_of(52, 300, 300); /* two smaller settings were tried: no more now */
	plan = last_action(DAVY_ACTION_MIGRATE_CPU, DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DAVY_VERDICT_GO);
	replaced_by(plan->id, 52, 53, DAVY_BACKEND_CPU, 512);
	rest(630 * S);
	plan = undo_of(DAVY_HZ_RUNNER_CRASH);
	assert_int_equal(plan->undone, DAVY_ACTION_MIGRATE_CPU);
	assert_int_equal(plan->settings.ubatch, 64);
	assert_int_equal(plan->settings.context, 4096);
	assert_int_equal(plan->settings.parallel, 1); /* the answer to what sent it away */
	replaced_by(plan->id, 53, 54, DAVY_BACKEND_VULKAN, 64);
	assert_int_equal(first_workload()->settings.parallel, 1);
	assert_int_equal(first_workload()->effect_count, 1);
}

static void a_pinned_setting_is_not_changed(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	act(smaller()->id, DAVY_ACT_FAILED, 0, -95);
	able(1, 51, ALL_CAN);
	sized_process(51, 1, DAVY_BACKEND_VULKAN, 512);
	assert_int_equal(davy_core_tuned(&core, 1)->fixed, 1u << DAVY_TUNER_UBATCH);
}

static void an_operators_order_ends_tuning(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 64);
	ev = event(DAVY_EV_ORDER, 0);
	ev.order.workload = 1;
	ev.order.action = DAVY_ACTION_UNDO;
	tell(&ev);
	assert_int_equal(undo_of(DAVY_HZ_NONE)->settings.ubatch, 0);
	replaced_by(undo_of(DAVY_HZ_NONE)->id, 51, 52, DAVY_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	assert_int_equal(davy_core_tuned(&core, 1)->tuner.of[DAVY_BACKEND_VULKAN].failures, 0);
}

/* Passes the findings of one core to another, as the agent does. */
static void known_settings_are_reported_again(void **state)
{
	struct davy_event ev = event(DAVY_EV_TUNING, 0);
	static struct davy_tuned known;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DAVY_BACKEND_VULKAN, 64);
	known = *davy_core_tuned(&core, 1);
	begin_able(NULL, ALL_CAN);
	left_by_another(DAVY_ACTION_SHRINK, DAVY_HZ_RUNNER_CRASH, 64);
	ev = event(DAVY_EV_TUNING, 0);
	ev.tuning.workload = 1;
	ev.tuning.flags = DAVY_TUNING_FIRST | DAVY_TUNING_LAST;
	ev.tuning.backend = DAVY_BACKEND_VULKAN;
	ev.tuning.stamp = 7;
	memcpy(ev.tuning.head, &known.tuner, sizeof(ev.tuning.head));
	memcpy(ev.tuning.configured, known.configured, sizeof(ev.tuning.configured));
	ev.tuning.of = known.tuner.of[DAVY_BACKEND_VULKAN];
	assert_true(davy_event_valid(&ev));
	tell(&ev);
	serves_for(50, 7200 * S, 300);
	assert_int_equal(undo_count(), 0); /* it knows at which depth it failed */
	serves_for(50, 120 * S, 600);
	assert_int_equal(undo_of(DAVY_HZ_RUNNER_CRASH)->tuning.why, DAVY_TUNER_RAISE);
	ev.tuning.flags = DAVY_TUNING_LAST; /* another kernel: it may be tried sooner */
	ev.tuning.stamp = 8;
	tell(&ev);
	assert_int_equal(davy_core_tuned(&core, 1)->tuner.stamp, 8);
	assert_int_equal(
		davy_core_tuned(&core, 1)->tuner.of[DAVY_BACKEND_VULKAN].setting[0].bad[0].doubtful,
		1);
	ev.tuning.of.active = DAVY_TUNER_SETTINGS + 1;
	assert_false(davy_event_valid(&ev));
	ev.tuning.of.active = 0;
	ev.tuning.flags = DAVY_TUNING_FORGET;
	assert_true(davy_event_valid(&ev));
	tell(&ev);
	assert_int_equal(davy_core_tuned(&core, 1)->tuner.of[DAVY_BACKEND_VULKAN].failures, 0);
	assert_int_equal(davy_core_tuned(&core, 1)->tuner.stamp, 8);
}

/* Pins leave one setting after the other: each is changed in turn, and named. */
static void each_setting_has_its_turn(void **state)
{
	const uint32_t before_cache =
		1u << DAVY_TUNER_UBATCH | 1u << DAVY_TUNER_CONTEXT | 1u << DAVY_TUNER_PARALLEL;
	struct davy_event ev;

	(void)state;
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, 1u << DAVY_TUNER_UBATCH | 1u << DAVY_TUNER_CONTEXT, 0);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.parallel, 1);
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, before_cache, 0);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.cache_type, DAVY_TUNER_CACHE_Q8_0);
	act(smaller()->id, DAVY_ACT_FAILED, 0, -10); /* it does not start so */
	assert_int_equal(davy_core_tuned(&core, 1)->fixed, 1u << DAVY_TUNER_CACHE_TYPE);
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, before_cache | 1u << DAVY_TUNER_CACHE_TYPE, 0);
	ev = event(DAVY_EV_PROCESS, 50);
	ev.process = (struct davy_ev_process){ .start_ticks = 500,
					       .workload = 1,
					       .engine = DAVY_ENGINE_LLAMA_SERVER,
					       .backend = DAVY_BACKEND_VULKAN,
					       .gpu_layers = 99,
					       .layer_count = 32 };
	tell(&ev);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.gpu_layers_off, 99 - 8); /* a quarter of 33 stays */
}

static void people_have_the_last_word(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, 0, 200);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.ubatch, 200); /* a floor of theirs */
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_ENFORCE, 1u << DAVY_TUNER_UBATCH, 0);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->settings.ubatch, 0); /* pinned: the next setting's turn */
	assert_int_equal(smaller()->settings.context, 4096);
	begin_able(NULL, ALL_CAN);
	rules(DAVY_MODE_OBSERVE, 0, 0);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->verdict, DAVY_VERDICT_REFUSED);
	assert_int_equal(smaller()->refusal, DAVY_REFUSED_MODE);
	begin_able(NULL, ALL_CAN);
	set("agent.mode", DAVY_MODE_OBSERVE);
	rules(DAVY_MODE_ENFORCE, 0, 0);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->verdict, DAVY_VERDICT_GO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_has_served_gets_half_the_size),
		cmocka_unit_test(an_engine_that_dies_at_once_gets_the_smallest_size),
		cmocka_unit_test(the_size_is_raised_after_a_soak_of_equal_depth),
		cmocka_unit_test(an_engine_that_dies_with_the_smallest_size_moves_to_the_cpu),
		cmocka_unit_test(an_engine_that_dies_at_a_depth_gets_less_context),
		cmocka_unit_test(from_the_cpu_it_comes_back_with_less),
		cmocka_unit_test(a_pinned_setting_is_not_changed),
		cmocka_unit_test(an_operators_order_ends_tuning),
		cmocka_unit_test(known_settings_are_reported_again),
		cmocka_unit_test(each_setting_has_its_turn),
		cmocka_unit_test(people_have_the_last_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
