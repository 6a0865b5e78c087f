/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synthetic traces: every scenario, the same bytes again, in order, valid, matching its label. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/synth.h"

#define CALM  (40 * DAVY_S)
#define PIDS  200
#define SLEPT (10 * DAVY_MIN) /* a longer gap between two ticks is a host that slept */

struct seen {
	uint64_t hash, count, last_ns, first_ns, tick_ns, rings, gaps;
	uint32_t pid[PIDS]; /* from a process event */
	size_t pids;
	uint32_t of_kind[DAVY_EV_COUNT];
	uint64_t at[DAVY_EV_COUNT]; /* last one of a kind */
	uint64_t pressure_ns;
};

static bool known(const struct seen *s, uint32_t pid)
{
	for (size_t i = 0; i < s->pids; i++)
		if (s->pid[i] == pid)
			return true;
	return false;
}

static void hash(struct seen *s, const struct davy_event *ev)
{
	const unsigned char *bytes = (const unsigned char *)ev;
	size_t size = offsetof(struct davy_event, config) + davy_event_payload_size(ev->kind);

	for (size_t i = 0; i < size; i++)
		s->hash = (s->hash ^ bytes[i]) * 0x100000001b3ULL;
}

static void look_at_memory(const struct davy_ev_memory *m)
{
	assert_true(m->vram_used <= m->vram_total);
	assert_true(m->gtt_used <= m->gtt_total);
	assert_true(m->host_available <= m->host_total);
	assert_true(m->pressure_permille <= 1000);
}

static void look_at_times(const struct davy_ev_job_times *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < DAVY_TIME_SLOTS; i++)
		sum += t->slot[i];
	assert_int_equal(sum, t->count);
	assert_true(t->max_ns <= t->sum_ns);
}

/* What the agent promises of what it feeds. */
static int look_at(void *arg, const struct davy_event *ev)
{
	struct seen *s = arg;

	assert_true(davy_event_valid(ev));
	assert_true(ev->at_ns >= s->last_ns);
	s->first_ns = s->first_ns ? s->first_ns : ev->at_ns;
	s->last_ns = ev->at_ns;
	s->count++;
	s->of_kind[ev->kind]++;
	s->at[ev->kind] = ev->at_ns;
	hash(s, ev);
	if (ev->kind == DAVY_EV_PROCESS && !known(s, ev->pid)) {
		assert_true(s->pids < PIDS);
		s->pid[s->pids++] = ev->pid;
	}
	if (ev->pid)
		assert_true(known(s, ev->pid));
	if (ev->kind == DAVY_EV_BO_MOVED)
		assert_true(known(s, ev->bo_moved.owner_pid));
	if (ev->kind == DAVY_EV_MEMORY)
		look_at_memory(&ev->memory);
	if (ev->kind == DAVY_EV_JOB_TIMES)
		look_at_times(&ev->job_times);
	if (ev->kind == DAVY_EV_RING && ev->ring.timeout_ns) {
		assert_true(ev->ring.age_ns <= ev->ring.timeout_ns + 3 * DAVY_S); /* a reset */
		s->rings++;
	}
	if (ev->kind != DAVY_EV_TICK)
		return 0;
	if (s->tick_ns && ev->at_ns - s->tick_ns > 101 * DAVY_MS) {
		assert_true(ev->at_ns - s->tick_ns > SLEPT);
		s->gaps++;
	}
	s->tick_ns = ev->at_ns;
	return 0;
}

static void run(const struct davy_scenario *scenario, uint64_t seed, struct seen *s,
		struct davy_label *label)
{
	memset(s, 0, sizeof(*s));
	s->hash = 0xcbf29ce484222325ULL;
	assert_int_equal(davy_synth_run(scenario, seed, CALM, look_at, s, label), 0);
}

static void check_label(const struct davy_scenario *scenario, uint64_t seed, const struct seen *s,
			const struct davy_label *l)
{
	assert_true(davy_label_valid(l));
	assert_string_equal(l->scenario, scenario->name);
	assert_int_equal(l->seed, seed);
	assert_int_equal(l->class, scenario->class);
	assert_true(s->first_ns >= l->begin_ns);
	assert_true(s->last_ns <= l->begin_ns + l->duration_ns);
	assert_true(l->begin_ns + l->duration_ns - s->last_ns < DAVY_S || s->gaps);
	if (l->class == DAVY_CLASS_NONE)
		return;
	assert_true(l->device[0] || l->pid);
	if (l->pid)
		assert_true(known(s, l->pid));
	assert_true(l->precursor_ns < l->failure_ns);
	assert_true(l->cause_ns >= l->begin_ns + CALM);
	assert_true(s->last_ns >= l->failure_ns + 9 * DAVY_S);
}

static void every_scenario_keeps_the_agents_promises(void **state)
{
	(void)state;
	for (size_t i = 0; i < davy_scenario_count; i++) {
		for (uint64_t seed = 1; seed <= 2; seed++) {
			struct davy_label label;
			struct seen s;

			run(&davy_scenarios[i], seed, &s, &label);
			check_label(&davy_scenarios[i], seed, &s, &label);
			assert_true(s.of_kind[DAVY_EV_TICK] > 300);
			assert_true(s.of_kind[DAVY_EV_DEVICE] > 0);
		}
	}
}

static void the_same_seed_makes_the_same_bytes_and_another_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < davy_scenario_count; i++) {
		struct davy_label label, again;
		struct seen a, b, c;

		if (davy_scenarios[i].calm_s > 1800)
			continue;
		run(&davy_scenarios[i], 5, &a, &label);
		run(&davy_scenarios[i], 5, &b, &again);
		assert_int_equal(a.hash, b.hash);
		assert_memory_equal(&label, &again, sizeof(label));
		run(&davy_scenarios[i], 6, &c, &again);
		assert_int_not_equal(a.hash, c.hash);
	}
}

