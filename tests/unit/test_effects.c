/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What acts leave in force, and how it is taken back: one rung in a clean period. */
#include "able.h"
#include "jobs.h"

#define CLEAN (600 * S)

static const struct dl_plan *undo_of(enum dl_hazard hazard)
{
	return last_of(DL_RUNG_UNDO, hazard);
}

static size_t undo_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < kept_count; i++)
		count += kept[i].rung == DL_RUNG_UNDO;
	return count;
}

static void no_memory(uint32_t pid)
{
	struct dl_event ev = event(DL_EV_ALLOC_FAILED, pid);

	dl_copy_name(ev.alloc_failed.device, sizeof(ev.alloc_failed.device), GPU);
	ev.alloc_failed.stage = DL_ALLOC_IOCTL;
	ev.alloc_failed.error = -12;
	ev.alloc_failed.fresh = 1;
	tell(&ev);
}

/* Its context is halved, in another process. */
static void shrunk(uint32_t old, uint32_t pid)
{
	no_memory(old);
	replaced_by(last_of(DL_RUNG_SHRINK, DL_HZ_ALLOC_FAILURE)->id, old, pid, DL_BACKEND_VULKAN,
		    512);
}

static void undone(uint32_t old, uint32_t pid)
{
	replaced_by(undo_of(DL_HZ_ALLOC_FAILURE)->id, old, pid, DL_BACKEND_VULKAN, 512);
}

static void one_rung_is_undone_in_each_clean_period(void **state)
{
	(void)state;
	begin_able("undo-shrink", DL_CAN_SHRINK | DL_CAN_KEEP);
	shrunk(50, 51);
	rest(20 * S);
	shrunk(51, 52);
	assert_int_equal(first_workload()->knobs.context, 8192);
	assert_int_equal(first_workload()->effect_count, 2);
	rest(CLEAN - S);
	assert_int_equal(undo_count(), 0);
	rest(30 * S); /* the alarm stood for a while */
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->verdict, DL_VERDICT_GO);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->level, DL_RUNG_SHRINK);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->knobs.context, 16384);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->keeps, 1);
	undone(52, 53);
	assert_int_equal(first_workload()->knobs.context, 16384);
	rest(CLEAN - 10 * S);
	assert_int_equal(undo_count(), 1);
	rest(20 * S);
	assert_int_equal(undo_count(), 2);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->knobs.context, 0); /* as its command says */
	undone(53, 54);
	assert_int_equal(first_workload()->effect_count, 0);
	rest(2 * CLEAN);
	assert_int_equal(undo_count(), 2);
	assert_replays();
}

/* Seconds from the last act until its undo is begun. */
static uint64_t clean_seconds(uint32_t pid, uint32_t next)
{
	uint64_t since = now;
	size_t undos = undo_count();

	while (undo_count() == undos && now - since < 100000 * S)
		rest(10 * S);
	undone(pid, next);
	return (now - since) / S;
}

static void a_hazard_soon_after_an_undo_doubles_the_period(void **state)
{
	uint64_t first, second, third;

	(void)state;
	begin_able(NULL, DL_CAN_SHRINK);
	shrunk(50, 51);
	first = clean_seconds(51, 52);
	rest(60 * S);
	shrunk(52, 53); /* it was needed */
	second = clean_seconds(53, 54);
	rest(60 * S);
	shrunk(54, 55);
	third = clean_seconds(55, 56);
	assert_in_range(first, 600, 630);
	assert_in_range(second, 1200, 1230);
	assert_in_range(third, 2400, 2430);
	rest(3 * 2400 * S); /* and at last it was not */
	shrunk(56, 57);
	assert_in_range(clean_seconds(57, 58), 600, 630);
}

static void trouble_puts_the_undo_off(void **state)
{
	(void)state;
	begin_able("undo-troubled", DL_CAN_SHRINK);
	shrunk(50, 51);
	for (int i = 0; i < 10; i++) {
		rest(300 * S);
		ring_runs(51, RING, 6 * S, 10 * S, (uint64_t)i + 1); /* level 2 */
	}
	assert_int_equal(undo_count(), 0);
	assert_replays();
}

