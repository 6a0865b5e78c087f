/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Invariants of the tuner for all inputs: limits, and random outcomes. */
#include "tuner.h"

#include "lab/random.h"

#define DEEP  3000
#define SEEDS 400
#define STEPS 400

static uint32_t bits(uint32_t steps)
{
	uint32_t n = 0;

	while (n < 31 && 1u << n < steps)
		n++;
	return n;
}

struct hunt {
	uint32_t which, limit;
	uint64_t dies_after; /* seconds */
	enum davy_log_class class;
	uint32_t failures;
	uint32_t tries; /* answers until it was found */
	uint64_t climbed_s, backoff_s;
	bool succeeded;
};

/* Never before the last probation's back-off is over; it doubles with each in a row that failed. */
static void check_probation(struct hunt *h, bool was_probing)
{
	if (was_probing && reason.why == DAVY_TUNER_BACK)
		h->backoff_s *= 2;
	if (!is_probation())
		return;
	if (h->climbed_s)
		assert_true(now - h->climbed_s >= h->backoff_s ||
			    now - h->climbed_s >= bounds.times.backoff_max_s);
	h->climbed_s = now;
	if (h->succeeded)
		h->backoff_s = bounds.times.backoff_s;
	h->succeeded = false;
}

/* Until the best setting is in force and all others are as in the command. */
static void hunt(struct hunt *h)
{
	bool probing = false, found = false;

	h->failures = h->tries = 0;
	h->climbed_s = 0;
	h->backoff_s = bounds.times.backoff_s;
	while (!found) {
		bool bad = size(h->which) > h->limit;

		assert_true(++h->tries < 300);
		assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
		if (bad)
			fails_after(h->dies_after, DEEP, h->class);
		else
			soaks(2 * HOUR, DEEP);
		h->failures += bad;
		h->succeeded = h->succeeded || (probing && !bad);
		check_probation(h, probing);
		probing = is_probation() || (probing && !bad);
		found = size(h->which) == h->limit && !bad;
		for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
			found = found && (i == h->which || !setting.size[i]);
	}
}

/* clang-format off */
static const struct davy_tuner_range ranges[] = {
	{ 64, 512, 64 },
	{ 64, 2048, 64 },
	{ 32, 2048, 32 },
	{ 4096, 131072, 2048 },
	{ 4096, 32768, 4096 },
	{ 1, 8, 1 },
	{ 1, 2, 1 },
	{ 1, 3, 1 },
	{ 4, 81, 1 },
	{ 1, 100, 7 },
	{ 0, 5, 0 },
	{ 100, 1000, 64 },
	{ 512, 2048, 64 },
	{ 1000, 1001, 50 },
	{ 7, 1000, 3 },
};
/* clang-format on */

/* The n-th size of a range. */
static uint32_t nth(const struct davy_tuner_range *range, uint32_t n)
{
	return (range->floor ? range->floor : 1) + n * (range->step ? range->step : 1);
}

static void every_limit_of_a_setting_is_found_as_fast_as_by_halves(void **state)
{
	uint32_t worst = 0;

	(void)state;
	for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++) {
		uint32_t steps = davy_tuner_steps(&ranges[r]);

		for (uint32_t n = 0; n < 2 * (steps - 1); n++) {
			struct hunt h = { .which = DAVY_TUNER_UBATCH,
					  .limit = nth(&ranges[r], n / 2),
					  .dies_after = n % 2 ? AWHILE : 1,
					  .class = DAVY_CLASS_RING_TIMEOUT };

			begin();
			bounds.range[DAVY_TUNER_UBATCH] = ranges[r];
			pin_all_but(DAVY_TUNER_UBATCH);
			hunt(&h);
			assert_true(h.failures <= bits(steps) + 1);
			worst = h.failures > worst ? h.failures : worst;
		}
	}
	assert_true(worst > 5); /* so it was a search */
}

