/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of a held-out set: valid traces, honest labels, and benign ones that move a sense. */
#ifndef DAVY_TESTS_HELD_OUT_H
#define DAVY_TESTS_HELD_OUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lab/synth.h"

#define CALM	  (1800 * DAVY_S) /* instead of hours; a failing one has its own end */
#define MOVES_MIN 20		  /* in CALM, of a benign trace */

#ifndef HELD_OUT_SILENT_MIN
#define HELD_OUT_SILENT_MIN 3 /* failures without a precursor; 0: the set has none */
#endif

/* The state of each test. */
struct held_out {
	const struct davy_scenario *shapes;
	size_t count, shapes_min;
	uint64_t hours_min; /* of benign traces */
};

struct digest {
	uint64_t hash, count, moves, at_ns;
	uint32_t kinds[DAVY_EV_COUNT];
	uint32_t pids[64];
	size_t pid_count;
	bool bad;
};

/*
 * The senses of memory, faults, evictions, jobs and lines; not ticks, and not an engine's report.
 */
static bool moves_a_sense(uint32_t kind)
{
	return kind == DAVY_EV_MEMORY || kind == DAVY_EV_ALLOC_FAILED || kind == DAVY_EV_BO_MOVED ||
	       kind == DAVY_EV_KFD || kind == DAVY_EV_FACT || kind == DAVY_EV_LOG ||
	       kind == DAVY_EV_RING || kind == DAVY_EV_GRAPH || kind == DAVY_EV_PROCESS_EXIT;
}

static int digest_event(void *arg, const struct davy_event *ev)
{
	const unsigned char *bytes = (const unsigned char *)&ev->config;
	struct digest *d = arg;

	d->bad |= !davy_event_valid(ev) || ev->at_ns < d->at_ns;
	d->at_ns = ev->at_ns;
	d->count++;
	d->moves += moves_a_sense(ev->kind);
	if (ev->kind < DAVY_EV_COUNT)
		d->kinds[ev->kind]++;
	if (ev->kind == DAVY_EV_PROCESS)
		d->pids[d->pid_count++ % 64] = ev->pid;
	d->hash = (d->hash ^ ev->at_ns ^ ev->kind ^ ev->pid) * 1099511628211u;
	for (size_t i = 0; i < davy_event_payload_size(ev->kind); i++)
		d->hash = (d->hash ^ bytes[i]) * 1099511628211u;
	return 0;
}

static void run_shape(const struct davy_scenario *shape, uint64_t seed, struct digest *ret,
		      struct davy_label *ret_label)
{
	int err;

	*ret = (struct digest){ 0 };
	err = davy_synth_run(shape, seed, CALM, digest_event, ret, ret_label);
	if (err || ret->bad || !davy_label_valid(ret_label))
		fail_msg("'%s' with seed %d: error %d, or an invalid event or label", shape->name,
			 (int)seed, err);
}

static bool seen_pid(const struct digest *d, uint32_t pid)
{
	for (size_t i = 0; i < 64; i++)
		if (d->pids[i] == pid)
			return true;
	return false;
}

static void check_failing(const struct davy_scenario *shape, const struct digest *digest,
			  const struct davy_label *l)
{
	bool none = strstr(shape->what, "no precursor") != NULL;

	if (l->cause_ns < l->begin_ns + CALM || l->cause_ns > l->precursor_ns ||
	    l->precursor_ns > l->failure_ns || l->failure_ns > l->begin_ns + l->duration_ns)
		fail_msg("'%s': the order of its moments", shape->name);
	if ((l->precursor_ns == l->failure_ns) != none)
		fail_msg("'%s': its precursor", shape->name);
	if (!l->device[0] || (l->pid && !seen_pid(digest, l->pid)))
		fail_msg("'%s': its device or process", shape->name);
}

static void every_trace_is_valid_and_every_label_honest(void **state)
{
	const struct held_out *set = *state;
	struct davy_label label;
	struct digest digest;

	for (size_t i = 0; i < set->count; i++) {
		const struct davy_scenario *shape = &set->shapes[i];

		for (uint64_t seed = 1; seed <= 3; seed++) {
			run_shape(shape, seed, &digest, &label);
			assert_true(digest.count > 1000);
			assert_string_equal(label.scenario, shape->name);
			assert_int_equal(label.class, shape->class);
			if (shape->class != DAVY_CLASS_NONE)
				check_failing(shape, &digest, &label);
			else
				assert_true(!label.failure_ns && !label.precursor_ns && !label.pid);
		}
	}
}