static void an_undo_needs_consent_like_any_act(void **state)
{
	struct dl_event ev;

	(void)state;
	begin_able("undo-refused", DL_CAN_SHRINK);
	shrunk(50, 51);
	ev = able_event(1, 51, DL_CAN_SHRINK);
	ev.workload.pinned = 1;
	tell(&ev);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->refusal, DL_REFUSED_PINNED);
	assert_int_equal(undo_count(), 1); /* told once */
	set("agent.mode", DL_MODE_ADVISE);
	able(1, 51, DL_CAN_SHRINK);
	rest(60 * S);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->verdict, DL_VERDICT_ADVISED);
	assert_int_equal(undo_count(), 2);
	set("agent.mode", DL_MODE_ENFORCE);
	rest(S);
	assert_int_equal(undo_of(DL_HZ_ALLOC_FAILURE)->verdict, DL_VERDICT_GO);
	assert_replays();
}

static void an_undo_that_fails_waits_longer(void **state)
{
	(void)state;
	begin_able(NULL, DL_CAN_SHRINK | DL_CAN_KEEP);
	shrunk(50, 51);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_count(), 1);
	act(undo_of(DL_HZ_ALLOC_FAILURE)->id, DL_ACT_FAILED, 0, -5);
	assert_int_equal(first_workload()->effect_count, 1);
	rest(CLEAN + 60 * S);
	assert_int_equal(undo_count(), 1);
	rest(CLEAN);
	assert_int_equal(undo_count(), 2);
}