static void every_limit_of_every_setting_is_found_and_the_others_come_back(void **state)
{
	(void)state;
	begin();
	for (uint32_t which = 0; which < DAVY_TUNER_SETTINGS; which++) {
		struct davy_tuner_range range = bounds.range[which];
		uint32_t steps = davy_tuner_steps(&range), allowed = 1;

		for (uint32_t i = 0; i <= which; i++)
			allowed += bits(davy_tuner_steps(&bounds.range[i]));
		for (uint32_t n = 0; n < 2 * (steps - 1); n++) {
			struct hunt h = { .which = which,
					  .limit = nth(&range, n / 2),
					  .dies_after = n % 2 ? AWHILE : 1,
					  .class = DAVY_CLASS_OTHER };

			begin();
			hunt(&h);
			assert_true(h.failures <= allowed);
		}
	}
}

static void two_limits_at_once_are_found(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 400; i++) {
		if (size(DAVY_TUNER_UBATCH) > 128 || size(DAVY_TUNER_LAYERS) > 20)
			fails_after(AWHILE, DEEP, DAVY_CLASS_OOM_VRAM);
		else
			soaks(DAY, DEEP);
	}
	while (size(DAVY_TUNER_UBATCH) > 128 || size(DAVY_TUNER_LAYERS) > 20)
		fails_after(AWHILE, DEEP, DAVY_CLASS_OOM_VRAM);
	assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
	assert_int_equal(size(DAVY_TUNER_UBATCH), 128);
	assert_int_equal(size(DAVY_TUNER_LAYERS), 20);
	assert_int_equal(setting.size[DAVY_TUNER_CONTEXT], 0);
}

static void an_engine_that_always_dies_ends_on_the_cpu(void **state)
{
	(void)state;
	for (uint32_t class = 0; class < DAVY_CLASS_COUNT; class ++) {
		for (int slow = 0; slow < 2; slow++) {
			uint32_t failures = 0;

			begin();
			for (; setting.backend != DAVY_BACKEND_CPU; failures++)
				fails_after(slow ? AWHILE : 1, DEEP, (enum davy_log_class) class);
			assert_in_range(failures, 1, slow ? 28 : 12);
		}
	}
}

/* What the test has observed of one setting on one backend. */
struct known {
	uint32_t bad;
	uint64_t until_s;
};

struct chances {
	struct davy_random random;
	struct known known[DAVY_BACKEND_COUNT][DAVY_TUNER_SETTINGS];
	uint64_t stamp, climbed_s;
};

static uint32_t any(struct chances *c, uint32_t least, uint32_t most)
{
	return (uint32_t)davy_random_between(&c->random, least, most);
}

static void any_bounds(struct chances *c)
{
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		struct davy_tuner_range *range = &bounds.range[i];

		range->floor = any(c, 0, 3) ? any(c, 0, 200) : 0;
		range->ceiling = any(c, 0, 4) ? range->floor + any(c, 0, 500) : any(c, 0, 100);
		range->step = any(c, 0, 70);
	}
	memset(bounds.backends, 0, sizeof(bounds.backends));
	for (uint32_t i = 0, n = any(c, 0, 4); i < n; i++)
		bounds.backends[i] = (uint8_t)(1 + (c->stamp + i) % (DAVY_BACKEND_COUNT - 1));
	memset(c->known, 0, sizeof(c->known)); /* it may be outside of them now */
}

static void check_within_bounds(void)
{
	bool listed = !bounds.backends[0] && !setting.backend;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++)
		if (setting.size[i])
			assert_in_range(setting.size[i],
					bounds.range[i].floor ? bounds.range[i].floor : 1,
					bounds.range[i].ceiling);
	for (size_t i = 0; i < DAVY_BACKEND_COUNT && bounds.backends[i]; i++)
		listed = listed || bounds.backends[i] == setting.backend;
	assert_true(listed);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A size that has failed comes again only after its time, unless its floor has failed, too. */
