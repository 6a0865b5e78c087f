/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judge: which alarms foresee a failure, which process they name, which actions are in time. */
#include "history.h"

#include "lab/alarm_judge.h"

#define OTHER "0000:81:00.0"
#define PID   4711

/* A failure at 1000 s with its cause at 800 s and its sign at 900 s. */
static struct davy_case failing(void)
{
	struct davy_case of = { .labelled = true, .failed = true };

	of.label.class = DAVY_CLASS_RING_TIMEOUT;
	strcpy(of.label.device, GPU);
	of.label.pid = PID;
	of.label.begin_ns = 100 * S;
	of.label.duration_ns = 1000 * S;
	of.label.cause_ns = 800 * S;
	of.label.precursor_ns = 900 * S;
	of.label.failure_ns = 1000 * S;
	return of;
}

static struct davy_plan note(uint64_t at_ns, uint32_t pid, const char *device, uint8_t level)
{
	struct davy_plan plan = { .kind = DAVY_PLAN_NOTE, .hazard = DAVY_HZ_JOB_STALL };

	plan.at_ns = at_ns;
	plan.pid = pid;
	plan.level = level;
	strcpy(plan.device, device);
	return plan;
}

static struct davy_core judged_core; /* with the default configuration */

static struct davy_score judged(const struct davy_case *of, const struct davy_plan *plans,
				size_t count)
{
	struct davy_judge j;

	judged_core.config.value[DAVY_CFG_FORESIGHT_HORIZON_MS] = 300000;
	judged_core.config.value[DAVY_CFG_FORESIGHT_RESET_HORIZON_MS] = 600000;
	judged_core.config.value[DAVY_CFG_FORESIGHT_WINDOW_MS] = 10000;
	davy_judge_begin(&j, of);
	for (size_t i = 0; i < count; i++)
		davy_judge_plan(&j, &plans[i]);
	davy_judge_end(&j, &judged_core);
	return j.score;
}

static struct davy_score judged_one(const struct davy_case *of, struct davy_plan plan)
{
	return judged(of, &plan, 1);
}

static void an_alarm_between_sign_and_failure_is_correct(void **state)
{
	struct davy_case of = failing();
	struct davy_score s = judged_one(&of, note(950 * S, PID, GPU, 2));

	(void)state;
	assert_true(s.foreseen);
	assert_int_equal(s.lead_time_ns, 50 * S);
	assert_int_equal(s.false_count, 0);
	assert_int_equal(s.hazard, DAVY_HZ_JOB_STALL);
	assert_int_equal(davy_lead_time_permille(&of, &s), 500);
}

static void each_edge_of_the_time_in_which_one_counts(void **state)
{
	const struct {
		uint64_t at_ns;
		bool foreseen, false_alarm;
		uint32_t permille;
	} edges[] = {
		{ 1000 * S, false, false, 0 },	  /* not before it */
		{ 1000 * S - 1, true, false, 0 }, /* a nanosecond's lead */
		{ 900 * S, true, false, 1000 },	  /* at the sign */
		{ 850 * S, true, false, 1000 },	  /* after the cause: foresight, no luck */
		{ 799 * S, true, false, 1000 },	  /* a little early */
		{ 799 * S - 1, false, true, 0 },  /* nothing could be known: luck */
		{ 100 * S, false, true, 0 },
	};
	struct davy_case of = failing();

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		struct davy_score s = judged_one(&of, note(edges[i].at_ns, PID, GPU, 3));

		assert_int_equal(s.foreseen, edges[i].foreseen);
		assert_int_equal(s.false_count, edges[i].false_alarm);
		assert_int_equal(davy_lead_time_permille(&of, &s), edges[i].permille);
	}
}

static void an_alarm_must_name_the_failing_object(void **state)
{
	struct davy_case of = failing(), host = failing(), anybody = failing();

	(void)state;
	assert_true(judged_one(&of, note(950 * S, 1, GPU, 2)).foreseen);  /* the device */
	assert_true(judged_one(&of, note(950 * S, PID, "", 2)).foreseen); /* the process */
	assert_true(judged_one(&of, note(950 * S, 0, "", 2)).foreseen);	  /* the host */
	assert_false(judged_one(&of, note(950 * S, PID, OTHER, 2)).foreseen);
	assert_int_equal(judged_one(&of, note(950 * S, PID, OTHER, 2)).false_count, 0);
	assert_int_equal(judged_one(&of, note(950 * S, PID, OTHER, 2)).no_credit_count, 1);
	assert_false(judged_one(&of, note(950 * S, 1, OTHER, 2)).foreseen);
	assert_int_equal(judged_one(&of, note(950 * S, 1, OTHER, 2)).false_count, 1);
	assert_int_equal(judged_one(&of, note(1050 * S, 1, OTHER, 2)).false_count, 0);
	assert_false(judged_one(&of, note(950 * S, 1, "", 2)).foreseen);
	anybody.label.pid = 0; /* no process: pid 0 is no match */
	assert_false(judged_one(&anybody, note(950 * S, 0, OTHER, 2)).foreseen);
	host.label.device[0] = 0; /* no device's: "" is no match */
	assert_false(judged_one(&host, note(950 * S, 1, "", 2)).foreseen);
	assert_true(judged_one(&host, note(950 * S, PID, GPU, 2)).foreseen);
}

