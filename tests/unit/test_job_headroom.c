/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs.h"

#include "report/plan_text.h"

#define LIMIT (2 * S) /* amdgpu since 7.2 */

static const struct davy_plan *note(void)
{
	return last_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_HEADROOM);
}

static size_t notes(void)
{
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_JOB_HEADROOM);
}

static const struct davy_plan *first_of_level(uint8_t level)
{
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].kind == DAVY_PLAN_NOTE && kept[i].hazard == DAVY_HZ_JOB_HEADROOM &&
		    kept[i].level == level)
			return &kept[i];
	fail_msg("no headroom of level %u", level);
	return NULL;
}

static void begin(const char *name, uint32_t ubatch)
{
	if (name)
		begin_recording(name);
	else
		begin_history();
	engine(ubatch, "tiny.gguf");
	lockup("compute", LIMIT);
	begin_jobs(60, RING);
}

/*
 * A prompt of "tokens" in ubatches of 512. Each is a job of base_ns, plus slope_ns per earlier
 * token, with or without reports of the depth. Ends where a job would take the whole timeout.
 * Returns the time when the first job over 60 % ended, 0: none.
 */
static uint64_t prefill(uint32_t tokens, uint64_t base_ns, uint64_t slope_ns, bool depth_told)
{
	uint64_t over_ns = 0;

	for (uint32_t depth = 0; depth < tokens; depth += 512) {
		uint64_t ns = base_ns + slope_ns * depth;

		if (ns >= LIMIT)
			break;
		if (depth_told)
			progress(60, depth, 0, 1);
		job(60, ns);
		if (!over_ns && ns > LIMIT * 6 / 10)
			over_ns = now;
	}
	return over_ns;
}

static void a_long_prompt_is_foreseen_by_its_depth(void **state)
{
	const struct davy_plan *plan;
	uint64_t over_ns;

	(void)state;
	begin("job_headroom-depth", 512);
	/* 5 % at first, 24 us more a token: the timeout is reached at a depth of 79167 */
	over_ns = prefill(131072, 100 * MS, 24000, true);
	assert_true(over_ns);
	assert_int_equal(kept[0].level, 1);
	assert_true(kept[0].at_ns < over_ns);
	assert_in_range(kept[0].predicted_depth, 77000, 81500);
	plan = first_of_level(2);
	assert_true(plan->at_ns < over_ns);
	assert_in_range(plan->observed, 400, 430);
	assert_in_range(plan->predicted_depth, 78000, 80500);
	/* 154 ubatches of 1.05 s on average */
	assert_in_range(plan->until_ns, 100 * S + 150 * S, 100 * S + 170 * S);
	/* at 131072 tokens a job would take 162 %: 512 x 40 / 162 is 126 */
	assert_int_equal(plan->fitting_ubatch, 64);
	assert_int_equal(plan->ubatch, 512);
	assert_string_equal(plan->detail, RING);
	assert_int_equal(note()->level, 3);
	assert_replays();
}

static void a_long_prompt_is_foreseen_by_time_without_a_depth(void **state)
{
	const struct davy_plan *plan;
	uint64_t over_ns;

	(void)state;
	begin("job_headroom-time", 512);
	over_ns = prefill(131072, 100 * MS, 24000, false);
	plan = first_of_level(2);
	assert_true(plan->at_ns < over_ns);
	assert_int_equal(plan->predicted_depth, 0);
	/* 154 jobs of 1.05 s on average from the begin on */
	assert_in_range(plan->until_ns, 100 * S + 145 * S, 100 * S + 175 * S);
	assert_true(plan->fitting_ubatch == 128 || plan->fitting_ubatch == 64);
	assert_replays();
}