static void check_known(struct chances *c, const struct davy_tuner_setting *before, bool failed)
{
	struct known *known = c->known[before->backend];

	for (uint32_t i = 0; failed && i < DAVY_TUNER_SETTINGS; i++)
		if (reason.why == DAVY_TUNER_OTHER || reason.why == DAVY_TUNER_NOWHERE ||
		    (before->size[i] && before->size[i] <= larger(bounds.range[i].floor, 1)))
			known[i].bad = 0;
	known = c->known[setting.backend];
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS; i++) {
		if (known[i].bad && size(i) >= known[i].bad) {
			assert_true(now >= known[i].until_s);
			known[i].bad = 0;
		}
	}
	if (!failed || reason.setting == DAVY_TUNER_SETTINGS || reason.from == reason.to)
		return;
	known[reason.setting].bad = reason.from;
	known[reason.setting].until_s =
		now + (reason.chance ? bounds.times.backoff_s : bounds.times.bad_s);
}

static void one_outcome(struct chances *c)
{
	struct davy_tuner_setting before = setting;
	uint32_t kind = any(c, 0, 99);
	bool failed = kind < 30;

	now += any(c, 0, 1) ? any(c, 0, 600) : any(c, 0, 3 * (uint32_t)DAY);
	if (kind < 2) {
		any_bounds(c);
	} else if (kind == 2) {
		davy_tuner_environment(&tuner, ++c->stamp);
		memset(c->known, 0, sizeof(c->known));
	}
	if (kind > 2 && kind < 95)
		davy_tuner_soak(&tuner, now, any(c, 0, (uint32_t)DAY), any(c, 0, 9000));
	if (kind < 3) { /* the setting may be another one now */
		davy_tuner_next(&tuner, now, &bounds, &setting, &reason);
		assert_false(is_probation() && kind == 2);
		before = setting;
		if (is_probation())
			c->climbed_s = now;
	}
	if (failed)
		davy_tuner_trouble(&tuner, now, any(c, 0, 8000), any(c, 0, DAVY_CLASS_COUNT));
	davy_tuner_next(&tuner, now, &bounds, &setting, &reason);
	check_within_bounds();
	check_known(c, &before, failed);
	if (is_probation()) {
		assert_false(failed);
		assert_true(!c->climbed_s || now - c->climbed_s >= bounds.times.backoff_s);
		c->climbed_s = now;
	}
}

static void whatever_happens_it_keeps_to_its_bounds_and_its_back_offs(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct chances c = { .stamp = 1 };

		davy_random_seed(&c.random, "tuner", seed);
		begin();
		if (seed % 2)
			any_bounds(&c);
		ask();
		for (int i = 0; i < STEPS; i++)
			one_outcome(&c);
		assert_true(davy_tuner_valid(&tuner));
	}
}

static void after_whatever_happened_a_limit_is_found(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
		struct chances c = { .stamp = 1 };

		davy_random_seed(&c.random, "limit", seed);
		begin();
		for (int i = 0; i < 100; i++) {
			struct davy_tuner_bounds usual = bounds;

			one_outcome(&c);
			bounds = usual;
			memset(c.known, 0, sizeof(c.known));
		}
		davy_tuner_environment(&tuner,
				       ++c.stamp); /* what was learnt by chance is doubtful */
		ask();
		for (int i = 0; i < 300; i++) {
			bool bad = size(DAVY_TUNER_UBATCH) > 192 &&
				   setting.backend == DAVY_BACKEND_VULKAN;

			if (bad)
				fails_after(AWHILE, DEEP, DAVY_CLASS_RING_TIMEOUT);
			else
				soaks(DAY, 8192);
		}
		if (is_probation())
			fails_after(AWHILE, DEEP, DAVY_CLASS_RING_TIMEOUT);
		assert_int_equal(size(DAVY_TUNER_UBATCH), 192);
		assert_int_equal(setting.backend, DAVY_BACKEND_VULKAN);
		assert_int_equal(setting.size[DAVY_TUNER_CONTEXT], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_limit_of_a_setting_is_found_as_fast_as_by_halves),
		cmocka_unit_test(every_limit_of_every_setting_is_found_and_the_others_come_back),
		cmocka_unit_test(two_limits_at_once_are_found),
		cmocka_unit_test(an_engine_that_always_dies_ends_on_the_cpu),
		cmocka_unit_test(whatever_happens_it_keeps_to_its_bounds_and_its_back_offs),
		cmocka_unit_test(after_whatever_happened_a_limit_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
