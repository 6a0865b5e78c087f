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

/* What the events of a benign trace move, as far as a hazard sees it. */
struct moved {
	uint64_t tokens, engines, deepest;
	uint64_t vram_low, vram_high, gtt_low, gtt_high; /* permille */
	uint64_t host_low, host_high, sampled;		 /* permille; samples */
	uint64_t out_bytes, refused, retries, strays, evictions, killed, gaps, tick_ns;
	uint64_t oldest;   /* of a job, permille of its timeout */
	uint64_t graph_ns; /* the longest one */
	uint64_t lines[DAVY_LOG_KIND_COUNT];
};

static void spread(uint64_t *low, uint64_t *high, uint64_t used, uint64_t total)
{
	uint64_t permille = total ? used * 1000 / total : 0;

	*low = permille < *low ? permille : *low;
	*high = permille > *high ? permille : *high;
}

static void move_by_memory(struct moved *m, const struct davy_ev_memory *in)
{
	if (!(in->flags & DAVY_MEMORY_SHARED))
		spread(&m->vram_low, &m->vram_high, in->vram_used, in->vram_total);
	spread(&m->gtt_low, &m->gtt_high, in->gtt_used, in->gtt_total);
	spread(&m->host_low, &m->host_high, in->host_available, in->host_total);
	m->sampled++;
}

static void most(uint64_t *value, uint64_t other)
{
	*value = other > *value ? other : *value;
}

static int move(void *arg, const struct davy_event *ev)
{
	struct moved *m = arg;

	switch (ev->kind) {
	case DAVY_EV_MEMORY:
		move_by_memory(m, &ev->memory);
		break;
	case DAVY_EV_PROGRESS:
		most(&m->tokens, ev->progress.generated_count);
		most(&m->deepest, ev->progress.depth);
		break;
	case DAVY_EV_PROCESS:
		m->engines += ev->process.engine != DAVY_ENGINE_NONE;
		break;
	case DAVY_EV_PROCESS_EXIT:
		m->killed += ev->process_exit.status == DAVY_STATUS_KILL;
		break;
	case DAVY_EV_RING:
		if (ev->ring.timeout_ns)
			most(&m->oldest, ev->ring.age_ns * 1000 / ev->ring.timeout_ns);
		break;
	case DAVY_EV_GRAPH:
		most(&m->graph_ns, ev->graph.max_ns);
		break;
	case DAVY_EV_BO_MOVED:
		most(&m->out_bytes, ev->bo_moved.out_bytes);
		break;
	case DAVY_EV_ALLOC_FAILED:
		m->refused += ev->alloc_failed.fresh;
		break;
	case DAVY_EV_FAULT:
		m->retries += ev->fault.fault_class == DAVY_FAULT_VM_RETRY ? ev->fault.fresh : 0;
		m->strays += !ev->fault.pasid;
		break;
	case DAVY_EV_KFD:
		m->evictions += ev->kfd.event == DAVY_KFD_QUEUES_EVICTED;
		break;
	case DAVY_EV_LOG:
		m->lines[ev->log.kind] += 1 + ev->log.repeats;
		break;
	case DAVY_EV_TICK:
		m->gaps += m->tick_ns && ev->at_ns - m->tick_ns > SLEPT;
		m->tick_ns = ev->at_ns;
		break;
	default:
		break;
	}
	return 0;
}

static uint64_t said(const struct moved *m, const char *name)
{
	static const struct {
		const char *name;
		enum davy_log_kind kind;
	} lines[] = {
		{ "user_pages", DAVY_LOG_USER_PAGES_FAILED },
		{ "queue_buffers", DAVY_LOG_QUEUE_BUFFER_FREED },
		{ "pin_failed", DAVY_LOG_PIN_FAILED },
		{ "one_hog", DAVY_LOG_RESTORE_WORKER_HOGGED },
		{ "corrected_aer", DAVY_LOG_AER_CORRECTED },
		{ "retired_page", DAVY_LOG_RAS_PAGES },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(lines[i].name, name))
			return m->lines[lines[i].kind];
	return 0;
}

/* Each in the sense that it is to test. */
static bool moves_its_sense(const struct moved *m, const char *name)
{
	bool is_deep = !strncmp(name, "deep_", 5), is_constant = !strncmp(name, "constant_", 9);

	if (!strcmp(name, "idle_day"))
		return !m->tokens && m->engines == 1 && m->sampled;
	if (!strncmp(name, "chat", 4))
		return m->tokens > 1000;
	if (is_deep) /* 37 % of the timeout at the whole context */
		return m->deepest > 50000 && m->oldest > 250 && m->oldest < 400;
	if (is_constant)
		return m->oldest > 380 && m->oldest < 500;
	if (!strcmp(name, "first_graphs"))
		return m->graph_ns > 5 * DAVY_S;
	if (!strcmp(name, "flapping"))
		return m->oldest > 250 && m->oldest < 400 && m->refused > 100 && m->out_bytes;
	if (!strcmp(name, "sleep"))
		return m->gaps && m->out_bytes > DAVY_GIB;
	if (!strcmp(name, "discovery"))
		return m->killed > 1;
	if (!strcmp(name, "swaps"))
		return m->engines > 2 && m->vram_high - m->vram_low > 300;
	if (!strncmp(name, "filled_", 7))
		return m->vram_low < 150 && m->vram_high > 800;
	if (!strncmp(name, "static_", 7))
		return m->vram_low > 950;
	if (!strcmp(name, "dozing"))
		return m->vram_high - m->vram_low > 400 && m->gtt_high > m->gtt_low + 50;
	if (!strcmp(name, "tenants"))
		return m->engines == 3 && m->vram_high > 800 && m->tokens > 100;
	if (!strcmp(name, "evicted_once"))
		return m->out_bytes > DAVY_GIB && m->vram_high > 990;
	if (!strcmp(name, "retries"))
		return m->refused > 50 && m->vram_high > 900;
	if (!strcmp(name, "host_cache"))
		return m->host_low < 140 && m->host_high > 300;
	if (!strcmp(name, "driver_faults"))
		return m->strays > 1;
	if (!strcmp(name, "first_touch"))
		return m->retries > 5000;
	if (!strcmp(name, "queue_moves"))
		return m->evictions > 2 && m->out_bytes;
	return said(m, name) > 0;
}

static void every_benign_scenario_moves_the_sense_it_is_to_test(void **state)
{
	(void)state;
	for (size_t i = 0; i < davy_scenario_count; i++) {
		const struct davy_scenario *scenario = &davy_scenarios[i];
		uint64_t calm_ns = davy_scenario_is_day(scenario) ? 10 * DAVY_H : 0;

		for (uint64_t seed = 1; !scenario->class && seed <= 2; seed++) {
			struct moved m = { .vram_low = 1000, .gtt_low = 1000, .host_low = 1000 };
			struct davy_label label;

			assert_int_equal(davy_synth_run(scenario, seed, calm_ns, move, &m, &label),
					 0);
			if (!moves_its_sense(&m, scenario->name))
				fail_msg("'%s', seed %u: does not move what it is to test",
					 scenario->name, (unsigned int)seed);
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
		cmocka_unit_test(every_benign_scenario_moves_the_sense_it_is_to_test),
		cmocka_unit_test(a_full_disk_ends_the_synthesis),
		cmocka_unit_test(a_host_that_sleeps_has_gaps_and_no_job_runs_over_one),
		cmocka_unit_test(numbers_are_those_of_the_reference),
		cmocka_unit_test(numbers_stay_in_their_range),
	};

	return cmocka_run_group_tests_name("synth", tests, NULL, NULL);
}
