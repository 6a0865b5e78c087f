/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The held-out set: every trace and label is valid, and the same again for the same seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lab/check_set.h"

#define CALM	   (300 * DAVY_S) /* instead of hours; a failing one has its own end */
#define SHAPES_MIN 44
#define HOURS_MIN  200

struct digest {
	uint64_t hash, count, at_ns;
	bool bad;
};

static int digest_event(void *arg, const struct davy_event *ev)
{
	const unsigned char *bytes = (const unsigned char *)&ev->config;
	struct digest *d = arg;

	d->bad |= !davy_event_valid(ev) || ev->at_ns < d->at_ns;
	d->at_ns = ev->at_ns;
	d->count++;
	d->hash = (d->hash ^ ev->at_ns ^ ev->kind ^ ev->pid) * 1099511628211u;
	for (size_t i = 0; i < davy_event_payload_size(ev->kind); i++)
		d->hash = (d->hash ^ bytes[i]) * 1099511628211u;
	return 0;
}

static void run_shape(const struct davy_scenario *shape, uint64_t seed, struct digest *ret,
		      struct davy_label *ret_label)
{
	*ret = (struct digest){ 0 };
	assert_int_equal(davy_synth_run(shape, seed, CALM, digest_event, ret, ret_label), 0);
}

static void every_trace_and_label_is_valid(void **state)
{
	struct davy_label label;
	struct digest digest;

	(void)state;
	for (size_t i = 0; i < davy_check_scenario_count; i++) {
		const struct davy_scenario *shape = &davy_check_scenarios[i];

		run_shape(shape, 1 + i, &digest, &label);
		if (digest.bad || !davy_label_valid(&label))
			fail_msg("'%s' is invalid", shape->name);
		assert_true(digest.count > 1000);
		assert_string_equal(label.scenario, shape->name);
		assert_int_equal(label.class, shape->class);
		assert_true(label.duration_ns >= CALM);
		if (shape->class == DAVY_CLASS_NONE) {
			assert_true(!label.failure_ns && !label.precursor_ns && !label.pid);
			continue;
		}
		assert_true(label.cause_ns >= label.begin_ns + CALM);
		assert_true(label.failure_ns < label.begin_ns + label.duration_ns);
		assert_string_not_equal(label.device, "");
	}
}

static void a_seed_repeats_a_trace_and_another_one_does_not(void **state)
{
	struct digest a, b, c;
	struct davy_label label, again;

	(void)state;
	for (size_t i = 0; i < davy_check_scenario_count; i++) {
		if (!strcmp(davy_check_scenarios[i].name, "check_fini_leak"))
			continue; /* hours */
		run_shape(&davy_check_scenarios[i], 7, &a, &label);
		run_shape(&davy_check_scenarios[i], 7, &b, &again);
		assert_int_equal(a.hash, b.hash);
		assert_memory_equal(&label, &again, sizeof(label));
		run_shape(&davy_check_scenarios[i], 8, &c, &again);
		assert_int_not_equal(a.hash, c.hash);
	}
}

/* A duration differs by a fifth with the seed, but for whole days. */
static void half_of_the_set_is_benign_and_lasts_long(void **state)
{
	size_t benign = 0, honest = 0;
	uint64_t least_s = 0;
	uint32_t classes = 0;

	(void)state;
	for (size_t i = 0; i < davy_check_scenario_count; i++) {
		const struct davy_scenario *shape = &davy_check_scenarios[i];

		assert_ptr_equal(davy_scenario_find(shape->name), shape);
		assert_true(strlen(shape->name) < DAVY_SCENARIO_LEN);
		classes |= 1u << shape->class;
		honest += shape->class && strstr(shape->what, "no precursor");
		if (shape->class != DAVY_CLASS_NONE)
			continue;
		benign++;
		least_s += davy_scenario_is_day(shape) ? shape->calm_s : shape->calm_s / 5 * 4;
	}
	assert_true(davy_check_scenario_count >= SHAPES_MIN);
	assert_int_equal(benign * 2, davy_check_scenario_count);
	assert_true(least_s >= HOURS_MIN * 3600);
	assert_int_equal(classes, (1u << DAVY_CLASS_COUNT) - 1);
	assert_true(honest >= 3);
}

static void a_shape_without_a_precursor_says_so_in_its_label(void **state)
{
	struct davy_label label;
	struct digest digest;

	(void)state;
	for (size_t i = 0; i < davy_check_scenario_count; i++) {
		const struct davy_scenario *shape = &davy_check_scenarios[i];
		bool none = strstr(shape->what, "no precursor") != NULL;

		if (!shape->class || !strcmp(shape->name, "check_fini_leak"))
			continue;
		run_shape(shape, 3, &digest, &label);
		if ((label.precursor_ns == label.failure_ns) != none)
			fail_msg("'%s': its precursor", shape->name);
	}
}

struct losses {
	uint64_t lost, seen;
};

static int add_losses(void *arg, const struct davy_event *ev)
{
	struct losses *l = arg;

	l->lost += ev->kind == DAVY_EV_SENSOR ? ev->sensor.count : 0;
	l->seen += ev->kind == DAVY_EV_BO_MOVED || ev->kind == DAVY_EV_ALLOC_FAILED;
	return 0;
}

static void lost_events_are_counted(void **state)
{
	const struct davy_scenario *shape = davy_scenario_find("check_lossy");
	struct losses losses = { 0 };
	struct davy_label label;

	(void)state;
	assert_int_equal(davy_synth_run(shape, 1, 12 * CALM, add_losses, &losses, &label), 0);
	assert_true(losses.seen > 0);
	assert_in_range(losses.lost, losses.seen / 10, losses.seen * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_trace_and_label_is_valid),
		cmocka_unit_test(a_seed_repeats_a_trace_and_another_one_does_not),
		cmocka_unit_test(half_of_the_set_is_benign_and_lasts_long),
		cmocka_unit_test(a_shape_without_a_precursor_says_so_in_its_label),
		cmocka_unit_test(lost_events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
