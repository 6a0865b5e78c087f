/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reset from facts, announcements, KFD and the log. */
#include "precursors.h"

#include "report/plan_text.h"

static const struct davy_plan *note(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET);
}

static size_t notes(void)
{
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_RESET);
}

static void timeout(const char *ring)
{
	struct davy_event ev = event(DAVY_EV_JOB_TIMEOUT, 60);

	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), ring);
	ev.job_timeout.age_ns = 2 * S;
	tell(&ev);
}

static void reset(uint32_t begun, int32_t result)
{
	struct davy_event ev = event(DAVY_EV_RESET, 0);

	davy_copy_name(ev.reset.device, sizeof(ev.reset.device), GPU);
	ev.reset.begun = begun;
	ev.reset.result = result;
	tell(&ev);
}

static void wedged_event(uint32_t recovery)
{
	struct davy_event ev = event(DAVY_EV_FACT, 0);

	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	ev.fact.fact = DAVY_FACT_WEDGED_EVENT;
	ev.fact.detail = recovery;
	ev.fact.count = ev.fact.fresh = 1;
	tell(&ev);
}

/* The kernel log is read before the program's record: the stall remains the first precursor. */
static void the_log_may_come_before_the_timeout(void **state)
{
	struct davy_event ev;
	uint64_t stalled;

	(void)state;
	engine_60(NULL);
	ev = event(DAVY_EV_RING, 60);
	davy_copy_name(ev.ring.device, sizeof(ev.ring.device), GPU);
	davy_copy_name(ev.ring.ring, sizeof(ev.ring.ring), "sdma1");
	ev.ring.age_ns = 6 * S / 10;
	ev.ring.timeout_ns = 2 * S;
	ev.ring.fence_context = ev.ring.fence_seqno = 7;
	tell(&ev);
	stalled = now;
	now += 14 * S / 10;
	ev = event(DAVY_EV_LOG, 60);
	davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
	davy_copy_name(ev.log.ring, sizeof(ev.log.ring), "sdma1");
	ev.log.kind = DAVY_LOG_RING_TIMEOUT;
	ev.log.role = davy_log_meaning(DAVY_LOG_RING_TIMEOUT)->role;
	ev.log.log_class = davy_log_meaning(DAVY_LOG_RING_TIMEOUT)->class;
	tell(&ev);
	assert_int_equal(note()->pid, 60);
	assert_int_equal(note()->first_precursor_ns, stalled);
}

static void a_first_ring_reset_warns_and_the_second_is_serious(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	engine_60("reset-again");
	line(DAVY_LOG_RING_TIMEOUT); /* two resets, 8 min 20 s apart, as in the field */
	assert_int_equal(note()->level, 1);
	davy_reason_text(note(), text, sizeof(text));
	assert_string_equal(text, "job timeout");
	line_of(DAVY_LOG_RING_RESET_DONE, GPU, 0);
	assert_int_equal(note()->level, 2);
	assert_int_equal(note()->pid, 60); /* the owner of the job */
	davy_reason_text(note(), text, sizeof(text));
	assert_string_equal(text, "ring reset succeeded after its job had timed out");
	pass(500 * S);
	line_of(DAVY_LOG_RING_RESET_DONE, GPU, 0);
	assert_int_equal(note()->level, 3);
	assert_int_equal(note()->pid, 0); /* the timeout was long ago */
	davy_reason_text(note(), text, sizeof(text));
	assert_string_equal(text, "ring reset succeeded, the second recently");
	assert_replays();
}

static void a_reset_a_day_is_a_first_one_each_time(void **state)
{
	(void)state;
	engine_60("reset-seldom");
	for (int i = 0; i < 5; i++) {
		line_of(DAVY_LOG_RING_RESET_DONE, GPU, 0);
		pass(11 * S);
		now += 3600 * S;
	}
	assert_int_equal(notes(), 5);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 2);
	assert_replays();
}

static void a_reset_of_several_sources_is_one(void **state)
{
	(void)state;
	engine_60("reset-told-once");
	timeout("gfx_0.0.0");
	line(DAVY_LOG_RING_TIMEOUT);
	fact(DAVY_FACT_SOFT_RECOVERY, -5, 1, "gfx_0.0.0");
	reset(1, 0);
	line(DAVY_LOG_GPU_RESET_BEGUN);
	kfd(DAVY_KFD_RESET_BEGIN, "job hang on ring:gfx_0.0.0");
	assert_int_equal(notes(), 1);
	now += 1900 * MS;
	line_of(DAVY_LOG_RESET_CHATTER, GPU, 0);
	wedged_event(1);
	reset(0, 0);
	assert_int_equal(notes(), 2);
	assert_int_equal(note()->level, 2);
	assert_string_equal(note()->detail, "GPU reset succeeded"); /* and no "recovered" before */
	announces(DAVY_DEVICE_WEDGED, "none", 0);
	kfd(DAVY_KFD_RESET_END, "");
	line_of(DAVY_LOG_GPU_RESET_DONE, GPU, 0);
	line_of(DAVY_LOG_RECOVERED, GPU, 0);
	now += 3 * S; /* a slow one is no second reset */
	line_of(DAVY_LOG_RECOVERED, GPU, 0);
	assert_int_equal(notes(), 2);
	assert_replays();
}