static void from_the_cpu_back_when_the_breaker_lets_it(void **state)
{
	const struct dl_plan *plan;

	(void)state;
	begin_able("undo-probation", ALL_CAN);
	set("breaker.backoff", 3600 * 1000);
	throws(50, LOST);
	ends(50, 6);
	plan = last_of(DL_RUNG_MIGRATE_CPU, DL_HZ_RUNNER_CRASH);
	replaced_by(plan->id, 50, 51, DL_BACKEND_CPU, 512);
	rest(3500 * S);
	assert_int_equal(undo_count(), 0); /* it is clean, but the breaker is open */
	rest(110 * S);
	plan = undo_of(DL_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DL_VERDICT_GO);
	assert_int_equal(plan->level, DL_RUNG_MIGRATE_CPU);
	assert_int_equal(plan->to_backend, DL_BACKEND_VULKAN);
	assert_string_equal(plan->device, GPU);
	replaced_by(plan->id, 51, 52, DL_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	rest(601 * S); /* the probation */
	assert_int_equal(core.breakers[0].state, DL_BREAKER_CLOSED);
	assert_int_equal(undo_count(), 1);
	assert_replays();
}

static void a_probation_that_fails_moves_it_again(void **state)
{
	const struct dl_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	throws(50, LOST);
	ends(50, 6);
	plan = last_of(DL_RUNG_MIGRATE_CPU, DL_HZ_RUNNER_CRASH);
	replaced_by(plan->id, 50, 51, DL_BACKEND_CPU, 512);
	rest(630 * S);
	replaced_by(undo_of(DL_HZ_RUNNER_CRASH)->id, 51, 52, DL_BACKEND_VULKAN, 512);
	rest(60 * S);
	throws(52, LOST);
	ends(52, 6);
	plan = last_of(DL_RUNG_MIGRATE_CPU, DL_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DL_VERDICT_GO);
	assert_int_equal(plan->at_ns, now);
	replaced_by(plan->id, 52, 53, DL_BACKEND_CPU, 512);
	rest(1100 * S);
	assert_int_equal(undo_count(), 1); /* both have doubled: back-off and clean period */
	rest(200 * S);
	assert_int_equal(undo_count(), 2);
}

static void computes(uint32_t pid, uint64_t prompt, uint32_t depth)
{
	struct dl_event ev = event(DL_EV_PROGRESS, pid);

	ev.progress.prompt_count = prompt;
	ev.progress.depth = depth;
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

static const struct dl_plan *smaller(void)
{
	return last_of(DL_RUNG_SHRINK, DL_HZ_RUNNER_CRASH);
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

static void what_has_served_is_halved(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	serves_for(50, 1800 * S, 300);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->verdict, DL_VERDICT_GO);
	assert_int_equal(smaller()->knobs.ubatch, 256);
	assert_int_equal(smaller()->tuning.why, DL_TUNER_LOWER);
	assert_int_equal(core.breaker_count, 0); /* the device is not given up */
	replaced_by(smaller()->id, 50, 51, DL_BACKEND_VULKAN, 256);
	serves_for(51, 1800 * S, 300);
	dies_of(51, 256, 256);
	assert_int_equal(smaller()->knobs.ubatch, 64);
	replaced_by(smaller()->id, 51, 52, DL_BACKEND_VULKAN, 64);
	assert_int_equal(first_workload()->effect_count, 1);
}

static void what_dies_at_once_gets_the_smallest(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	assert_int_equal(smaller()->knobs.ubatch, 64);
	assert_int_equal(smaller()->tuning.depth, 512);
}

/* An hour's soak, as deep as it failed; then half way to what is known to be bad. */
static void it_goes_up_after_a_soak_as_deep(void **state)
{
	const struct dl_plan *plan;

	(void)state;
	begin_able("undo-tuned", ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DL_BACKEND_VULKAN, 64);
	serves_for(51, 7200 * S, 300);
	assert_int_equal(undo_count(), 0); /* it has not been tried */
	serves_for(51, 120 * S, 600);
	assert_int_equal(undo_count(), 1);
	plan = undo_of(DL_HZ_RUNNER_CRASH);
	assert_int_equal(plan->level, DL_RUNG_SHRINK);
	assert_int_equal(plan->tuning.why, DL_TUNER_RAISE);
	assert_in_range(plan->knobs.ubatch, 65, 511);
	replaced_by(plan->id, 51, 52, DL_BACKEND_VULKAN, plan->knobs.ubatch);
	assert_int_equal(first_workload()->knobs.ubatch, undo_of(DL_HZ_RUNNER_CRASH)->knobs.ubatch);
	assert_int_equal(first_workload()->effect_count, 1); /* something of it is left */
	serves_for(52, 3 * 3600 * S, 600);
	assert_int_equal(undo_count(), 1); /* at most one in a back-off */
	assert_replays();
}

static void what_dies_with_little_too_goes_to_the_cpu(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DL_BACKEND_VULKAN, 64);
	rest(60 * S);
	dies_of(51, 64, 64);
	assert_int_equal(smaller()->tuning.knob, DL_TUNER_CONTEXT);
	replaced_by(smaller()->id, 51, 52, DL_BACKEND_VULKAN, 64);
	rest(60 * S);
	dies_of(52, 64, 64);
	assert_int_equal(last_of(DL_RUNG_MIGRATE_CPU, DL_HZ_RUNNER_CRASH)->verdict, DL_VERDICT_GO);
	assert_int_equal(core.breaker_count, 1);
}

static void from_the_cpu_it_comes_back_with_less(void **state)
{
	const struct dl_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 20, 20); /* a small batch is not to blame */
	plan = last_of(DL_RUNG_MIGRATE_CPU, DL_HZ_RUNNER_CRASH);
	assert_int_equal(plan->verdict, DL_VERDICT_GO);
	replaced_by(plan->id, 50, 51, DL_BACKEND_CPU, 512);
	rest(630 * S);
	plan = undo_of(DL_HZ_RUNNER_CRASH);
	assert_int_equal(plan->level, DL_RUNG_MIGRATE_CPU);
	assert_int_equal(plan->knobs.ubatch, 64);
	replaced_by(plan->id, 51, 52, DL_BACKEND_VULKAN, 64);
	assert_int_equal(first_workload()->knobs.ubatch, 64);
	assert_int_equal(first_workload()->effect_count, 1);
}

