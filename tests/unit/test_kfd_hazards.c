/* SPDX-License-Identifier: GPL-2.0-or-later */
/* restore_hog and queue_thrash: KFD's evictions of a process's queues and memory. */
#include "record.h"

#include "report/plan_text.h"

enum {
	SVM,
	USERPTR,
	TTM,
	SUSPEND,
	CRIU
};

static void kfd(enum davy_kfd_event what, uint32_t pid, uint32_t trigger, uint32_t flags)
{
	struct davy_event ev = event(DAVY_EV_KFD, pid);

	davy_copy_name(ev.kfd.device, sizeof(ev.kfd.device), GPU);
	ev.kfd.event = what;
	ev.kfd.trigger = trigger;
	ev.kfd.flags = flags;
	tell(&ev);
}

static void evicted(uint32_t trigger)
{
	kfd(DAVY_KFD_QUEUES_EVICTED, 60, trigger, 0);
}

static void restored(uint32_t flags)
{
	kfd(DAVY_KFD_QUEUES_RESTORED, 60, 0, flags);
}

static void repeated_line(enum davy_log_kind kind, uint32_t code, uint32_t repeats)
{
	const struct davy_log_meaning *meaning = davy_log_meaning(kind);
	struct davy_event ev = event(DAVY_EV_LOG, 0);

	ev.log.kind = (uint16_t)kind;
	ev.log.role = meaning->role;
	ev.log.log_class = meaning->class;
	ev.log.hazard = meaning->hazard;
	ev.log.weight = meaning->weight;
	ev.log.code = code;
	ev.log.repeats = repeats;
	tell(&ev);
}

static void line(enum davy_log_kind kind, uint32_t code)
{
	repeated_line(kind, code, 0);
}

static void fact(enum davy_fact what, uint32_t pid, uint32_t by, uint32_t detail, uint64_t count)
{
	struct davy_event ev = event(DAVY_EV_FACT, pid);

	ev.fact.fact = (uint16_t)what;
	ev.fact.by_pid = by;
	ev.fact.detail = detail;
	ev.fact.count = count;
	ev.fact.fresh = 1;
	tell(&ev);
}

static void use(uint32_t pid, uint64_t evicted_ms)
{
	struct davy_event ev = event(DAVY_EV_KFD_USE, pid);

	davy_copy_name(ev.kfd_use.device, sizeof(ev.kfd_use.device), GPU);
	ev.kfd_use.evicted_ms = evicted_ms;
	ev.kfd_use.queue_count = 4;
	tell(&ev);
}

static const struct davy_plan *hog(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_RESTORE_HOG);
}

static const struct davy_plan *thrash(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_QUEUE_THRASH);
}

static void begin(const char *name)
{
	if (name)
		begin_recording(name);
	else
		begin_history();
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	process(70, 0, DAVY_ENGINE_COMFYUI, DAVY_BACKEND_VULKAN);
	use(60, 0);
}

static void a_hogging_worker_is_reported_again_when_it_doubles(void **state)
{
	static const uint32_t counts[] = { 67, 131, 259, 515, 1027 };
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin("restore_hog-workers");
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, counts[0]);
	assert_int_equal(hog()->level, 2); /* the first one; no action follows from it */
	assert_int_equal(hog()->form, DAVY_FORM_HINT);
	assert_int_equal(hog()->pid, 60); /* the only one that computes by KFD */
	for (size_t i = 1; i < 5; i++) {
		pass(8 * S);
		line(DAVY_LOG_RESTORE_WORKER_HOGGED, counts[i]);
		assert_int_equal(hog()->level, 3);
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RESTORE_HOG), 2);
	assert_int_equal(hog()->observed, 131);
	davy_reason_text(hog(), text, sizeof(text));
	assert_non_null(strstr(text, "restore_worker_hogged, count 131"));
	assert_replays();
}

static void few_hogs_are_no_doubling(void **state)
{
	static const uint32_t counts[] = { 4, 5, 7, 11 };

	(void)state;
	begin(NULL);
	for (size_t i = 0; i < 4; i++, now += 60 * S)
		line(DAVY_LOG_RESTORE_WORKER_HOGGED, counts[i]);
	assert_int_equal(hog()->level, 2);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 19);
	assert_int_equal(hog()->level, 3);
}