/* Noise of 3 %, timeouts of all drivers, several submissions an ubatch, depth known or not. */
static void no_steady_growth_passes_60_percent_unheard(void **state)
{
	static const uint64_t limits[] = { 2 * S, 5 * S, 10 * S, 60 * S };
	static const uint64_t to_limit[] = { 8000, 30000, 79000, 131000 }; /* tokens */

	(void)state;
	for (size_t i = 0; i < 32; i++) {
		uint64_t limit = limits[i % 4], full = to_limit[i / 4 % 4], over_ns = 0;
		uint32_t seed = 1;

		begin(NULL, 512);
		lockup("compute", limit);
		for (uint64_t depth = 0; depth < full * 9 / 10; depth += 512) {
			uint64_t ns = limit / 20 + limit * 95 / 100 * depth / full;

			seed = seed * 1103515245 + 12345;
			ns = ns * (97 + seed / 65536 % 7) / 100;
			if (i < 16)
				progress(60, (uint32_t)depth, 0, 1);
			job(60, ns / 3);
			job(60, ns);
			job(60, ns / 20);
			over_ns = over_ns || ns < limit * 6 / 10 ? over_ns : now;
		}
		assert_true(over_ns);
		assert_true(kept[0].at_ns < over_ns);
		if (full > 8000) /* in 16 ubatches, a first warning is all there is time for */
			assert_true(first_of_level(2)->at_ns < over_ns);
	}
}

/* Jobs of half a minute are no pauses between prompts. */
static void slow_jobs_under_a_long_timeout_are_one_prompt(void **state)
{
	(void)state;
	begin(NULL, 512);
	lockup("compute", 60 * S);
	set("job_headroom.ahead", 3600000);
	set("job_headroom.level2", 1000);
	for (uint64_t ns = 6 * S; ns < 40 * S; ns += S)
		job(60, ns);
	/* 25 s after 295 s; its square reaches that of 60 s at 1800 s */
	assert_in_range(first_of_level(2)->observed, 400, 420);
	assert_in_range(first_of_level(2)->until_ns, 100 * S + 1600 * S, 100 * S + 2000 * S);
}

static void a_prompt_that_ends_below_a_half_is_no_more_than_a_note(void **state)
{
	(void)state;
	begin("job_headroom-benign", 512);
	/* 49 % at the full depth: it fits, and nothing is foreseen */
	prefill(131072, 100 * MS, 6700, true);
	assert_int_equal(notes(), 1);
	assert_int_equal(note()->level, 1);
	assert_int_equal(note()->predicted_depth, 0);
	assert_in_range(note()->observed, 400, 402);
	assert_replays();
}

static void long_jobs_that_do_not_grow_stay_below_level_2(void **state)
{
	(void)state;
	begin("job_headroom-constant", 512);
	for (uint32_t i = 0; i < 200; i++)
		job(60, LIMIT * 49 / 100 - (i * 7919 % 31) * MS);
	assert_int_equal(notes(), 1);
	assert_int_equal(note()->level, 1);
	assert_int_equal(note()->fitting_ubatch, 256);
	assert_replays();
	begin(NULL, 512);
	for (uint32_t i = 0; i < 600; i++)
		job(60, LIMIT * 39 / 100 - (i * 7919 % 31) * MS);
	assert_int_equal(kept_count, 0);
}

static void one_or_two_slow_jobs_are_a_note_and_three_a_hazard(void **state)
{
	(void)state;
	begin(NULL, 512);
	job(60, LIMIT * 95 / 100); /* shaders */
	for (int i = 0; i < 50; i++)
		job(60, LIMIT / 20);
	job(60, LIMIT * 95 / 100);
	assert_int_equal(notes(), 1);
	assert_int_equal(note()->level, 1);
	job(60, LIMIT * 60 / 100);
	assert_int_equal(note()->level, 2);
	assert_int_equal(note()->observed, 600); /* the third slowest */
	assert_int_equal(note()->evidence_count, 2);
}

static void slow_jobs_a_minute_apart_do_not_add_up(void **state)
{
	(void)state;
	begin(NULL, 512);
	for (int i = 0; i < 10; i++) {
		job(60, LIMIT * 8 / 10);
		for (int j = 0; j < 31; j++) {
			now += S;
			job(60, LIMIT / 20);
		}
	}
	for (size_t i = 0; i < kept_count; i++)
		assert_int_equal(kept[i].level, 1);
}