/* A page fault after a reset, and after a fault of another process: neither led to it. */
static void an_unrelated_alarm_foresees_nothing(void **state)
{
	struct davy_case of = failing();
	struct davy_plan reset = note(978 * S, PID, GPU, 2), fault = note(950 * S, 1, GPU, 3);
	struct davy_score s;

	(void)state;
	of.label.class = DAVY_CLASS_PAGE_FAULT;
	reset.hazard = DAVY_HZ_RESET;
	s = judged_one(&of, reset);
	assert_false(s.foreseen);
	assert_int_equal(s.no_credit_count, 1);
	assert_int_equal(s.false_count, 0);
	of.label.class = DAVY_CLASS_GPU_RESET;
	assert_true(judged_one(&of, reset).foreseen);
	fault.hazard = DAVY_HZ_FAULT_STORM;
	assert_true(judged_one(&of, fault).foreseen);
	of.label.class = DAVY_CLASS_PAGE_FAULT;
	assert_false(judged_one(&of, fault).foreseen);
	fault.pid = 0; /* unknown: the device is the right one */
	assert_true(judged_one(&of, fault).foreseen);
}

static void a_sign_after_the_first_failure_of_the_incident_foresees_nothing(void **state)
{
	struct davy_incident *e = &judged_core.foresight.incidents[3];
	struct davy_case of = failing();

	(void)state;
	e->used = e->reported = true;
	strcpy(e->device, GPU);
	e->first_ns = 980 * S;
	e->last_ns = 995 * S;
	assert_false(judged_one(&of, note(985 * S, PID, GPU, 2)).foreseen);
	assert_int_equal(judged_one(&of, note(985 * S, PID, GPU, 2)).no_credit_count, 1);
	assert_int_equal(judged_one(&of, note(950 * S, PID, GPU, 2)).lead_time_ns, 30 * S);
	strcpy(e->device, OTHER);
	assert_true(judged_one(&of, note(985 * S, PID, GPU, 2)).foreseen);
	strcpy(e->device, GPU);
	e->last_ns = 985 * S; /* more than the window before the failure: another incident */
	assert_true(judged_one(&of, note(985 * S, PID, GPU, 2)).foreseen);
	memset(e, 0, sizeof(*e));
}

static void an_alarm_that_was_cleared_long_before_foresees_nothing(void **state)
{
	struct davy_case of = failing();
	struct davy_plan plans[] = { note(650 * S, PID, GPU, 2), note(660 * S, PID, GPU, 0),
				     note(990 * S, PID, GPU, 2) };
	struct davy_score s;

	(void)state;
	of.label.cause_ns = of.label.precursor_ns = 600 * S;
	plans[1].kind = DAVY_PLAN_CLEAR;
	assert_false(judged(&of, plans, 2).foreseen);
	plans[1].at_ns = 700 * S; /* its horizon is 300 s */
	assert_true(judged(&of, plans, 2).foreseen);
	plans[1].at_ns = 699 * S;
	s = judged(&of, plans, 3);
	assert_int_equal(s.lead_time_ns, 10 * S);
	assert_int_equal(s.no_credit_count, 1);
}

/* "met": the label's process runs. "known": the kernel names it in an event of that kind. */
static enum davy_named named_by(const struct davy_case *of, bool met, uint32_t known,
				const struct davy_plan *plans, size_t count)
{
	struct davy_event ev = { .at_ns = 940 * S, .pid = PID, .kind = DAVY_EV_PROCESS };
	struct davy_judge j;

	davy_judge_begin(&j, of);
	if (met)
		davy_judge_event(&j, &ev);
	ev.kind = known;
	davy_judge_event(&j, &ev);
	for (size_t i = 0; i < count; i++)
		davy_judge_plan(&j, &plans[i]);
	davy_judge_end(&j, &judged_core);
	return (enum davy_named)j.score.named;
}