/* In legacy-rocm-build#5952 the count climbed for hours, and then the host hung. */
static void lines_far_apart_are_hints(void **state)
{
	(void)state;
	begin("restore_hog-far");
	for (uint32_t code = 16; code <= 1024; code *= 2, now += 11 * 60 * S) {
		line(DAVY_LOG_RESTORE_WORKER_HOGGED, code);
		pass(10 * S);
	}
	assert_int_equal(hog()->level, 2);
	assert_int_equal(hog()->form, DAVY_FORM_HINT);
	line(DAVY_LOG_WORKER_HOGGED, 515); /* another driver's worker */
	line(DAVY_LOG_USER_PAGES_FAILED, 0);
	line(DAVY_LOG_QUEUE_BUFFER_FREED, 0);
	for (int i = 0; i < 50; i++, now += 200 * MS) { /* one failure each, then success */
		restored(DAVY_KFD_RESCHEDULED);
		restored(0);
	}
	for (size_t i = 0; i < kept_count; i++)
		assert_true(kept[i].level == 1 || kept[i].form == DAVY_FORM_HINT);
	assert_replays();
}

static void doubling_counts_from_three(void **state)
{
	(void)state;
	begin(NULL);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 35);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 66);
	assert_int_equal(hog()->level, 2);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 67);
	assert_int_equal(hog()->level, 3);
	begin(NULL);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 0); /* its counter was not read */
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 0);
	assert_int_equal(hog()->level, 2);
}

static void failed_restores_and_a_limit_are_strong(void **state)
{
	static const enum davy_log_kind kinds[] = { DAVY_LOG_RESTORE_FAILED,
						    DAVY_LOG_SVM_OVER_LIMIT };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(NULL);
		line(kinds[i], 0);
		assert_int_equal(hog()->level, 2);
		line(kinds[i], 0);
		assert_int_equal(hog()->level, 2);
		line(kinds[1 - i], 0);
		assert_int_equal(hog()->level, 3);
	}
}

static void a_stack_in_a_worker_is_weak_alone(void **state)
{
	(void)state;
	begin(NULL);
	for (int i = 0; i < 20; i++)
		line(DAVY_LOG_RESTORE_WORKER_STACK, 0);
	assert_int_equal(hog()->level, 1);
	line(DAVY_LOG_RESTORE_WORKER_HOGGED, 4);
	line(DAVY_LOG_RESTORE_WORKER_STACK, 0);
	assert_int_equal(hog()->level, 2);
}

static void several_kfd_processes_share_no_blame(void **state)
{
	(void)state;
	begin(NULL);
	use(61, 0);
	line(DAVY_LOG_SVM_OVER_LIMIT, 0);
	assert_int_equal(hog()->pid, 0);
}

static void restores_that_are_retried_count_in_a_row(void **state)
{
	(void)state;
	begin("restore_hog-retry");
	evicted(TTM);
	for (int i = 0; i < 2; i++, now += 100 * MS)
		restored(DAVY_KFD_RESCHEDULED);
	assert_int_equal(kept_count, 0);
	restored(DAVY_KFD_RESCHEDULED);
	assert_int_equal(hog()->level, 2);
	assert_int_equal(hog()->observed, 3);
	for (int i = 0; i < 9; i++, now += 100 * MS)
		restored(DAVY_KFD_RESCHEDULED);
	assert_int_equal(hog()->level, 3);
	restored(0);
	pass(10 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_RESTORE_HOG), 1);
	restored(DAVY_KFD_RESCHEDULED);
	restored(DAVY_KFD_RESCHEDULED);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RESTORE_HOG), 2);
	assert_replays();
}