static void a_job_that_a_suspend_made_long_is_nothing(void **state)
{
	(void)state;
	begin(NULL, 512);
	job(60, 8 * 3600 * S);
	job(60, LIMIT);
	for (int i = 0; i < 20; i++)
		job(60, LIMIT / 10);
	assert_int_equal(kept_count, 0);
	job(60, LIMIT * 41 / 100); /* the maximum is unchanged, the slots are not */
	assert_int_equal(note()->observed, 410);
}

static void rings_without_a_timeout_are_ignored(void **state)
{
	(void)state;
	begin(NULL, 512);
	lockup("compute", 0);
	for (int i = 0; i < 10; i++)
		job(60, 100 * S);
	begin_history();
	engine(512, "tiny.gguf");
	begin_jobs(60, RING);
	for (int i = 0; i < 10; i++)
		job(60, LIMIT * 9 / 10); /* and no source reported any */
	assert_int_equal(kept_count, 0);
}

static void the_rings_own_timeout_is_believed_first(void **state)
{
	(void)state;
	begin(NULL, 512);
	ring_runs(60, RING, 0, 60 * S, 0);
	for (int i = 0; i < 5; i++)
		job(60, LIMIT * 9 / 10);
	assert_int_equal(kept_count, 0);
	ring_runs(60, RING, 0, 0, 0); /* never, regardless of the module's parameter */
	job(60, LIMIT * 9 / 10);
	assert_int_equal(kept_count, 0);
	ring_runs(60, RING, 0, LIMIT, 0);
	job(60, LIMIT * 9 / 10);
	assert_int_equal(notes(), 1);
}

static void a_ring_finds_the_timeout_of_its_queue(void **state)
{
	static const struct {
		const char *queue;
		const char *ring;
	} same[] = { { "gfx", "gfx_0.0.0" },
		     { "compute", "comp_1.3.1" },
		     { "ccs", "ccs12" },
		     { "rcs", "rcs0" } };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		begin_history();
		engine(512, "tiny.gguf");
		lockup("video", S / 2);
		lockup("sdma", S / 2);
		lockup(same[i].queue, LIMIT);
		begin_jobs(60, same[i].ring);
		job(60, LIMIT * 45 / 100);
		assert_int_equal(note()->observed, 450);
	}
}

static void copy_and_video_rings_are_ignored(void **state)
{
	static const char *const rings[] = { "sdma0", "vcn_unified_0", "jpeg_dec", "bcs3", "vcs0" };

	(void)state;
	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		begin_history();
		engine(512, "tiny.gguf");
		lockup("sdma", LIMIT);
		lockup("video", LIMIT);
		lockup("bcs", LIMIT);
		lockup("vcs", LIMIT);
		begin_jobs(60, rings[i]);
		for (int j = 0; j < 5; j++)
			job(60, LIMIT * 9 / 10);
		assert_int_equal(kept_count, 0);
	}
}

static void other_programs_and_cpu_engines_are_ignored(void **state)
{
	(void)state;
	begin(NULL, 512);
	begin_jobs(61, RING);
	for (int i = 0; i < 5; i++)
		job(61, LIMIT * 9 / 10); /* a compositor, say */
	process(62, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_CPU);
	begin_jobs(62, RING);
	for (int i = 0; i < 5; i++)
		job(62, LIMIT * 9 / 10);
	assert_int_equal(kept_count, 0);
}

static void jobs_before_the_first_report_are_ignored(void **state)
{
	(void)state;
	begin_history();
	engine(512, "tiny.gguf");
	lockup("compute", LIMIT);
	memset(&times, 0, sizeof(times));
	davy_copy_name(times.device, sizeof(times.device), GPU);
	davy_copy_name(times.ring, sizeof(times.ring), RING);
	for (int i = 0; i < 9; i++)
		add_job(LIMIT * 9 / 10);
	tell_times(60);
	begin_jobs(60, RING); /* and the counters restarted */
	assert_int_equal(kept_count, 0);
	job(60, LIMIT / 2);
	assert_int_equal(notes(), 1);
}

