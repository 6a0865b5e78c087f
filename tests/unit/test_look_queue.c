/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of reader jobs, and the checks of a reader's answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent/sense/look_queue.h"
#include "sensors/proc/look.h"

static struct davy_look_queue queue;

static int empty(void **state)
{
	(void)state;
	memset(&queue, 0, sizeof(queue));
	return 0;
}

static void put(uint32_t pid, uint32_t uid, enum davy_look_class class)
{
	const struct davy_look_job job = { .pid = pid, .uid = uid, .class = (uint8_t) class };

	assert_true(davy_look_queue_put(&queue, &job));
}

static bool any(void *arg, const struct davy_look_job *job)
{
	(void)job;
	return !arg;
}

static bool not_of_user(void *arg, const struct davy_look_job *job)
{
	return job->uid != *(const uint32_t *)arg;
}

static uint32_t next(void)
{
	struct davy_look_job job;

	return davy_look_queue_take(&queue, any, NULL, &job) ? job.pid : 0;
}

static void classes_have_their_turns_in_order(void **state)
{
	(void)state;
	put(1, 1000, DAVY_LOOKS_OTHER);
	put(2, 1000, DAVY_LOOKS_NAMED);
	put(3, 1000, DAVY_LOOKS_ENGINE);
	put(4, 1000, DAVY_LOOKS_WORKLOAD);
	for (uint32_t pid = 4; pid; pid--)
		assert_int_equal(next(), pid);
	assert_int_equal(next(), 0);
}

static void users_take_turns_however_many_jobs_one_has(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		put(1000 + i, 1000, DAVY_LOOKS_OTHER);
	put(1, 1001, DAVY_LOOKS_OTHER);
	put(2, 1002, DAVY_LOOKS_OTHER);
	assert_int_equal(next(), 1000);
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 2);
	assert_int_equal(next(), 1001);
	put(3, 1001, DAVY_LOOKS_OTHER);
	assert_int_equal(next(), 3);
}

static void a_full_queue_drops_the_busiest_users_oldest_job(void **state)
{
	(void)state;
	put(1, 1001, DAVY_LOOKS_OTHER);
	put(2, 1002, DAVY_LOOKS_WORKLOAD);
	for (uint32_t i = 0; i < 3 * DAVY_LOOK_JOBS_MAX; i++)
		put(100000 + i, 1000, DAVY_LOOKS_ENGINE);
	assert_int_equal(queue.count, DAVY_LOOK_JOBS_MAX);
	assert_int_equal(queue.evicted_count, 2 * DAVY_LOOK_JOBS_MAX + 2);
	assert_int_equal(queue.evicted_uid, 1000);
	assert_int_equal(next(), 2);
	assert_int_equal(next(), 100000 + 2 * DAVY_LOOK_JOBS_MAX + 2);
	davy_look_queue_drop(&queue, 1);
	assert_int_equal(queue.count, DAVY_LOOK_JOBS_MAX - 3);
}

static void workloads_are_never_evicted(void **state)
{
	const struct davy_look_job one_more = { .pid = 7, .class = DAVY_LOOKS_OTHER };

	(void)state;
	for (uint32_t i = 0; i < DAVY_LOOK_JOBS_MAX; i++)
		put(100 + i, 1000, DAVY_LOOKS_WORKLOAD);
	assert_false(davy_look_queue_put(&queue, &one_more));
	assert_int_equal(queue.count, DAVY_LOOK_JOBS_MAX);
	assert_int_equal(next(), 100);
}

static void two_jobs_for_a_process_are_one(void **state)
{
	const struct davy_look_job deep = { .pid = 5,
					    .uid = 1000,
					    .class = DAVY_LOOKS_OTHER,
					    .look = DAVY_LOOK_DEVICES },
				   start = { .pid = 5, .uid = 1000, .look = DAVY_LOOK_START };
	struct davy_look_job job;

	(void)state;
	put(5, 1000, DAVY_LOOKS_NAMED);
	davy_look_queue_put(&queue, &deep);
	assert_int_equal(queue.count, 1);
	davy_look_queue_put(&queue, &start); /* another question */
	assert_int_equal(queue.count, 2);
	assert_true(davy_look_queue_take(&queue, any, NULL, &job));
	assert_int_equal(job.look, DAVY_LOOK_START);
	assert_true(davy_look_queue_take(&queue, any, NULL, &job));
	assert_int_equal(job.look, DAVY_LOOK_DEVICES);
	assert_int_equal(job.class, DAVY_LOOKS_NAMED);
}

static void a_blocked_user_is_skipped(void **state)
{
	uint32_t uid = 1000;
	struct davy_look_job job;

	(void)state;
	put(1, 1000, DAVY_LOOKS_NAMED);
	put(2, 1001, DAVY_LOOKS_OTHER);
	assert_true(davy_look_queue_take(&queue, not_of_user, &uid, &job));
	assert_int_equal(job.pid, 2);
	assert_false(davy_look_queue_take(&queue, not_of_user, &uid, &job));
	assert_int_equal(next(), 1);
}

