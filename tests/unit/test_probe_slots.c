/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distribution of uprobes among users: guarantees, and random users that try to break them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/bpf/probe_slots.h"

#define LATER_NS (3600 * 1000000000ULL)
#define MALLORY	 1000

static struct davy_probe_slots slots;
static uint64_t now_ns;

static int empty(void **state)
{
	(void)state;
	memset(&slots, 0, sizeof(slots));
	now_ns = 1;
	return 0;
}

/* Like a user who has waited long enough. */
static int claim(uint32_t pid, uint32_t uid, uint32_t workload, uint64_t ino)
{
	const struct davy_probe_owner owner = { pid, uid, workload };
	const struct davy_probe_site site = { 1, ino, 0, 0 };
	size_t slot;

	now_ns += LATER_NS;
	return davy_probe_slots_claim(&slots, &owner, &site, now_ns, &slot);
}

static void a_user_has_no_more_than_the_quota(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < DAVY_PROBE_QUOTA; i++)
		assert_int_equal(claim(10 + i, MALLORY, 0, 10 + i), 1);
	assert_int_equal(claim(5000, MALLORY, 0, 5000), -EDQUOT);
	assert_true(davy_probe_slots_lost(&slots, 5000));
	assert_int_equal(claim(5001, MALLORY, 0, 10), 0); /* shared files cost nothing more */
	assert_int_equal(claim(5002, 7, 0, 5002), 1);
	assert_int_equal(slots.refused_count, 1);
	assert_int_equal(slots.last_uid, MALLORY);
	davy_probe_slots_gone(&slots, 10);
	davy_probe_slots_gone(&slots, 5001);
	assert_int_equal(claim(5000, MALLORY, 0, 5000), 1); /* when there is room */
	assert_false(davy_probe_slots_lost(&slots, 5000));
}

static void fill(uint32_t uids)
{
	for (uint32_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		assert_true(claim(10 + i, MALLORY + i % uids, 0, 10 + i) >= 0);
}

static void a_workload_is_never_evicted(void **state)
{
	(void)state;
	assert_int_equal(claim(1, 0, 3, 1), 1);
	for (uint32_t i = 0; i < 4 * DAVY_PROBE_SLOTS; i++)
		(void)claim(10 + i % 400, MALLORY + i % 100, 0, 10 + i);
	assert_true(slots.evicted_count > 0);
	assert_true(davy_probe_slots_holds(&slots, 1, 0));
	assert_false(davy_probe_slots_lost(&slots, 1));
}

static void a_workload_finds_room_in_a_full_table(void **state)
{
	(void)state;
	fill(4);
	assert_int_equal(davy_probe_slots_used(&slots), DAVY_PROBE_SLOTS);
	assert_int_equal(claim(1, 0, 3, 1), 1);
	assert_int_equal(slots.evicted_count, 1);
	assert_true(davy_probe_slots_lost(&slots, 10)); /* the oldest of one of the four */
}

static void the_user_with_the_most_loses_the_oldest(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(claim(10 + i, 7, 0, 10 + i), 1);
	for (uint32_t i = 40; i < DAVY_PROBE_SLOTS; i++)
		assert_int_equal(claim(10 + i, MALLORY + i % 4, 0, 10 + i), 1);
	assert_int_equal(claim(2000, 8, 0, 2000), 1);
	assert_int_equal(slots.last_uid, MALLORY); /* 54 slots, like three more */
	assert_true(davy_probe_slots_lost(&slots, 10 + 40));
	for (uint32_t i = 0; i < 40; i++)
		assert_true(davy_probe_slots_holds(&slots, 10 + i, 0));
}

static void the_newcomer_loses_against_its_equals(void **state)
{
	(void)state;
	fill(8); /* 32 each */
	assert_int_equal(claim(2000, MALLORY + 3, 0, 2000), 1);
	assert_int_equal(slots.last_uid, MALLORY + 3);
	assert_true(davy_probe_slots_lost(&slots, 13));
	assert_int_equal(claim(13, MALLORY + 3, 0, 13), -ENOSPC); /* no war of the two */
	assert_int_equal(slots.evicted_count, 1);
}

static void a_file_that_two_users_map_is_evicted_last(void **state)
{
	(void)state;
	assert_int_equal(claim(5, 7, 0, 10), 1);
	fill(4);
	assert_int_equal(davy_probe_slots_used(&slots), DAVY_PROBE_SLOTS);
	assert_int_equal(claim(9, 9, 0, 9), 1);
	assert_int_equal(slots.evicted_count, 1);
	assert_true(davy_probe_slots_holds(&slots, 5, 0));
	assert_true(davy_probe_slots_holds(&slots, 10, 0));
}

/* Else a user with two ids passes slots on from one to the other. */
static void a_shared_file_counts_for_each_user(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < DAVY_PROBE_QUOTA; i++) {
		assert_int_equal(claim(10 + i, MALLORY, 0, 10 + i), 1);
		assert_int_equal(claim(100 + i, 7, 0, 10 + i), 0);
	}
	assert_int_equal(claim(9, 9, 0, 9), 1);
	assert_int_equal(claim(5000, MALLORY, 0, 9), -EDQUOT);
}