static void the_attribution_of_the_alarms_is_judged(void **state)
{
	struct davy_case of = failing(), nobodys = failing();
	struct davy_plan right = note(950 * S, PID, GPU, 2), other = note(945 * S, 1, GPU, 2);
	struct davy_plan nobody = note(945 * S, 0, GPU, 2), of_victim = other, of_culprit = other;
	struct davy_plan two[] = { other, right };

	(void)state;
	nobodys.label.pid = 0;
	of_victim.victim_pid = of_culprit.culprit_pid = PID;
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, &right, 1), DAVY_NAMED_RIGHT);
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, &of_victim, 1), DAVY_NAMED_RIGHT);
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, &of_culprit, 1), DAVY_NAMED_RIGHT);
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, two, 2), DAVY_NAMED_RIGHT);
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, &other, 1), DAVY_NAMED_WRONG);
	assert_int_equal(named_by(&of, true, DAVY_EV_RING, &nobody, 1), DAVY_NAMED_NOBODY);
	assert_int_equal(named_by(&of, true, DAVY_EV_LOG, &nobody, 1), DAVY_NAMED_UNKNOWN);
	assert_int_equal(named_by(&of, false, DAVY_EV_LOG, &other, 1), DAVY_NAMED_UNKNOWN);
	assert_int_equal(named_by(&nobodys, true, DAVY_EV_RING, &other, 1), DAVY_NAMED_UNKNOWN);
}

static struct davy_score acted_on(const struct davy_case *of, struct davy_plan plan,
				  enum davy_action action, enum davy_verdict verdict)
{
	struct davy_judge j;

	plan.kind = DAVY_PLAN_ACTION;
	plan.action = (uint8_t)action;
	plan.verdict = (uint8_t)verdict;
	davy_judge_begin(&j, of);
	davy_judge_act(&j, &judged_core, &plan);
	davy_judge_end(&j, &judged_core);
	return j.score;
}

static void an_action_must_end_before_the_failure(void **state)
{
	struct davy_case of = failing(), benign = of;
	struct davy_plan late = note(1000 * S - S / 10, PID, GPU, 3);
	struct davy_score s;

	(void)state;
	s = acted_on(&of, note(950 * S, PID, GPU, 2), DAVY_ACTION_STOP, DAVY_VERDICT_ADVISED);
	assert_true(s.acted);
	assert_int_equal(s.act, DAVY_ACTION_STOP);
	assert_int_equal(s.false_act_count, 0);
	assert_false(acted_on(&of, late, DAVY_ACTION_STOP, DAVY_VERDICT_ADVISED).acted);
	assert_true(acted_on(&of, late, DAVY_ACTION_PAUSE, DAVY_VERDICT_ADVISED).acted);
	s = acted_on(&of, late, DAVY_ACTION_PAUSE, DAVY_VERDICT_REFUSED);
	assert_true(!s.acted && !s.false_act_count);
	s = acted_on(&of, note(950 * S, 1, OTHER, 2), DAVY_ACTION_PAUSE, DAVY_VERDICT_ADVISED);
	assert_true(!s.acted && s.false_act_count == 1);
	benign.failed = false;
	benign.label.class = DAVY_CLASS_NONE;
	assert_int_equal(
		acted_on(&benign, late, DAVY_ACTION_PAUSE, DAVY_VERDICT_ADVISED).false_act_count,
		1);
}

/* 10 GB: 10 s to load again, and 0.4 s to stop. */
static void a_replacement_takes_the_time_to_load_its_memory(void **state)
{
	struct davy_event ev = { .at_ns = S, .pid = PID, .kind = DAVY_EV_CLIENT };
	struct davy_plan plans[DAVY_PLANS_MAX];
	struct davy_case of = failing();

	(void)state;
	strcpy(ev.client.device, GPU);
	ev.client.vram = 10000000000;
	davy_core_init(&judged_core);
	davy_core_step(&judged_core, &ev, plans, DAVY_PLANS_MAX);
	judged_one(&of, note(950 * S, PID, GPU, 2)); /* sets the horizons */
	assert_true(
		acted_on(&of, note(989 * S, PID, GPU, 3), DAVY_ACTION_SHRINK, DAVY_VERDICT_ADVISED)
			.acted);
	assert_false(
		acted_on(&of, note(990 * S, PID, GPU, 3), DAVY_ACTION_SHRINK, DAVY_VERDICT_ADVISED)
			.acted);
	assert_true(
		acted_on(&of, note(999 * S, PID, GPU, 3), DAVY_ACTION_STOP, DAVY_VERDICT_ADVISED)
			.acted);
	davy_core_init(&judged_core);
}

static void only_notes_of_level_two_and_up_are_alarms(void **state)
{
	struct davy_case of = failing();
	struct davy_plan plan = note(950 * S, PID, GPU, 3);

	(void)state;
	assert_false(judged_one(&of, note(950 * S, PID, GPU, 1)).foreseen);
	assert_int_equal(judged_one(&of, note(150 * S, PID, GPU, 1)).false_count, 0);
	for (uint8_t kind = DAVY_PLAN_CHECK; kind < DAVY_PLAN_KIND_COUNT; kind++) {
		plan.kind = kind;
		assert_false(judged_one(&of, plan).foreseen);
	}
}