static void a_fitting_ubatch_is_a_smaller_power_of_two(void **state)
{
	static const struct {
		uint32_t ubatch;
		uint32_t percent;
		uint32_t fits;
	} cases[] = {
		{ 512, 40, 256 },  { 512, 79, 256 }, { 512, 81, 128 }, { 640, 41, 512 },
		{ 2048, 99, 512 }, { 128, 79, 64 },  { 128, 81, 0 }, /* 32 is below the floor */
		{ 1, 99, 0 },	   { 0, 99, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(NULL, cases[i].ubatch);
		job(60, LIMIT * cases[i].percent / 100);
		assert_int_equal(note()->fitting_ubatch, cases[i].fits);
	}
}

static void each_load_has_its_own_past(void **state)
{
	(void)state;
	begin(NULL, 512);
	job(60, LIMIT * 8 / 10);
	job(60, LIMIT * 8 / 10);
	engine(128, "tiny.gguf"); /* another ubatch: unknown load */
	job(60, LIMIT * 8 / 10);
	engine(512, "other.gguf");
	job(60, LIMIT * 8 / 10);
	assert_int_equal(note()->level, 1);
	engine(512, "tiny.gguf");
	job(60, LIMIT * 8 / 10);
	assert_int_equal(note()->level, 3);
}

/* Where there is no histogram, a job is as long as it was last seen to run. */
static void job_ages_replace_a_missing_histogram(void **state)
{
	(void)state;
	begin_history();
	engine(512, "tiny.gguf");
	set("job_stall.level1", 1000);
	set("job_stall.level2", 1000);
	set("job_stall.level3", 1000);
	for (uint64_t seqno = 1; seqno <= 3; seqno++) {
		for (uint64_t age = 100 * MS; age <= LIMIT * 60 / 100; age += 100 * MS) {
			now += 100 * MS;
			ring_runs(60, RING, age, LIMIT, seqno);
		}
	}
	assert_int_equal(note()->level, 1);
	assert_int_equal(note()->observed, 600);
	ring_runs(0, RING, 0, LIMIT, 0);
	assert_int_equal(note()->level, 2);
	assert_int_equal(note()->pid, 60);
}

static void a_job_that_was_timed_out_is_no_measure(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_history();
	engine(512, "tiny.gguf");
	ring_runs(60, RING, LIMIT * 99 / 100, LIMIT, 1);
	ev = event(DAVY_EV_JOB_TIMEOUT, 60);
	davy_copy_name(ev.job_timeout.device, sizeof(ev.job_timeout.device), GPU);
	davy_copy_name(ev.job_timeout.ring, sizeof(ev.job_timeout.ring), RING);
	tell(&ev);
	ring_runs(0, RING, 0, LIMIT, 0);
	assert_int_equal(notes(), 0);
}

static void tokens_one_by_one_do_not_hide_a_prompts_growth(void **state)
{
	uint64_t generated = 0;
	uint32_t depth = 0;

	(void)state;
	begin(NULL, 512);
	while (depth < 40000) { /* turns of a chat: 2048 tokens asked, 40 answered */
		for (int i = 0; i < 4; i++, depth += 512) {
			progress(60, depth, generated, 1);
			job(60, 100 * MS + depth * 24000ULL);
		}
		for (int i = 0; i < 40; i++) {
			progress(60, ++depth, ++generated, 1);
			job(60, 20 * MS + depth * 50ULL);
		}
		progress(60, depth, generated, 0);
	}
	assert_true(first_of_level(1)->predicted_depth > 70000);
	assert_true(first_of_level(1)->observed < 400);
}

static void ask(uint32_t from, uint32_t tokens, uint64_t generated)
{
	for (uint32_t depth = from; depth < from + tokens; depth += 512) {
		progress(60, depth, generated, 1);
		job(60, 20 * MS + depth * 22000ULL);
	}
}

/* What a prompt showed of a depth stays known when answers pass it with their short jobs. */
static void a_long_answer_does_not_hide_how_prompts_grow(void **state)
{
	uint64_t generated = 0;
	uint32_t depth = 2048;

	(void)state;
	begin(NULL, 512);
	ask(0, 30720, 0);
	progress(60, 30720, 0, 0);
	pass(60 * S);
	ask(0, depth, 0);
	for (int i = 0; i < 28000; i++) {
		progress(60, ++depth, ++generated, 1);
		job(60, 20 * MS + depth * 50ULL);
	}
	kept_count = 0;
	ask(depth, 1536, generated);
	assert_true(note()->observed < 400);
	assert_in_range(note()->predicted_depth, 84000, 95000);
}

/* A second prompt, faster than the first: what the first left at its depths is forgotten. */
static void each_prompt_replaces_the_values_of_the_last(void **state)
{
	uint32_t depth;

	(void)state;
	begin(NULL, 512);
	for (depth = 0; depth < 12288; depth += 512) {
		progress(60, depth, 0, 1);
		job(60, 20 * MS + depth * 48000ULL);
	}
	assert_in_range(note()->predicted_depth, 40000, 42500);
	progress(60, depth, 1, 0);
	pass(100 * S);
	kept_count = 0;
	for (depth = 0; depth < 17408; depth += 512) {
		progress(60, depth, 1, 1);
		job(60, 20 * MS + depth * 32000ULL);
	}
	assert_in_range(note()->predicted_depth, 60000, 63500);
	/* jobs of 440 ms at 13,000 tokens, and 1.2 s on average in the 95 to come */
	assert_in_range(note()->until_ns - note()->at_ns, 105 * S, 125 * S);
}

/* Without a depth, a prompt after idle time starts a new run, and so does an immediate one. */
static void each_prompt_has_its_own_time(void **state)
{
	(void)state;
	for (uint64_t rest = 0; rest < 40 * S; rest += 20 * S) {
		uint64_t began_ns, until_ns;

		begin(NULL, 512);
		set("agent.clear", 1000);
		for (int prompt = 0; prompt < 3; prompt++) {
			kept_count = 0;
			began_ns = now;
			/* a job would take 2 s after 100 s */
			for (uint64_t ns = 50 * MS; ns < 700 * MS; ns += 20 * MS) {
				job(60, ns);
				pass(MS);
			}
			assert_in_range(first_of_level(1)->observed, 200, 350);
			until_ns = first_of_level(1)->until_ns;
			assert_in_range(until_ns - began_ns, 90 * S, 110 * S);
			now += rest;
		}
	}
}

static void a_pattern_that_goes_up_and_down_foresees_nothing(void **state)
{
	static const uint32_t percent[] = { 5, 30, 8, 33, 12, 36, 15, 39 };

	(void)state;
	begin(NULL, 512);
	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		uint64_t ns = LIMIT * percent[i] / 100;

		now += S - ns;
		job(60, ns);
	}
	assert_int_equal(kept_count, 0);
}