static void an_engine_that_is_adopted_keeps_its_slots(void **state)
{
	const struct davy_probe_owner adopted = { 10, MALLORY, 3 }, released = { 10, MALLORY, 0 };

	(void)state;
	assert_int_equal(claim(10, MALLORY, 0, 10), 1);
	davy_probe_slots_owner(&slots, &adopted);
	for (uint32_t i = 1; i < 2 * DAVY_PROBE_SLOTS; i++)
		(void)claim(10 + i % 400, MALLORY + i % 9, 0, 10 + i);
	assert_true(davy_probe_slots_holds(&slots, 10, 0));
	davy_probe_slots_owner(&slots, &released);
	assert_false(davy_probe_slots_holds(&slots, 10, 0)); /* to be claimed for the user */
	assert_true(davy_probe_slots_lost(&slots, 10));
}

static void unused_slots_are_taken_first_and_freed(void **state)
{
	size_t slot;

	(void)state;
	fill(4);
	davy_probe_slots_gone(&slots, 77);
	assert_int_equal(claim(2000, 8, 0, 2000), 1);
	assert_int_equal(slots.evicted_count, 0);
	davy_probe_slots_gone(&slots, 2000);
	assert_int_equal(claim(2001, 8, 0, 2000), 0); /* an engine that starts anew */
	assert_false(davy_probe_slots_free_idle(&slots, &slot));
	davy_probe_slots_gone(&slots, 2001);
	assert_true(davy_probe_slots_free_idle(&slots, &slot));
	assert_int_equal(davy_probe_slots_used(&slots), DAVY_PROBE_SLOTS - 1);
}

static void a_user_has_a_rate_limit_and_root_has_not(void **state)
{
	const struct davy_probe_owner mallory = { 1, MALLORY, 0 }, root = { 2, 0, 0 };
	struct davy_probe_site site = { 1, 1, 0, 0 };
	size_t slot;

	(void)state;
	for (uint32_t i = 0; i < DAVY_PROBE_BURST; i++, site.ino++)
		assert_int_equal(davy_probe_slots_claim(&slots, &mallory, &site, 1, &slot), 1);
	assert_int_equal(davy_probe_slots_claim(&slots, &mallory, &site, 1, &slot), -EAGAIN);
	assert_int_equal(davy_probe_slots_claim(&slots, &root, &site, 1, &slot), 1);
	site.ino++;
	assert_int_equal(
		davy_probe_slots_claim(&slots, &mallory, &site, 1 + DAVY_PROBE_RATE_NS, &slot), 1);
	site.ino++;
	assert_int_equal(
		davy_probe_slots_claim(&slots, &mallory, &site, 1 + DAVY_PROBE_RATE_NS, &slot),
		-EAGAIN);
}

static void a_failed_attachment_takes_no_slot(void **state)
{
	const struct davy_probe_owner owner = { 1, MALLORY, 0 };
	const struct davy_probe_site site = { 1, 1, 0, 0 };
	size_t slot;

	(void)state;
	assert_int_equal(davy_probe_slots_claim(&slots, &owner, &site, 1, &slot), 1);
	davy_probe_slots_drop(&slots, slot);
	assert_int_equal(davy_probe_slots_used(&slots), 0);
	assert_false(davy_probe_slots_holds(&slots, 1, 0));
}

/* A function returns at several places, each with its probe. */
static void each_place_of_a_kind_takes_a_slot(void **state)
{
	const struct davy_probe_owner first = { 1, MALLORY, 0 }, second = { 2, MALLORY, 0 };
	struct davy_probe_site site = { 1, 1, 0, 100 };
	size_t slot[2];

	(void)state;
	assert_int_equal(davy_probe_slots_claim(&slots, &first, &site, 1, &slot[0]), 1);
	assert_int_equal(davy_probe_slots_claim(&slots, &second, &site, 1, &slot[1]), 0);
	assert_int_equal(slot[0], slot[1]);
	site.offset = 200;
	assert_int_equal(davy_probe_slots_claim(&slots, &first, &site, 1, &slot[1]), 1);
	assert_int_not_equal(slot[0], slot[1]);
}