static void the_kernel_programs_count_of_them_is_taken_as_it_is(void **state)
{
	(void)state;
	begin(NULL);
	fact(DAVY_FACT_KFD_RESTORE_FAILED, 60, 0, 0, 2);
	assert_int_equal(kept_count, 0);
	fact(DAVY_FACT_KFD_RESTORE_FAILED, 60, 0, 0, 3);
	assert_string_equal(hog()->device, GPU);
	restored(DAVY_KFD_RESCHEDULED); /* the same from another source: one alarm */
	restored(DAVY_KFD_RESCHEDULED);
	restored(DAVY_KFD_RESCHEDULED);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_RESTORE_HOG), 1);
	fact(DAVY_FACT_KFD_RESTORE_FAILED, 60, 0, 0, 12);
	assert_int_equal(hog()->level, 3);
}

static void three_evictions_in_two_seconds_are_a_storm(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin("queue_thrash-waits");
	evicted(TTM);
	now += S;
	evicted(TTM);
	assert_int_equal(kept_count, 0);
	now += S;
	evicted(TTM);
	assert_int_equal(thrash()->level, 2);
	assert_int_equal(thrash()->pid, 60);
	assert_int_equal(thrash()->victim_pid, 0);
	assert_int_equal(thrash()->first_precursor_ns, now - 2 * S);
	davy_reason_text(thrash(), text, sizeof(text));
	assert_non_null(strstr(text, "stopped 3 times"));
	now += 3 * S;
	for (int i = 0; i < 9; i++, now += 110 * MS)
		evicted(i % 2 ? SVM : TTM);
	assert_int_equal(thrash()->level, 3);
	assert_replays();
}

static void evictions_now_and_then_make_room(void **state)
{
	(void)state;
	begin("queue_thrash-benign");
	for (int i = 0; i < 30; i++, now += 1100 * MS) { /* two each two seconds */
		evicted(TTM);
		restored(0);
	}
	for (int i = 0; i < 30; i++, now += 100 * MS) { /* suspends and checkpoints, as many */
		evicted(SUSPEND + (uint32_t)i % 3);
		restored(0);
	}
	assert_int_equal(kept_count, 0);
	assert_replays();
}

static void the_process_that_needs_the_memory_is_the_culprit(void **state)
{
	struct davy_event ev;

	(void)state;
	begin("queue_thrash-culprit");
	ev = event(DAVY_EV_BO_MOVED, 70);
	davy_copy_name(ev.bo_moved.device, sizeof(ev.bo_moved.device), GPU);
	ev.bo_moved.owner_pid = 60;
	ev.bo_moved.out_bytes = 64 << 20;
	tell(&ev);
	for (int i = 0; i < 3; i++, now += 200 * MS)
		evicted(TTM);
	assert_int_equal(thrash()->pid, 70);
	assert_int_equal(thrash()->victim_pid, 60);
	assert_int_equal(thrash()->engine, DAVY_ENGINE_COMFYUI);
	now += 10 * S;
	for (int i = 0; i < 3; i++, now += 200 * MS)
		evicted(TTM);
	assert_int_equal(thrash()->pid, 60); /* that was long ago */
	assert_replays();
}

static void the_fence_names_the_process_that_needs_memory(void **state)
{
	(void)state;
	begin(NULL);
	/* a kernel worker, or another user's process */
	fact(DAVY_FACT_KFD_EVICTION_FENCE, 60, 999, 0, 1);
	for (int i = 0; i < 3; i++)
		fact(DAVY_FACT_KFD_QUEUES_EVICTED, 60, 0, TTM, 1);
	assert_int_equal(thrash()->pid, 60);
	assert_string_equal(thrash()->device, GPU);
	begin(NULL);
	fact(DAVY_FACT_KFD_EVICTION_FENCE, 60, 70, 0, 1);
	for (int i = 0; i < 3; i++)
		fact(DAVY_FACT_KFD_QUEUES_EVICTED, 60, 0, TTM, 1);
	assert_int_equal(thrash()->pid, 70);
	assert_int_equal(thrash()->victim_pid, 60);
}

static void a_rolled_back_eviction_is_ignored(void **state)
{
	struct davy_event ev;

	(void)state;
	begin(NULL);
	for (int i = 0; i < 10; i++) {
		ev = event(DAVY_EV_FACT, 60);
		ev.fact.fact = DAVY_FACT_KFD_QUEUES_EVICTED;
		ev.fact.detail = TTM;
		ev.fact.error = -12;
		tell(&ev);
	}
	assert_int_equal(kept_count, 0);
	ev.fact.error = -5;
	for (int i = 0; i < 3; i++)
		tell(&ev);
	assert_int_equal(thrash()->level, 2);
}