/* One of each family: the events of the failure are there if the label has one. */
static void the_failure_is_in_the_events(void **state)
{
	static const struct {
		const char *name;
		enum davy_event_kind kind;
	} told_by[] = {
		{ "prefill_2s", DAVY_EV_JOB_TIMEOUT },
		{ "second_reset_minutes", DAVY_EV_JOB_TIMEOUT },
		{ "vram_leak", DAVY_EV_THROW },
		{ "rocm_full", DAVY_EV_PROCESS_EXIT },
		{ "retry_storm", DAVY_EV_FAULT },
		{ "hung_workers", DAVY_EV_LOG },
		{ "crash_loop", DAVY_EV_PROCESS_EXIT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(told_by) / sizeof(told_by[0]); i++) {
		struct davy_label label;
		struct seen s;

		run(davy_scenario_find(told_by[i].name), 3, &s, &label);
		assert_int_equal(s.at[told_by[i].kind], label.failure_ns);
	}
}

static void every_class_that_has_signs_has_a_scenario(void **state)
{
	bool has[DAVY_CLASS_COUNT] = { false };
	size_t benign = 0;

	(void)state;
	for (size_t i = 0; i < davy_scenario_count; i++) {
		has[davy_scenarios[i].class] = true;
		benign += davy_scenarios[i].class == DAVY_CLASS_NONE;
		assert_ptr_equal(davy_scenario_find(davy_scenarios[i].name), &davy_scenarios[i]);
		assert_true(strlen(davy_scenarios[i].name) < DAVY_SCENARIO_LEN);
	}
	for (uint32_t class = 0; class < DAVY_CLASS_OTHER; class ++)
		assert_true(has[class]);
	assert_true(benign >= 25);
	assert_null(davy_scenario_find("nothing"));
}

static void leads_are_those_of_the_reports(void **state)
{
	static const struct {
		const char *name;
		uint64_t lead_s;
	} reports[] = {
		/* clang-format off */
		{ "restore_hogs", 40 }, { "restore_failed", 81 }, { "svm_limit", 60 },
		{ "xid", 51 }, { "xe_engines", 63 }, { "fence_fallback", 420 }, { "smu", 9 },
		{ "i915_fence", 8 }, { "hung_workers", 125 }, { "cs_flood", 40 },
		/* clang-format on */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct davy_label l;
			struct seen s;
			uint64_t lead_ms;

			run(davy_scenario_find(reports[i].name), seed, &s, &l);
			lead_ms = (l.failure_ns - l.precursor_ns) / DAVY_MS;
			assert_true(lead_ms >= reports[i].lead_s * 500 - 500);
			assert_true(lead_ms <= reports[i].lead_s * 2000 + 4000);
		}
	}
}

static int full(void *arg, const struct davy_event *ev)
{
	(void)ev;
	return --*(int *)arg ? 0 : -28;
}

static void a_full_disk_ends_the_synthesis(void **state)
{
	struct davy_label label;
	int left = 100;

	(void)state;
	assert_int_equal(davy_synth_run(davy_scenario_find("chats"), 1, CALM, full, &left, &label),
			 -28);
	assert_int_equal(left, 0);
}

static void a_host_that_sleeps_has_gaps_and_no_job_runs_over_one(void **state)
{
	struct davy_label label;
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(davy_synth_run(davy_scenario_find("sleep"), 1, 0, look_at, &s, &label), 0);
	assert_true(s.gaps > 0);
}

static void numbers_are_those_of_the_reference(void **state)
{
	struct davy_random r = { { 1, 2, 3, 4 } };

	(void)state;
	assert_int_equal(davy_random_u64(&r), 11520);
	assert_int_equal(davy_random_u64(&r), 0);
	assert_int_equal(davy_random_u64(&r), 1509978240);
	assert_int_equal(davy_random_u64(&r), 1215971899390074240);
	davy_random_seed(&r, "chats", 7);
	assert_int_equal(davy_random_u64(&r), 0x4031202278fa29c1);
	assert_int_equal(davy_random_u64(&r), 0x5f7c5b6c0f163d16);
}

static void numbers_stay_in_their_range(void **state)
{
	struct davy_random r;
	uint32_t below = 0;

	(void)state;
	davy_random_seed(&r, "range", 1);
	for (int i = 0; i < 10000; i++) {
		uint64_t n = davy_random_around(&r, 1000);

		assert_in_range(n, 500, 2000);
		below += n < 1000;
		assert_in_range(davy_random_between(&r, 3, 5), 3, 5);
		assert_in_range(davy_random_near(&r, 1000, 100), 900, 1100);
		assert_false(davy_random_chance(&r, 0));
		assert_true(davy_random_chance(&r, 1000));
	}
	assert_in_range(below, 4500, 5500);
	davy_random_between(&r, 0, UINT64_MAX);
	assert_int_equal(davy_random_between(&r, 7, 7), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scenario_keeps_the_agents_promises),
		cmocka_unit_test(the_same_seed_makes_the_same_bytes_and_another_others),
		cmocka_unit_test(the_failure_is_in_the_events),
		cmocka_unit_test(every_class_that_has_signs_has_a_scenario),
		cmocka_unit_test(leads_are_those_of_the_reports),
		cmocka_unit_test(a_full_disk_ends_the_synthesis),
		cmocka_unit_test(a_host_that_sleeps_has_gaps_and_no_job_runs_over_one),
		cmocka_unit_test(numbers_are_those_of_the_reference),
		cmocka_unit_test(numbers_stay_in_their_range),
	};

	return cmocka_run_group_tests_name("synth", tests, NULL, NULL);
}