static void what_cannot_be_changed_is_left_alone(void **state)
{
	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	act(smaller()->id, DL_ACT_FAILED, 0, -95);
	able(1, 51, ALL_CAN);
	sized_process(51, 1, DL_BACKEND_VULKAN, 512);
	assert_int_equal(dl_core_tuned(&core, 1)->fixed, 1u << DL_TUNER_UBATCH);
}

static void an_operator_ends_what_was_tuned(void **state)
{
	struct dl_event ev;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DL_BACKEND_VULKAN, 64);
	ev = event(DL_EV_ORDER, 0);
	ev.order.workload = 1;
	ev.order.rung = DL_RUNG_UNDO;
	tell(&ev);
	assert_int_equal(undo_of(DL_HZ_NONE)->knobs.ubatch, 0);
	replaced_by(undo_of(DL_HZ_NONE)->id, 51, 52, DL_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	assert_int_equal(dl_core_tuned(&core, 1)->tuner.of[DL_BACKEND_VULKAN].failures, 0);
}

static void left_by_another(enum dl_rung rung, enum dl_hazard hazard, uint32_t ubatch)
{
	struct dl_event ev = event(DL_EV_LEFT, 0);

	ev.left.workload = 1;
	ev.left.rung = (uint8_t)rung;
	ev.left.hazard = (uint8_t)hazard;
	ev.left.backend = DL_BACKEND_VULKAN;
	ev.left.knobs.ubatch = ubatch;
	dl_copy_name(ev.left.device, sizeof(ev.left.device), GPU);
	tell(&ev);
}

/* What one core has found out another is told, as the agent does it. */
static void what_is_known_is_told_again(void **state)
{
	struct dl_event ev = event(DL_EV_TUNING, 0);
	static struct dl_tuned known;

	(void)state;
	begin_able(NULL, ALL_CAN);
	dies_of(50, 512, 512);
	replaced_by(smaller()->id, 50, 51, DL_BACKEND_VULKAN, 64);
	known = *dl_core_tuned(&core, 1);
	begin_able(NULL, ALL_CAN);
	left_by_another(DL_RUNG_SHRINK, DL_HZ_RUNNER_CRASH, 64);
	ev = event(DL_EV_TUNING, 0);
	ev.tuning.workload = 1;
	ev.tuning.flags = DL_TUNING_FIRST | DL_TUNING_LAST;
	ev.tuning.backend = DL_BACKEND_VULKAN;
	ev.tuning.stamp = 7;
	memcpy(ev.tuning.head, &known.tuner, sizeof(ev.tuning.head));
	memcpy(ev.tuning.told, known.told, sizeof(ev.tuning.told));
	ev.tuning.of = known.tuner.of[DL_BACKEND_VULKAN];
	assert_true(dl_event_valid(&ev));
	tell(&ev);
	serves_for(50, 7200 * S, 300);
	assert_int_equal(undo_count(), 0); /* it knows at which depth it failed */
	serves_for(50, 120 * S, 600);
	assert_int_equal(undo_of(DL_HZ_RUNNER_CRASH)->tuning.why, DL_TUNER_RAISE);
	ev.tuning.flags = DL_TUNING_LAST; /* another kernel: it may be tried sooner */
	ev.tuning.stamp = 8;
	tell(&ev);
	assert_int_equal(dl_core_tuned(&core, 1)->tuner.stamp, 8);
	assert_int_equal(
		dl_core_tuned(&core, 1)->tuner.of[DL_BACKEND_VULKAN].knob[0].bad[0].doubtful, 1);
	ev.tuning.of.active = DL_TUNER_KNOBS + 1;
	assert_false(dl_event_valid(&ev));
}