/* Jobs of all lengths in any order: no hazard, and hardly ever a note. */
static void noise_makes_no_forecast(void **state)
{
	uint32_t seed = 1, spoken = 0;

	(void)state;
	for (int history = 0; history < 100; history++) {
		begin(NULL, 512);
		for (int i = 0; i < 60; i++) {
			seed = seed * 1103515245 + 12345;
			job(60, LIMIT * (5 + seed / 65536 % 34) / 100);
		}
		spoken += notes() != 0;
		for (size_t i = 0; i < kept_count; i++)
			assert_int_equal(kept[i].level, 1);
	}
	print_message("%u of 100 histories of noise gave a note\n", spoken);
	assert_true(spoken <= 5);
}

static void the_forecast_is_printed_as_text(void **state)
{
	char text[DAVY_PLAN_TEXT_SIZE];

	(void)state;
	begin(NULL, 512);
	prefill(131072, 100 * MS, 24000, true);
	davy_reason_text(first_of_level(2), text, sizeof(text));
	assert_non_null(strstr(text, "jobs on ring comp_1.0.0 use 40."));
	assert_non_null(strstr(text, "predicted to reach it at a depth of 79"));
	assert_non_null(strstr(text, "ubatch 64 would fit"));
}

/*
 * Images of equal size: each job takes up to 80 % of the timeout. The first ones are a hazard,
 * after ten minutes they are usual. Longer ones are a hazard again.
 */