static void the_first_alarm_makes_the_lead(void **state)
{
	struct davy_case of = failing();
	struct davy_plan plans[] = { note(910 * S, PID, GPU, 2), note(950 * S, PID, GPU, 3),
				     note(990 * S, 0, GPU, 2) };
	struct davy_score s = judged(&of, plans, 3);

	(void)state;
	assert_int_equal(s.lead_time_ns, 90 * S);
	assert_int_equal(s.false_count, 0);
}

static void an_alarm_counts_once_until_it_is_cleared(void **state)
{
	struct davy_case benign = { .labelled = true };
	struct davy_plan plans[] = {
		note(110 * S, PID, GPU, 2), note(111 * S, PID, GPU, 3), /* it rises */
		note(112 * S, PID, GPU, 1), note(120 * S, PID, GPU, 0), /* cleared below */
		note(130 * S, PID, GPU, 2), note(131 * S, 1, GPU, 2),	/* another's */
	};
	struct davy_score s;

	(void)state;
	benign.label.duration_ns = 1000 * S;
	plans[3].kind = DAVY_PLAN_CLEAR;
	s = judged(&benign, plans, 2);
	assert_int_equal(s.false_count, 1);
	s = judged(&benign, plans, 6);
	assert_int_equal(s.false_count, 3);
	assert_int_equal(s.false_of[DAVY_HZ_JOB_STALL], 3);
	assert_false(s.foreseen);
}

static void an_alarm_that_stands_since_before_the_cause_is_luck(void **state)
{
	struct davy_case of = failing();
	struct davy_plan plans[] = { note(200 * S, PID, GPU, 2), note(950 * S, PID, GPU, 3) };
	struct davy_score s = judged(&of, plans, 2);

	(void)state;
	assert_false(s.foreseen);
	assert_int_equal(s.false_count, 1);
}

static void more_alarms_than_can_stand_are_counted_all_the_same(void **state)
{
	struct davy_case benign = { .labelled = true };
	struct davy_judge j;

	(void)state;
	davy_judge_begin(&j, &benign);
	for (uint32_t pid = 1; pid <= DAVY_ALARMS_MAX + 10; pid++) {
		struct davy_plan plan = note(pid * S, pid, GPU, 2);

		davy_judge_plan(&j, &plan);
	}
	assert_int_equal(j.score.false_count, DAVY_ALARMS_MAX + 10);
}

static void a_recorded_failure_has_no_false_alarms(void **state)
{
	struct davy_case of = failing(), quiet = { 0 };

	(void)state;
	of.labelled = false;
	assert_true(judged_one(&of, note(850 * S, PID, GPU, 2)).foreseen);
	assert_int_equal(judged_one(&of, note(150 * S, PID, GPU, 2)).false_count, 0);
	assert_int_equal(judged_one(&quiet, note(150 * S, PID, GPU, 2)).false_count, 0);
}

static void a_failure_at_its_sign_has_all_of_its_lead(void **state)
{
	struct davy_case of = failing();
	struct davy_score s;

	(void)state;
	of.label.precursor_ns = of.label.failure_ns; /* possible: none */
	s = judged_one(&of, note(999 * S, PID, GPU, 2));
	assert_int_equal(davy_lead_time_permille(&of, &s), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_alarm_between_sign_and_failure_is_correct),
		cmocka_unit_test(each_edge_of_the_time_in_which_one_counts),
		cmocka_unit_test(an_alarm_must_name_the_failing_object),
		cmocka_unit_test(an_unrelated_alarm_foresees_nothing),
		cmocka_unit_test(a_sign_after_the_first_failure_of_the_incident_foresees_nothing),
		cmocka_unit_test(an_alarm_that_was_cleared_long_before_foresees_nothing),
		cmocka_unit_test(the_attribution_of_the_alarms_is_judged),
		cmocka_unit_test(an_action_must_end_before_the_failure),
		cmocka_unit_test(a_replacement_takes_the_time_to_load_its_memory),
		cmocka_unit_test(only_notes_of_level_two_and_up_are_alarms),
		cmocka_unit_test(the_first_alarm_makes_the_lead),
		cmocka_unit_test(an_alarm_counts_once_until_it_is_cleared),
		cmocka_unit_test(an_alarm_that_stands_since_before_the_cause_is_luck),
		cmocka_unit_test(more_alarms_than_can_stand_are_counted_all_the_same),
		cmocka_unit_test(a_recorded_failure_has_no_false_alarms),
		cmocka_unit_test(a_failure_at_its_sign_has_all_of_its_lead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
