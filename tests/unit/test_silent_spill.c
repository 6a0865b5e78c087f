/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silent_spill: memory in GTT because VRAM is full, and look-alikes. */
#include "memory_history.h"

#define VRAM (20460 * MB) /* an RX 7900 XT */
#define PID  50

static uint64_t used, gtt_from, gtt_by, begins_ms, evicted;

static uint64_t vram(uint64_t ms)
{
	(void)ms;
	return used;
}

/* Grows by "gtt_by" in four seconds. */
static uint64_t gtt(uint64_t ms)
{
	uint64_t at = ms < begins_ms ? 0 : ms - begins_ms;

	return gtt_from + gtt_by / 4000 * (at < 4000 ? at : 4000);
}

static uint64_t evicted_bytes(uint64_t ms)
{
	return ms < begins_ms ? 0 : evicted;
}

static void begin_full(uint32_t pid)
{
	begin_card(VRAM, 32 * GB);
	holder = pid;
	if (pid)
		process(pid, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	used = 19950 * MB; /* llama.cpp#26432: so much after the load, 0.62 GB of GTT */
	gtt_from = 620 * MB;
	gtt_by = 0;
	begins_ms = 3000;
	evicted = 0;
	vram_of = vram;
	gtt_of = gtt;
	evicted_of = evicted_bytes;
	live(30 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

static void a_jump_of_gtt_under_full_vram_is_a_spill(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	record_as = "silent_spill-jump";
	begin_full(PID);
	gtt_by = 14600 * MB;
	live(20 * S);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 1);
	assert_int_equal(plan->level, 2);
	assert_int_equal(plan->pid, PID);
	assert_string_equal(plan->device, GPU);
	assert_true(plan->observed >= VRAM / 10);
	assert_in_range(plan->threshold, VRAM / 10 - 1000, VRAM / 10);
	assert_in_range(reached(DAVY_HZ_SILENT_SPILL, 2), 4 * S, 6 * S);
	assert_replays();
}

static void the_device_counter_is_enough_without_clients(void **state)
{
	(void)state;
	begin_full(0);
	gtt_by = 14600 * MB;
	live(20 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, 0);
}

static void a_small_jump_raises_nothing(void **state)
{
	(void)state;
	begin_full(PID);
	gtt_by = 1900 * MB; /* below a tenth of VRAM */
	live(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

static uint64_t slow_gtt(uint64_t ms)
{
	return gtt_from + 100 * MB / 1000 * ms;
}

static void slow_growth_raises_nothing(void **state)
{
	(void)state;
	begin_full(PID);
	gtt_of = slow_gtt;
	live(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

static void the_alarm_stands_while_half_of_the_spill_remains(void **state)
{
	(void)state;
	begin_full(PID);
	gtt_by = 8 * GB;
	live(300 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_SPILL), 0);
	gtt_from = gtt(10000);
	gtt_by = 0;
	gtt_from -= 4 * GB;
	live(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_SPILL), 0);
	gtt_from -= 4 * GB;
	live(9 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_SPILL), 0);
	live(3 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_SILENT_SPILL), 1);
	assert_int_equal(core.world.memory.spilling, 0);
}

static void layers_kept_on_the_cpu_raise_nothing(void **state)
{
	(void)state;
	begin_full(PID);
	used = 15 * GB; /* VRAM has room */
	live(10 * S);
	gtt_by = 12 * GB;
	live(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

/* The same with VRAM filled to the last gigabyte first, by a process that only begins. */
static void full_vram_during_a_load_raises_nothing(void **state)
{
	(void)state;
	record_as = "silent_spill-benign-load";
	begin_full(0);
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	holder = PID;
	begins_ms = 2000;
	gtt_by = 12 * GB;
	live(30 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
	assert_replays();
	begin_full(0); /* but what it wanted in VRAM and did not get is one */
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	holder = PID;
	begins_ms = 2000;
	gtt_by = 12 * GB;
	evicted = 12 * GB;
	live(30 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, PID);
}

static void a_shared_memory_has_no_spill(void **state)
{
	(void)state;
	begin_full(PID);
	card.flags = DAVY_MEMORY_SHARED;
	evicted = 5 * GB;
	gtt_by = 14600 * MB;
	live(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

/* At a runtime suspend VRAM empties into GTT, and every client's bytes count as evicted. */
static uint64_t suspending(uint64_t ms)
{
	return ms < begins_ms	      ? used
	       : ms < begins_ms + 400 ? used - used / 500 * (ms - begins_ms)
				      : used / 5;
}

static void a_runtime_suspend_is_no_spill(void **state)
{
	(void)state;
	record_as = "silent_spill-benign-suspend";
	begin_full(PID);
	vram_of = suspending;
	gtt_by = 16 * GB;
	evicted = 16 * GB;
	live(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
	assert_int_equal(core.world.memory.spilling, 0);
	assert_replays();
}

static void evicted_bytes_of_a_client_are_enough(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_full(PID);
	evicted = GB; /* once evicted by another's model, less than a jump */
	live(10 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
	begin_full(PID);
	evicted = 3 * GB;
	live(10 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->level, 1); /* it is idle */
	ev = event(DAVY_EV_PROGRESS, PID);
	ev.progress.prompt_count = 1;
	tell(&ev);
	live(2 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->level, 2);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, PID);
}

static void spilled(uint32_t pid, uint64_t count, uint64_t fresh, uint64_t bytes)
{
	struct davy_event ev = event(DAVY_EV_FACT, pid);

	davy_copy_name(ev.fact.device, sizeof(ev.fact.device), GPU);
	ev.fact.fact = DAVY_FACT_VRAM_SPILL;
	ev.fact.count = count;
	ev.fact.fresh = fresh;
	ev.fact.bytes = bytes;
	tell(&ev);
}

static void the_drivers_report_names_the_process(void **state)
{
	(void)state;
	begin_full(PID);
	gtt_from += 1900 * MB; /* no jump on its own */
	live(S);
	spilled(61, 100, 10, 20 * GB); /* ten of 200 MB: 2 GB are new */
	live(3 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
	spilled(61, 101, 1, 20200 * MB);
	live(3 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, 61);
}

static uint64_t prompt, generated;

/* Looked at every second; "by" tokens in each. */
static void tokens(uint32_t pid, uint64_t by, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

		generated += by;
		ev.progress.prompt_count = prompt;
		ev.progress.generated_count = generated;
		ev.progress.busy_slots = ev.progress.slots = 1;
		tell(&ev);
		live(900 * MS);
		now += 100 * MS;
	}
}

static void spill(void)
{
	begins_ms = 0;
	gtt_from += 14600 * MB;
	live(5 * S);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
}

static void a_collapse_of_tokens_makes_it_three(void **state)
{
	(void)state;
	begin_full(PID);
	tokens(PID, 44, 20);
	spill();
	tokens(PID, 30, 10); /* slower, and not by half */
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
	tokens(PID, 18, 3);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->unit, DAVY_UNIT_PERMILLE);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->observed, 18000 / 44);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, PID);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->victim_pid, 0);
}

static void a_prompt_and_an_idle_engine_are_no_collapse(void **state)
{
	(void)state;
	begin_full(PID);
	tokens(PID, 44, 20);
	spill();
	for (int i = 0; i < 10; i++) {
		prompt += 500;
		tokens(PID, 0, 1);
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
	for (int i = 0; i < 10; i++, now += S) {
		struct davy_event ev = event(DAVY_EV_PROGRESS, PID);

		ev.progress.prompt_count = prompt;
		ev.progress.generated_count = generated;
		tell(&ev);
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
}

static void a_collapse_without_a_spill_is_another_matter(void **state)
{
	(void)state;
	begin_full(PID);
	tokens(PID, 44, 20);
	tokens(PID, 4, 20);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

static void graphs(uint32_t pid, uint64_t ms, int count)
{
	static uint64_t graph_count;

	for (int i = 0; i < count; i++) {
		struct davy_event ev = event(DAVY_EV_GRAPH, pid);

		ev.graph.graph_count = ++graph_count;
		ev.graph.last_ns = ms * MS;
		tell(&ev);
		live(900 * MS);
		now += 100 * MS;
	}
}

static void a_collapse_of_graphs_counts_without_tokens(void **state)
{
	(void)state;
	begin_full(PID);
	process(61, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	graphs(61, 20, 20);
	spill();
	graphs(61, 60, 7);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
	graphs(61, 60, 1);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, PID);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->victim_pid, 61);
}

/* GTT grows by 50 MB/s for two minutes; no 10 s of it are a jump, and the pace halves. */
static uint64_t seeping_gtt(uint64_t ms)
{
	return gtt_from + 50 * MB / 1000 * ms;
}

static void a_slow_spill_is_found_by_the_pace(void **state)
{
	uint64_t from;

	(void)state;
	record_as = "silent_spill-slow";
	begin_full(PID);
	tokens(PID, 44, 20);
	gtt_of = seeping_gtt;
	from = gtt_from;
	for (uint64_t speed = 44; speed >= 18; speed--) {
		tokens(PID, speed, 4);
		gtt_from = from += 200 * MB;
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 3);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL)->pid, PID);
	assert_replays();
}

/* GTT grows slowly beside an engine that keeps its pace: pinned buffers, a cache in host memory. */
static void slow_growth_of_gtt_at_full_pace_raises_nothing(void **state)
{
	(void)state;
	begin_full(PID);
	tokens(PID, 44, 20);
	gtt_of = seeping_gtt;
	for (int i = 0; i < 60; i++) {
		tokens(PID, 40, 1);
		gtt_from += 50 * MB;
	}
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL), 0);
}

#define TURN_S 45

static void works(uint32_t pid)
{
	struct davy_event ev = event(DAVY_EV_PROGRESS, pid);

	ev.progress.generated_count = generated += 40;
	ev.progress.busy_slots = ev.progress.slots = 1;
	tell(&ev);
}

/* TheRock#5993: each request of one model evicts the other one, 12 GB in three seconds. */
static void two_models_that_take_turns_are_no_spill(void **state)
{
	(void)state;
	record_as = "silent_spill-benign-turns";
	begin_full(0);
	evicted_of = NULL;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	process(PID + 1, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (uint32_t turn = 0; turn < 20; turn++) {
		uint32_t in = PID + turn % 2, out = PID + (turn + 1) % 2;

		for (uint64_t second = 0; second < TURN_S; second++) {
			uint64_t moved = second < 3 ? (second + 1) * 4 * GB : 12 * GB;

			tell_client(in, 6 * GB + moved, 12 * GB - moved, 12 * GB - moved);
			tell_client(out, 18 * GB - moved, moved, moved);
			works(in);
			live(900 * MS);
			now += 100 * MS;
		}
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 1);
	assert_replays();
}

/* It works from GTT, since its memory does not come back. */
static void a_model_that_does_not_come_back_is_a_spill(void **state)
{
	(void)state;
	begin_full(PID);
	evicted = 12 * GB;
	live(20 * S);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 1);
	evicted = 10 * GB;
	for (int i = 0; i < 10; i++) {
		works(PID);
		live(S);
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
}

/* A game takes the room: the model works from GTT, and its speed says how much that costs. */
static void a_model_that_another_program_pushes_out_is_a_note(void **state)
{
	(void)state;
	begin_full(0);
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	for (uint64_t second = 0; second < 30; second++) {
		uint64_t moved = second < 5 ? 0 : 3 * GB;

		tell_client(PID, 12 * GB - moved, moved, moved);
		tell_client(61, 7 * GB + moved, 0, 0); /* no engine */
		works(PID);
		live(900 * MS);
		now += 100 * MS;
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 1);
}

/* No token tells that it works, but its own requests for VRAM do. */
static void a_model_that_requests_what_spills_is_not_idle(void **state)
{
	(void)state;
	begin_full(PID);
	begins_ms = 0;
	for (uint64_t second = 1; second <= 8; second++) {
		evicted = second * GB;
		spilled(PID, 100 * second, 100, second * 2 * GB);
		live(S);
	}
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
}

static void a_spill_of_an_unknown_process_is_a_spill(void **state)
{
	(void)state;
	begin_full(0);
	holder = 61; /* no engine */
	evicted = 12 * GB;
	live(20 * S);
	assert_int_equal(highest(DAVY_HZ_SILENT_SPILL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_of_gtt_under_full_vram_is_a_spill),
		cmocka_unit_test(the_device_counter_is_enough_without_clients),
		cmocka_unit_test(a_small_jump_raises_nothing),
		cmocka_unit_test(slow_growth_raises_nothing),
		cmocka_unit_test(the_alarm_stands_while_half_of_the_spill_remains),
		cmocka_unit_test(layers_kept_on_the_cpu_raise_nothing),
		cmocka_unit_test(full_vram_during_a_load_raises_nothing),
		cmocka_unit_test(a_shared_memory_has_no_spill),
		cmocka_unit_test(a_runtime_suspend_is_no_spill),
		cmocka_unit_test(evicted_bytes_of_a_client_are_enough),
		cmocka_unit_test(the_drivers_report_names_the_process),
		cmocka_unit_test(a_collapse_of_tokens_makes_it_three),
		cmocka_unit_test(a_prompt_and_an_idle_engine_are_no_collapse),
		cmocka_unit_test(a_collapse_without_a_spill_is_another_matter),
		cmocka_unit_test(a_collapse_of_graphs_counts_without_tokens),
		cmocka_unit_test(a_slow_spill_is_found_by_the_pace),
		cmocka_unit_test(slow_growth_of_gtt_at_full_pace_raises_nothing),
		cmocka_unit_test(two_models_that_take_turns_are_no_spill),
		cmocka_unit_test(a_model_that_does_not_come_back_is_a_spill),
		cmocka_unit_test(a_model_that_another_program_pushes_out_is_a_note),
		cmocka_unit_test(a_model_that_requests_what_spills_is_not_idle),
		cmocka_unit_test(a_spill_of_an_unknown_process_is_a_spill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