static void jobs_that_were_always_long_are_usual(void **state)
{
	size_t early;

	(void)state;
	begin("job_headroom-usual", 512);
	for (uint32_t i = 0; i < 5; i++)
		job(60, LIMIT * (70 + i % 10) / 100);
	assert_int_equal(note()->level, 2);
	assert_int_equal(note()->form, DAVY_FORM_PLAIN);
	for (uint32_t i = 0; i < 600; i++)
		job(60, LIMIT * (70 + i * 7 % 10) / 100);
	pass(60 * S);
	early = notes();
	for (uint32_t i = 0; i < 60; i++)
		job(60, LIMIT * (70 + i * 7 % 10) / 100);
	for (size_t i = early; i < notes(); i++)
		assert_int_equal(note()->level, 1);
	for (uint32_t i = 0; i < 3; i++)
		job(60, LIMIT * 90 / 100);
	assert_int_equal(note()->level, 3);
	assert_replays();
}

/* One picture in 40 s: fifteen in ten minutes show as well what is usual. */
static void a_few_long_jobs_in_ten_minutes_are_usual(void **state)
{
	(void)state;
	begin(NULL, 512);
	for (uint32_t i = 0; i < 60; i++) {
		pass(39 * S);
		job(60, LIMIT * (70 + i * 7 % 10) / 100);
		if (i > 20 && notes())
			assert_int_equal(note()->level, 1);
	}
	for (uint32_t i = 0; i < 3; i++) {
		pass(3 * S);
		job(60, LIMIT * 90 / 100);
	}
	assert_int_equal(note()->level, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_prompt_is_foreseen_by_its_depth),
		cmocka_unit_test(a_long_prompt_is_foreseen_by_time_without_a_depth),
		cmocka_unit_test(no_steady_growth_passes_60_percent_unheard),
		cmocka_unit_test(slow_jobs_under_a_long_timeout_are_one_prompt),
		cmocka_unit_test(a_prompt_that_ends_below_a_half_is_no_more_than_a_note),
		cmocka_unit_test(long_jobs_that_do_not_grow_stay_below_level_2),
		cmocka_unit_test(one_or_two_slow_jobs_are_a_note_and_three_a_hazard),
		cmocka_unit_test(slow_jobs_a_minute_apart_do_not_add_up),
		cmocka_unit_test(a_job_that_a_suspend_made_long_is_nothing),
		cmocka_unit_test(rings_without_a_timeout_are_ignored),
		cmocka_unit_test(the_rings_own_timeout_is_believed_first),
		cmocka_unit_test(a_ring_finds_the_timeout_of_its_queue),
		cmocka_unit_test(copy_and_video_rings_are_ignored),
		cmocka_unit_test(other_programs_and_cpu_engines_are_ignored),
		cmocka_unit_test(jobs_before_the_first_report_are_ignored),
		cmocka_unit_test(a_fitting_ubatch_is_a_smaller_power_of_two),
		cmocka_unit_test(each_load_has_its_own_past),
		cmocka_unit_test(job_ages_replace_a_missing_histogram),
		cmocka_unit_test(a_job_that_was_timed_out_is_no_measure),
		cmocka_unit_test(tokens_one_by_one_do_not_hide_a_prompts_growth),
		cmocka_unit_test(a_long_answer_does_not_hide_how_prompts_grow),
		cmocka_unit_test(each_prompt_replaces_the_values_of_the_last),
		cmocka_unit_test(each_prompt_has_its_own_time),
		cmocka_unit_test(a_pattern_that_goes_up_and_down_foresees_nothing),
		cmocka_unit_test(noise_makes_no_forecast),
		cmocka_unit_test(the_forecast_is_printed_as_text),
		cmocka_unit_test(jobs_that_were_always_long_are_usual),
		cmocka_unit_test(a_few_long_jobs_in_ten_minutes_are_usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