static void stopped_queues_are_reported_by_their_share_of_time(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin(NULL);
	now += 2 * S;
	use(60, 310);
	assert_int_equal(kept_count, 0); /* once is a model that is loaded beside it */
	now += 2 * S;
	use(60, 610);
	assert_int_equal(thrash()->level, 2);
	assert_int_equal(thrash()->observed, 150);
	davy_reason_text(thrash(), text, sizeof(text));
	assert_non_null(strstr(text, "were stopped for 15.0 % of the time"));
	now += 2 * S;
	use(60, 1610);
	assert_int_equal(thrash()->level, 3);
}

static void a_small_or_single_share_raises_nothing(void **state)
{
	uint64_t ms = 0;

	(void)state;
	begin(NULL);
	for (int i = 0; i < 40; i++) {
		now += 2 * S;
		ms += i % 2 ? 1900 : 100; /* half of it is much, but never twice */
		use(60, ms);
	}
	for (int i = 0; i < 40; i++) {
		now += 2 * S;
		ms += 298;
		use(60, ms);
	}
	assert_int_equal(kept_count, 0);
}

static void a_suspend_does_not_count_as_standing_still(void **state)
{
	(void)state;
	begin(NULL);
	for (uint64_t i = 1; i <= 5; i++) {
		now += S;
		evicted(SUSPEND);
		now += S;
		use(60, 2000 * i);
	}
	assert_int_equal(kept_count, 0);
}

static void samples_close_together_are_one(void **state)
{
	(void)state;
	begin(NULL);
	for (int i = 0; i < 9; i++) {
		now += 100 * MS;
		use(60, 500);
	}
	now += 1100 * MS; /* 500 ms of 2 s */
	use(60, 500);
	use(60, 500);
	assert_int_equal(kept_count, 0);
	now += 2 * S;
	use(60, 800);
	assert_int_equal(thrash()->level, 2);
}

static void repeated_lines_count_with_their_number(void **state)
{
	(void)state;
	begin(NULL);
	repeated_line(DAVY_LOG_RESTORE_FAILED, 0, 1);
	assert_int_equal(hog()->level, 2);
	begin(NULL);
	repeated_line(DAVY_LOG_RESTORE_FAILED, 0, 2);
	assert_int_equal(hog()->level, 3);
	assert_int_equal(hog()->observed, 3);
	begin(NULL);
	repeated_line(DAVY_LOG_RESTORE_WORKER_HOGGED, 67, 1);
	assert_int_equal(hog()->level, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hogging_worker_is_reported_again_when_it_doubles),
		cmocka_unit_test(few_hogs_are_no_doubling),
		cmocka_unit_test(lines_far_apart_are_hints),
		cmocka_unit_test(doubling_counts_from_three),
		cmocka_unit_test(failed_restores_and_a_limit_are_strong),
		cmocka_unit_test(a_stack_in_a_worker_is_weak_alone),
		cmocka_unit_test(several_kfd_processes_share_no_blame),
		cmocka_unit_test(restores_that_are_retried_count_in_a_row),
		cmocka_unit_test(the_kernel_programs_count_of_them_is_taken_as_it_is),
		cmocka_unit_test(three_evictions_in_two_seconds_are_a_storm),
		cmocka_unit_test(evictions_now_and_then_make_room),
		cmocka_unit_test(the_process_that_needs_the_memory_is_the_culprit),
		cmocka_unit_test(the_fence_names_the_process_that_needs_memory),
		cmocka_unit_test(a_rolled_back_eviction_is_ignored),
		cmocka_unit_test(stopped_queues_are_reported_by_their_share_of_time),
		cmocka_unit_test(a_small_or_single_share_raises_nothing),
		cmocka_unit_test(a_suspend_does_not_count_as_standing_still),
		cmocka_unit_test(samples_close_together_are_one),
		cmocka_unit_test(repeated_lines_count_with_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