/* A model beside it: what each process has claimed and has not reported as lost. */
static void no_site_is_there_twice(void)
{
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		for (size_t j = 0; slots.slot[i].serial && j < i; j++)
			assert_false(slots.slot[j].serial &&
				     !memcmp(&slots.slot[i].site, &slots.slot[j].site,
					     sizeof(slots.slot[i].site)));
}

static size_t slots_of_uid(uint32_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++) {
		bool held = false;

		for (size_t c = 0; c < DAVY_PROBE_CLAIMS; c++)
			held |= slots.claims[c].owner.pid && !slots.claims[c].owner.workload &&
				slots.claims[c].owner.uid == uid &&
				slots.claims[c].held[i / 64] >> i % 64 & 1;
		count += held;
	}
	return count;
}

#define WORKLOADS 4

static void workloads_keep_theirs(const uint32_t kinds[WORKLOADS])
{
	for (uint32_t w = 0; w < WORKLOADS; w++)
		for (uint32_t kind = 0; kind < 7; kind++)
			if (kinds[w] >> kind & 1)
				assert_true(davy_probe_slots_holds(&slots, 1 + w, kind));
}

static void random_users(unsigned int seed)
{
	uint32_t kinds[WORKLOADS] = { 0 };

	empty(NULL);
	srandom(seed);
	for (int step = 0; step < 3000; step++) {
		uint32_t pid = 1 + (uint32_t)random() % 500, workload = pid <= WORKLOADS ? pid : 0;
		uint32_t uid = workload ? 0 : MALLORY + pid * pid % (1 + seed % 9);
		const struct davy_probe_owner owner = { pid, uid, workload };
		/* Mallory's processes map each other's files and the workloads', too. */
		struct davy_probe_site site = { 1, (uint64_t)random() % 700, (uint32_t)random() % 7,
						0 };
		size_t slot = 0;
		int err;

		now_ns += (uint64_t)random() % (2 * DAVY_PROBE_RATE_NS);
		if (!workload && random() % 16 == 0) {
			davy_probe_slots_gone(&slots, pid);
			continue;
		}
		if (workload)
			site.ino = workload; /* a program that starts anew maps the same */
		err = davy_probe_slots_claim(&slots, &owner, &site, now_ns, &slot);
		if (err >= 0)
			assert_true(davy_probe_slots_holds(&slots, pid, site.kind));
		else
			assert_true(davy_probe_slots_lost(&slots, pid));
		if (workload) {
			assert_true(err >= 0);
			kinds[workload - 1] |= 1u << site.kind;
		}
		workloads_keep_theirs(kinds);
		for (uint32_t u = MALLORY; step % 50 == 0 && u < MALLORY + 9; u++)
			assert_true(slots_of_uid(u) <= DAVY_PROBE_QUOTA);
		if (step % 50 == 0)
			no_site_is_there_twice();
	}
}

static void random_users_break_no_promise(void **state)
{
	uint64_t evicted = 0, refused = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 9; seed++) {
		random_users(seed);
		evicted += slots.evicted_count;
		refused += slots.refused_count;
	}
	assert_true(evicted && refused); /* else nothing was tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_user_has_no_more_than_the_quota, empty),
		cmocka_unit_test_setup(a_workload_is_never_evicted, empty),
		cmocka_unit_test_setup(a_workload_finds_room_in_a_full_table, empty),
		cmocka_unit_test_setup(the_user_with_the_most_loses_the_oldest, empty),
		cmocka_unit_test_setup(the_newcomer_loses_against_its_equals, empty),
		cmocka_unit_test_setup(a_file_that_two_users_map_is_evicted_last, empty),
		cmocka_unit_test_setup(a_shared_file_counts_for_each_user, empty),
		cmocka_unit_test_setup(an_engine_that_is_adopted_keeps_its_slots, empty),
		cmocka_unit_test_setup(unused_slots_are_taken_first_and_freed, empty),
		cmocka_unit_test_setup(a_user_has_a_rate_limit_and_root_has_not, empty),
		cmocka_unit_test_setup(a_failed_attachment_takes_no_slot, empty),
		cmocka_unit_test_setup(each_place_of_a_kind_takes_a_slot, empty),
		cmocka_unit_test(random_users_break_no_promise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