static void a_job_that_the_driver_ends_softly_is_a_note(void **state)
{
	(void)state;
	engine_60("reset-benign");
	timeout("gfx_0.0.0");
	line(DAVY_LOG_RING_TIMEOUT);
	fact(DAVY_FACT_SOFT_RECOVERY, 0, 1, "gfx_0.0.0");
	now += 20 * MS;
	line_of(DAVY_LOG_SOFT_RECOVERED, GPU, 0);
	line_of(DAVY_LOG_RESET_CHATTER, GPU, 0);
	announces(DAVY_DEVICE_COREDUMP, "devcd1", 12);
	pass(11 * S);
	assert_int_equal(notes(), 1);
	assert_int_equal(note()->level, 1);
	assert_replays();
}

static void a_device_given_up_is_serious(void **state)
{
	(void)state;
	engine_60(NULL);
	wedged_event(1); /* a ring's reset ends so too, with no reset of the device around it */
	assert_int_equal(note()->level, 2);
	wedged_event(2);
	assert_int_equal(note()->level, 3);
}

static void a_worse_report_of_a_reset_is_still_reported(void **state)
{
	(void)state;
	engine_60(NULL);
	timeout("gfx_0.0.0");
	line_of(DAVY_LOG_RING_RESET_FAILED, GPU, 0);
	assert_int_equal(note()->level, 3);
	line_of(DAVY_LOG_GPU_RESET_FAILED, GPU, 0);
	assert_int_equal(note()->level, 3);
}

static void facts_of_resets_by_their_result(void **state)
{
	static const struct {
		enum davy_fact fact;
		int32_t error;
		uint8_t level;
	} cases[] = {
		{ DAVY_FACT_SOFT_RECOVERY, 0, 1 },  { DAVY_FACT_GT_ERROR, 0, 1 },
		{ DAVY_FACT_RING_RESET, 0, 2 },	    { DAVY_FACT_RING_RESET, -110, 3 },
		{ DAVY_FACT_ENGINE_RESET, 0, 2 },   { DAVY_FACT_ENGINE_RESET, -5, 3 },
		{ DAVY_FACT_XE_QUEUE_RESET, 0, 2 }, { DAVY_FACT_CONTEXT_BANNED, 0, 2 },
		{ DAVY_FACT_WEDGED, 0, 3 },
	};
	static const enum davy_fact none[] = { DAVY_FACT_COREDUMP, DAVY_FACT_FENCE_FAILED };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		engine_60(NULL);
		fact(cases[i].fact, cases[i].error, 1, "comp_1.0.0");
		assert_int_equal(notes(), 1);
		assert_int_equal(note()->level, cases[i].level);
		assert_int_equal(note()->pid, 60);
		assert_int_equal(note()->result, cases[i].error);
	}
	engine_60(NULL);
	fact(DAVY_FACT_SOFT_RECOVERY, -5, 1, "comp_1.0.0"); /* a reset comes next */
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		fact(none[i], -5, 1, "");
	assert_int_equal(count_told(), 0);
}

static void announcements_of_i915_go_through_their_states(void **state)
{
	(void)state;
	engine_60("reset-i915");
	announces(DAVY_DEVICE_ERROR, "1", 1);
	assert_int_equal(note()->level, 1);
	announces(DAVY_DEVICE_RESET, "1", 1);
	assert_int_equal(notes(), 1);
	announces(DAVY_DEVICE_ERROR, "0", 0);
	assert_int_equal(note()->level, 2);
	announces(DAVY_DEVICE_WEDGED, "rebind,bus-reset", 0);
	assert_int_equal(note()->level, 3);
	pass(20 * S);
	announces(DAVY_DEVICE_ADDED, "", 0);
	announces(DAVY_DEVICE_COREDUMP, "devcd1", 12);
	assert_int_equal(notes(), 3);
	announces(DAVY_DEVICE_REMOVED, "", 0); /* under an engine */
	assert_int_equal(notes(), 4);
	assert_int_equal(note()->level, 3);
	assert_int_equal(note()->pid, 60);
	assert_string_equal(note()->detail, "device removed");
	assert_replays();
}

static void a_device_without_an_engine_may_be_removed(void **state)
{
	(void)state;
	begin_history();
	announces(DAVY_DEVICE_REMOVED, "", 0);
	assert_int_equal(notes(), 0);
}

static void kfd_gives_the_cause_of_a_reset(void **state)
{
	(void)state;
	engine_60(NULL);
	kfd(DAVY_KFD_RESET_BEGIN, "MES hang");
	assert_int_equal(note()->level, 1);
	assert_string_equal(note()->detail, "MES hang");
	kfd(DAVY_KFD_RESET_END, "");
	assert_int_equal(note()->level, 2);
}