static void a_user_who_cost_a_reader_waits_longer_each_time(void **state)
{
	static struct davy_penalties p;
	uint64_t now = 1000 * DAVY_NS_PER_S, until;

	(void)state;
	until = davy_penalty_add(&p, 1000, 7, 70, now);
	assert_int_equal(until - now, 2 * DAVY_NS_PER_S);
	assert_non_null(davy_penalty_of(&p, 1000, 7, now));
	assert_null(davy_penalty_of(&p, 1000, 8, now));
	assert_null(davy_penalty_of(&p, 1000, 0, now));
	now = until;
	assert_null(davy_penalty_of(&p, 1000, 7, now));
	until = davy_penalty_add(&p, 1000, 7, 70, now);
	assert_int_equal(until - now, 4 * DAVY_NS_PER_S);
	for (int i = 0; i < 100; i++)
		until = davy_penalty_add(&p, 1000, 7, 70, now);
	assert_int_equal(until - now, 600 * DAVY_NS_PER_S);
	until = davy_penalty_add(&p, 1000, 7, 71, now); /* another process */
	assert_int_equal(until - now, 2 * DAVY_NS_PER_S);
	for (uint32_t pid = 100; pid < 1000; pid++) /* the table keeps its size */
		davy_penalty_add(&p, 1000, pid, 1, now);
	assert_non_null(davy_penalty_of(&p, 1000, 999, now));
}

static const struct davy_look_request request = { .serial = 5, .pid = 6, .start_ticks = 7 };

static struct davy_look_reply good_reply(void)
{
	return (struct davy_look_reply){ .serial = 5,
					 .pid = 6,
					 .file_count = 1,
					 .site_count = 1,
					 .has_command = 1,
					 .ev = { .start_ticks = 7, .engine = DAVY_ENGINE_VLLM } };
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct davy_look_reply r = good_reply();                                           \
		change;                                                                            \
		assert_false(davy_look_reply_valid(&r, &request, 1));                              \
	} while (0)

static void a_reply_is_believed_only_if_all_of_it_makes_sense(void **state)
{
	struct davy_look_reply good = good_reply();

	(void)state;
	assert_true(davy_look_reply_valid(&good, &request, 1));
	assert_false(davy_look_reply_valid(&good, &request, 0));
	assert_false(davy_look_reply_valid(&good, &request, 2));
	REFUSED(r.serial++);
	REFUSED(r.pid++);
	REFUSED(r.error = 1);
	REFUSED(r.error = -4096);
	REFUSED(r.error = -1); /* a failure brings no file */
	REFUSED(r.site_count = DAVY_LOOK_SITES + 1);
	REFUSED(r.site[0].site = DAVY_SITE_COUNT);
	REFUSED(r.site[0].file = 1);
	REFUSED(r.site[0].offset = UINT64_MAX);
	REFUSED(r.has_command = 2);
	REFUSED(r.loaded_backends = UINT32_MAX);
	REFUSED(memset(r.engine, 'x', sizeof(r.engine)));
	REFUSED(r.ev.start_ticks++);
	REFUSED(r.ev.workload = 1); /* the agent alone knows that */
	REFUSED(r.ev.engine = DAVY_ENGINE_COUNT);
	REFUSED(r.ev.backend = DAVY_BACKEND_COUNT);
	REFUSED(r.ev.role = DAVY_ROLE_COUNT);
	REFUSED(r.ev.runtime = DAVY_RUNTIME_COUNT);
	REFUSED(r.ev.flags = UINT16_MAX);
	REFUSED(memset(r.ev.comm, 'x', sizeof(r.ev.comm)));
	REFUSED(memset(r.ev.more_devices[6], 'x', sizeof(r.ev.more_devices[6])));
}

static void a_start_is_believed_only_if_its_texts_end(void **state)
{
	static struct davy_look_start s = { .serial = 5, .pid = 6, .command_size = 1 };

	(void)state;
	assert_true(davy_look_start_valid(&s, &request));
	s.command_size = sizeof(s.command);
	assert_false(davy_look_start_valid(&s, &request));
	s.command_size = 0;
	assert_false(davy_look_start_valid(&s, &request));
	s.command_size = 1;
	s.command[1] = 'x';
	assert_false(davy_look_start_valid(&s, &request));
	s.command[1] = 0;
	memset(s.exe, 'x', sizeof(s.exe));
	assert_false(davy_look_start_valid(&s, &request));
	s.exe[0] = 0;
	s.environment_size = UINT32_MAX;
	assert_false(davy_look_start_valid(&s, &request));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(classes_have_their_turns_in_order, empty),
		cmocka_unit_test_setup(users_take_turns_however_many_jobs_one_has, empty),
		cmocka_unit_test_setup(a_full_queue_drops_the_busiest_users_oldest_job, empty),
		cmocka_unit_test_setup(workloads_are_never_evicted, empty),
		cmocka_unit_test_setup(two_jobs_for_a_process_are_one, empty),
		cmocka_unit_test_setup(a_blocked_user_is_skipped, empty),
		cmocka_unit_test(a_user_who_cost_a_reader_waits_longer_each_time),
		cmocka_unit_test(a_reply_is_believed_only_if_all_of_it_makes_sense),
		cmocka_unit_test(a_start_is_believed_only_if_its_texts_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