static void what_an_earlier_agent_left_is_undone_too(void **state)
{
	const struct dl_plan *plan;

	(void)state;
	begin_able(NULL, ALL_CAN);
	left_by_another(DL_RUNG_SHRINK, DL_HZ_JOB_HEADROOM, 128);
	left_by_another(DL_RUNG_MIGRATE_CPU, DL_HZ_RESET, 0);
	assert_int_equal(first_workload()->knobs.ubatch, 128);
	rest(CLEAN - S);
	assert_int_equal(undo_count(), 0);
	rest(2 * S);
	plan = undo_of(DL_HZ_RESET);
	assert_int_equal(plan->level, DL_RUNG_MIGRATE_CPU);
	assert_int_equal(plan->to_backend, DL_BACKEND_VULKAN);
	assert_int_equal(plan->verdict, DL_VERDICT_GO);
	replaced_by(plan->id, 50, 51, DL_BACKEND_VULKAN, 128);
	rest(CLEAN + S);
	plan = undo_of(DL_HZ_JOB_HEADROOM);
	assert_int_equal(plan->level, DL_RUNG_SHRINK);
	assert_int_equal(plan->knobs.ubatch, 0); /* as its command says */
	replaced_by(plan->id, 51, 52, DL_BACKEND_VULKAN, 512);
	assert_int_equal(first_workload()->effect_count, 0);
	assert_int_equal(first_workload()->knobs.ubatch, 0);
}

static void what_an_operator_did_by_another_agent_stays(void **state)
{
	struct dl_event ev = event(DL_EV_ORDER, 0);

	(void)state;
	begin_able(NULL, ALL_CAN);
	left_by_another(DL_RUNG_SHRINK, DL_HZ_NONE, 128);
	rest(3 * CLEAN);
	assert_int_equal(undo_count(), 0);
	ev = event(DL_EV_ORDER, 0);
	ev.order.workload = 1;
	ev.order.rung = DL_RUNG_UNDO;
	tell(&ev);
	assert_int_equal(undo_of(DL_HZ_NONE)->level, DL_RUNG_SHRINK);
	assert_int_equal(undo_of(DL_HZ_NONE)->verdict, DL_VERDICT_GO);
}

static void nothing_is_left_of_what_cannot_be(void **state)
{
	struct dl_event ev = event(DL_EV_LEFT, 0);

	(void)state;
	begin_able(NULL, ALL_CAN);
	ev.left.workload = 1;
	ev.left.rung = DL_RUNG_PAUSE;
	assert_false(dl_event_valid(&ev)); /* its guard has ended it */
	ev.left.rung = DL_RUNG_SHRINK;
	assert_true(dl_event_valid(&ev));
	ev.left.workload = 7;
	tell(&ev); /* of nobody */
	assert_int_equal(first_workload()->effect_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rung_is_undone_in_each_clean_period),
		cmocka_unit_test(a_hazard_soon_after_an_undo_doubles_the_period),
		cmocka_unit_test(trouble_puts_the_undo_off),
		cmocka_unit_test(an_undo_needs_consent_like_any_act),
		cmocka_unit_test(an_undo_that_fails_waits_longer),
		cmocka_unit_test(from_the_cpu_back_when_the_breaker_lets_it),
		cmocka_unit_test(a_probation_that_fails_moves_it_again),
		cmocka_unit_test(what_has_served_is_halved),
		cmocka_unit_test(what_dies_at_once_gets_the_smallest),
		cmocka_unit_test(it_goes_up_after_a_soak_as_deep),
		cmocka_unit_test(what_dies_with_little_too_goes_to_the_cpu),
		cmocka_unit_test(from_the_cpu_it_comes_back_with_less),
		cmocka_unit_test(what_cannot_be_changed_is_left_alone),
		cmocka_unit_test(an_operator_ends_what_was_tuned),
		cmocka_unit_test(what_is_known_is_told_again),
		cmocka_unit_test(what_an_earlier_agent_left_is_undone_too),
		cmocka_unit_test(what_an_operator_did_by_another_agent_stays),
		cmocka_unit_test(nothing_is_left_of_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