static void lines_have_their_levels(void **state)
{
	static const struct {
		enum davy_log_kind kind;
		uint8_t level;
	} cases[] = {
		{ DAVY_LOG_RING_TIMEOUT, 1 },	    { DAVY_LOG_SOFT_RECOVERED, 1 },
		{ DAVY_LOG_I915_HANG, 1 },	    { DAVY_LOG_XE_JOB_TIMEOUT, 1 },
		{ DAVY_LOG_GPU_RESET_BEGUN, 1 },    { DAVY_LOG_XE_GT_RESET, 1 },
		{ DAVY_LOG_I915_GT_RESET, 2 },	    { DAVY_LOG_I915_ENGINE_RESET, 2 },
		{ DAVY_LOG_XE_ENGINE_RESET, 2 },    { DAVY_LOG_QUEUE_RESET, 2 },
		{ DAVY_LOG_QUEUE_HANG, 2 },	    { DAVY_LOG_MES_UNRECOVERABLE, 2 },
		{ DAVY_LOG_NV_LOCKED, 2 },	    { DAVY_LOG_GPU_RESET_DONE, 2 },
		{ DAVY_LOG_GPU_RESET_FAILED, 3 },   { DAVY_LOG_VRAM_LOST, 3 },
		{ DAVY_LOG_DEVICE_LOST, 3 },	    { DAVY_LOG_WEDGED, 3 },
		{ DAVY_LOG_XE_ENGINES_DEAD, 3 },    { DAVY_LOG_GSP_DEAD, 3 },
		{ DAVY_LOG_OFF_THE_BUS, 3 },	    { DAVY_LOG_I915_RESET_FAILED, 3 },
		{ DAVY_LOG_XE_GT_RESET_FAILED, 3 },
	};
	static const enum davy_log_kind none[] = {
		DAVY_LOG_RESET_CHATTER, DAVY_LOG_JOBS_SKIPPED, DAVY_LOG_GPU_RESET_STEP,
		DAVY_LOG_COREDUMP,	DAVY_LOG_OOM_KILL,     DAVY_LOG_NPU,
		DAVY_LOG_PAGE_FAULT,	DAVY_LOG_XID, /* of no class */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		engine_60(NULL);
		line(cases[i].kind);
		assert_int_equal(note()->level, cases[i].level);
	}
	engine_60(NULL);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		line(none[i]);
	assert_int_equal(notes(), 0);
}

static void an_xid_is_judged_by_its_class(void **state)
{
	static const uint8_t levels[DAVY_CLASS_COUNT] = {
		[DAVY_CLASS_RING_TIMEOUT] = 1,
		[DAVY_CLASS_GPU_RESET] = 2,
		[DAVY_CLASS_HANG] = 2,
		[DAVY_CLASS_DEVICE_LOST] = 3,
	};
	struct davy_event ev;

	(void)state;
	for (uint8_t class = 0; class < DAVY_CLASS_COUNT; class ++) {
		engine_60(NULL);
		ev = event(DAVY_EV_LOG, 60);
		davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
		ev.log.kind = DAVY_LOG_XID;
		ev.log.role = DAVY_PART_FAILURE;
		ev.log.log_class = class;
		ev.log.code = 79;
		tell(&ev);
		assert_int_equal(notes(), levels[class] != 0);
		if (!levels[class])
			continue;
		assert_int_equal(note()->level, levels[class]);
		assert_int_equal(note()->result, 79);
	}
}

static void consequences_of_a_reset_are_not_reported(void **state)
{
	struct davy_event ev;

	(void)state;
	engine_60(NULL);
	ev = event(DAVY_EV_LOG, 60);
	davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
	ev.log.kind = DAVY_LOG_RING_TIMEOUT;
	ev.log.role = DAVY_PART_AFTERMATH;
	ev.log.log_class = DAVY_CLASS_GPU_RESET;
	tell(&ev);
	assert_int_equal(count_told(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_may_come_before_the_timeout),
		cmocka_unit_test(a_first_ring_reset_warns_and_the_second_is_serious),
		cmocka_unit_test(a_reset_a_day_is_a_first_one_each_time),
		cmocka_unit_test(a_reset_of_several_sources_is_one),
		cmocka_unit_test(a_job_that_the_driver_ends_softly_is_a_note),
		cmocka_unit_test(a_device_given_up_is_serious),
		cmocka_unit_test(a_worse_report_of_a_reset_is_still_reported),
		cmocka_unit_test(facts_of_resets_by_their_result),
		cmocka_unit_test(announcements_of_i915_go_through_their_states),
		cmocka_unit_test(a_device_without_an_engine_may_be_removed),
		cmocka_unit_test(kfd_gives_the_cause_of_a_reset),
		cmocka_unit_test(lines_have_their_levels),
		cmocka_unit_test(an_xid_is_judged_by_its_class),
		cmocka_unit_test(consequences_of_a_reset_are_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