static void every_benign_trace_moves_a_sense(void **state)
{
	const struct held_out *set = *state;
	struct davy_label label;
	struct digest digest;

	for (size_t i = 0; i < set->count; i++) {
		const struct davy_scenario *shape = &set->shapes[i];

		if (shape->class != DAVY_CLASS_NONE)
			continue;
		run_shape(shape, 11, &digest, &label);
		if (digest.moves < MOVES_MIN)
			fail_msg("'%s': only %d events besides ticks", shape->name,
				 (int)digest.moves);
		assert_int_equal(digest.kinds[DAVY_EV_JOB_TIMEOUT] + digest.kinds[DAVY_EV_RESET] +
					 digest.kinds[DAVY_EV_THROW],
				 0);
	}
}

static void a_seed_repeats_a_trace_and_another_one_does_not(void **state)
{
	const struct held_out *set = *state;
	struct digest a, b, c;
	struct davy_label label, again;

	for (size_t i = 0; i < set->count; i += 3) {
		run_shape(&set->shapes[i], 7, &a, &label);
		run_shape(&set->shapes[i], 7, &b, &again);
		assert_int_equal(a.hash, b.hash);
		assert_memory_equal(&label, &again, sizeof(label));
		run_shape(&set->shapes[i], 8, &c, &again);
		assert_int_not_equal(a.hash, c.hash);
	}
}

/* A duration differs by a fifth with the seed, but for whole days. */
static void half_of_the_set_is_benign_and_lasts_long(void **state)
{
	const struct held_out *set = *state;
	size_t benign = 0, honest = 0;
	uint64_t least_s = 0;
	uint32_t classes = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct davy_scenario *shape = &set->shapes[i];

		assert_ptr_equal(davy_scenario_find(shape->name), shape);
		assert_true(strlen(shape->name) < DAVY_SCENARIO_LEN);
		classes |= 1u << shape->class;
		honest += shape->class && strstr(shape->what, "no precursor");
		if (shape->class != DAVY_CLASS_NONE)
			continue;
		benign++;
		least_s += davy_scenario_is_day(shape) ? shape->calm_s : shape->calm_s / 5 * 4;
	}
	assert_true(set->count >= set->shapes_min);
	assert_int_equal(benign * 2, set->count);
	assert_true(least_s >= set->hours_min * 3600);
	assert_int_equal(classes, (1u << DAVY_CLASS_COUNT) - 1);
	if (HELD_OUT_SILENT_MIN)
		assert_in_range(honest, HELD_OUT_SILENT_MIN, set->count);
	else
		assert_int_equal(honest, 0);
}

/* No shape has the name of a shape of an earlier set; "prefix" and "of" begin the names of both. */
static void check_names(const struct held_out *set, const char *prefix,
			const struct davy_scenario *earlier, size_t count, const char *of)
{
	for (size_t i = 0; i < set->count; i++)
		for (size_t j = 0; j < count; j++)
			assert_string_not_equal(set->shapes[i].name + strlen(prefix),
						earlier[j].name + strlen(of));
}

/* Each failure has a sign at least "lead_ns" before it. */
static inline void check_signs(const struct held_out *set, uint64_t lead_ns)
{
	struct davy_label label;
	struct digest digest;

	for (size_t i = 0; i < set->count; i++) {
		if (set->shapes[i].class == DAVY_CLASS_NONE)
			continue;
		run_shape(&set->shapes[i], 5, &digest, &label);
		if (label.failure_ns - label.precursor_ns < lead_ns)
			fail_msg("'%s': its sign comes too late", set->shapes[i].name);
	}
}

/* What a benign shape is meant to move, in CALM; its name is without the set's prefix. */
struct meant {
	const char *name;
	uint32_t kind, least;
};

static inline const struct davy_scenario *shape_named(const struct held_out *set,
						      const char *prefix, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->shapes[i].name + strlen(prefix), name))
			return &set->shapes[i];
	fail_msg("no shape is named '%s'", name);
	return NULL;
}

/* The table has all benign shapes. */
static inline void check_meant(const struct held_out *set, const char *prefix,
			       const struct meant *meant, size_t count)
{
	struct davy_label label;
	struct digest digest;

	assert_int_equal(count * 2, set->count);
	for (size_t i = 0; i < count; i++) {
		const struct davy_scenario *shape = shape_named(set, prefix, meant[i].name);

		assert_int_equal(shape->class, DAVY_CLASS_NONE);
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run_shape(shape, seed, &digest, &label);
			if (digest.kinds[meant[i].kind] < meant[i].least)
				fail_msg("'%s' with seed %d: only %d of its events", shape->name,
					 (int)seed, (int)digest.kinds[meant[i].kind]);
		}
	}
}

/* The tests that every set has, for its table of cmocka. */
#define HELD_OUT_TESTS(set)                                                                        \
	cmocka_unit_test_prestate(every_trace_is_valid_and_every_label_honest, set),               \
		cmocka_unit_test_prestate(every_benign_trace_moves_a_sense, set),                  \
		cmocka_unit_test_prestate(a_seed_repeats_a_trace_and_another_one_does_not, set),   \
		cmocka_unit_test_prestate(half_of_the_set_is_benign_and_lasts_long, set)

#endif
