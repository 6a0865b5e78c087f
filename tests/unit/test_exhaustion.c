/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exhaustion: leaks and growing caches are predicted; loads, saw teeth and full heaps are not taken
 * for them. Sampled like the agent does, so that the lead time is realistic.
 */
#include "memory_history.h"

#define VRAM (24 * GB)
#define PID  50

static uint64_t base, rate, target, period;

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t held(uint64_t ms)
{
	(void)ms;
	return base;
}

static uint64_t growing(uint64_t ms)
{
	return smaller(base + rate / 1000 * ms, target);
}

static uint64_t saw_teeth(uint64_t ms)
{
	return base + rate / 1000 * (ms % period);
}

static uint64_t leak_beneath(uint64_t ms)
{
	return smaller(base + 5 * MB * ms / 1000 + rate / 1000 * (ms % period), VRAM);
}

static uint64_t blocks(uint64_t ms)
{
	return smaller(base + 20 * MB * (ms / 20000), VRAM);
}

/* Loads of two models in turn, 20 s each, unloaded in between. */
static uint64_t swapping(uint64_t ms)
{
	return ms % 20000 < 3000 ? GB : smaller(GB + 3 * GB * (ms % 20000 - 3000) / 1000, target);
}

static uint64_t noisy(uint64_t ms)
{
	return base + (uint32_t)(ms * 2654435761u) % (8 * MB);
}

static void begin_engine(uint32_t pid)
{
	begin_card(VRAM, 32 * GB);
	holder = pid;
	if (pid)
		process(pid, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	vram_of = held;
}

/* A model that was loaded a while ago, then growth until the last byte. */
static void leak_for(uint32_t pid, uint64_t by, uint64_t seconds)
{
	begin_engine(pid);
	rate = by;
	target = VRAM;
	base = VRAM - by * seconds;
	live(30 * S);
	assert_int_equal(kept_count, 0);
	vram_of = growing;
	live((seconds + 1) * S);
}

static uint64_t lead_s(uint32_t level, uint64_t seconds)
{
	uint64_t at = reached(DAVY_HZ_EXHAUSTION, level);

	return at == UINT64_MAX ? 0 : seconds - smaller(seconds, at / S);
}

static void growth_is_predicted_while_half_of_the_memory_is_free(void **state)
{
	static const uint64_t rates[] = { MB, 10 * MB, 100 * MB, 300 * MB, GB };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (uint64_t seconds = rates[i] > MB ? 12 : 52;
		     seconds <= 160 && rates[i] * seconds < 20 * GB; seconds += 20) {
			uint64_t there = seconds - 4; /* once it is known */

			leak_for(PID, rates[i], seconds);
			assert_true(lead_s(1, seconds) >= smaller(59, there / 2));
			assert_true(lead_s(2, seconds) >= smaller(19, there / 2));
			assert_true(lead_s(3, seconds) >= smaller(4, there / 2));
			assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->pid, PID);
			assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->ring,
					    "vram");
		}
}

static void growth_of_an_unknown_process_is_a_note(void **state)
{
	(void)state;
	leak_for(0, GB, 20);
	assert_true(lead_s(1, 20) >= 8);
	leak_for(0, 100 * MB, 80);
	assert_true(lead_s(1, 80) >= 38);
	leak_for(0, 20 * MB, 40); /* slower than any load */
	assert_true(lead_s(2, 40) >= 18);
	assert_true(lead_s(3, 40) >= 4);
}

static void the_reported_values_are_the_measured_ones(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	record_as = "exhaustion-vram";
	leak_for(PID, 100 * MB, 100);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION);
	assert_int_equal(plan->level, 3);
	assert_int_equal(plan->unit, DAVY_UNIT_NS);
	assert_int_equal(plan->threshold, 5 * S);
	assert_in_range(plan->observed, 4 * S, 5 * S);
	assert_in_range(plan->rate, 99 * MB, 101 * MB);
	assert_int_equal(plan->until_ns, plan->at_ns + plan->observed);
	assert_true(plan->first_precursor_ns < plan->at_ns - 60 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 3);
	assert_replays();
}

static void load(uint32_t pid, uint64_t by, uint64_t until)
{
	begin_engine(pid);
	base = 600 * MB; /* a runtime's own context, while Python imports */
	rate = by;
	target = until;
	live(30 * S);
	vram_of = growing;
	live((until - base) / by * S + 40 * S);
}

static void a_load_is_a_note_at_most(void **state)
{
	static const uint64_t rates[] = { 50 * MB, 150 * MB, 500 * MB, GB, 3 * GB, 7 * GB };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (uint64_t percent = 85; percent <= 95; percent += 2)
			for (uint32_t pid = 0; pid <= PID; pid += PID) {
				load(pid, rates[i], VRAM / 100 * percent);
				assert_true(highest(DAVY_HZ_EXHAUSTION) <= 1);
			}
}

static void a_load_that_fits_is_recorded(void **state)
{
	(void)state;
	record_as = "exhaustion-benign-load";
	load(PID, 500 * MB, VRAM / 100 * 95);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 1);
	assert_replays();
}

/* It takes all memory: raised in the last second, if it continues. */
static void a_load_that_does_not_fit_is_reported_at_its_end(void **state)
{
	(void)state;
	load(PID, 500 * MB, VRAM);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 3);
	assert_in_range(reached(DAVY_HZ_EXHAUSTION, 2), 45 * S, 47 * S);
}

static void load_of(uint64_t model_bytes)
{
	struct davy_event ev;

	begin_engine(PID);
	ev = event(DAVY_EV_PROCESS, PID);
	ev.process.start_ticks = 1;
	ev.process.engine = DAVY_ENGINE_VLLM;
	ev.process.model_bytes = model_bytes;
	tell(&ev);
	base = 600 * MB;
	rate = GB;
	target = 19 * GB;
	live(20 * S);
	vram_of = growing;
	live(60 * S);
}

static void a_load_that_is_known_to_fit_is_nothing(void **state)
{
	(void)state;
	load_of(18 * GB);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
	load_of(0);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 1);
	load_of(40 * GB);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 1);
}

/* The desktop beside it moves some MB. */
static uint64_t growing_with_noise(uint64_t ms)
{
	return growing(ms) + noisy(ms) - base;
}

/* PyTorch's or vLLM's file at the rate of a page cache, up to 97 % of VRAM. */
static void fast_load(usage how, uint64_t by, uint64_t percent, uint64_t model_bytes)
{
	struct davy_event ev;

	begin_engine(PID);
	ev = event(DAVY_EV_PROCESS, PID);
	ev.process.start_ticks = 1;
	ev.process.engine = DAVY_ENGINE_VLLM;
	ev.process.model_bytes = model_bytes;
	tell(&ev);
	base = 600 * MB;
	rate = by;
	target = VRAM / 100 * percent;
	live(20 * S);
	vram_of = how;
	live((target - base) * S / by + 30 * S);
}

static void a_fast_load_up_to_the_brim_is_a_note_at_most(void **state)
{
	static const usage shapes[] = { growing, growing_with_noise };

	(void)state;
	for (uint64_t by = 2 * GB; by <= 4 * GB; by += 500 * MB)
		for (uint64_t percent = 93; percent <= 97; percent++)
			for (size_t i = 0; i < 2; i++) {
				fast_load(shapes[i], by, percent, 0);
				assert_true(highest(DAVY_HZ_EXHAUSTION) <= 1);
				fast_load(shapes[i], by, percent, VRAM / 100 * (percent - 5));
				assert_true(highest(DAVY_HZ_EXHAUSTION) <= 1);
			}
}

static void a_fast_load_of_a_known_model_is_recorded(void **state)
{
	(void)state;
	record_as = "exhaustion-benign-fast-load";
	fast_load(growing_with_noise, 3 * GB, 96, VRAM / 100 * 90);
	assert_true(highest(DAVY_HZ_EXHAUSTION) <=
		    1); /* as soon as it has loaded: little is left */
	assert_replays();
}

/* An agent that starts an hour after the engine, which leaks as fast as a slow disk loads. */
static void a_leak_that_is_older_than_the_agent_is_no_load(void **state)
{
	(void)state;
	record_as = "exhaustion-late-agent";
	begin_card(VRAM, 32 * GB);
	now = 3700 * S;
	holder = PID;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	base = 18 * GB;
	rate = 100 * MB;
	target = VRAM;
	vram_of = growing;
	live(61 * S);
	assert_true(lead_s(2, 60) >= 18);
	assert_true(lead_s(3, 60) >= 4);
	assert_replays();
}

/* Each image needs more than the one before, for two seconds; then the memory is given back. */
static uint64_t growing_peaks(uint64_t ms)
{
	uint64_t turn = ms / 20000, at = ms % 20000;
	uint64_t peak = 2 * GB + rate * turn;

	if (at > 3000)
		return base;
	return smaller(base + (at < 1000 ? peak / 1000 * at : peak), VRAM);
}

static void growing_peaks_are_foreseen(void **state)
{
	(void)state;
	record_as = "exhaustion-peaks";
	begin_engine(PID);
	base = 20400 * MB;
	live(30 * S);
	rate = 100 * MB;
	vram_of = growing_peaks;
	live(339 * S); /* the peak at 341 s finds no room: 20.4 + 2 + 17 * 0.1 > 24 */
	assert_in_range(reached(DAVY_HZ_EXHAUSTION, 1), 240 * S, 285 * S);
	assert_in_range(reached(DAVY_HZ_EXHAUSTION, 2), 300 * S, 335 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->unit, DAVY_UNIT_COUNT);
	assert_replays();
}

static uint64_t uneven_peaks(uint64_t ms)
{
	uint32_t turn = (uint32_t)(ms / 20000) * 2654435761u;
	uint64_t at = ms % 20000, peak = 2 * GB + (turn >> 16) % 25 * 100 * MB;

	return base + (at < 1000 ? peak / 1000 * at : at < 3000 ? peak : 0);
}

static void uneven_peaks_near_the_brim_are_no_row(void **state)
{
	(void)state;
	begin_engine(PID);
	base = VRAM - 4800 * MB;
	live(30 * S);
	vram_of = uneven_peaks;
	live(7200 * S);
	for (size_t i = 0; i < kept_count; i++)
		assert_int_not_equal(kept[i].unit, DAVY_UNIT_COUNT);
}

/* A card that is full, and on which windows open and close. */
static uint64_t windows(uint64_t ms)
{
	uint32_t turn = (uint32_t)(ms / 128000) * 2654435761u;
	uint64_t open = (100 + (turn >> 16) % 500) * MB, at = ms % 128000;

	return base + (at < 6000 ? open / 6000 * at : at < 60000 ? open : 0);
}

/* Its signs return 28 times in an hour, at most some minutes apart. */
static void a_full_card_with_small_movements_is_a_few_alarms(void **state)
{
	size_t alarms = 0;

	(void)state;
	record_as = "exhaustion-full-card";
	begin_engine(PID);
	base = VRAM - 700 * MB;
	live(30 * S);
	vram_of = windows;
	live(3600 * S);
	for (size_t i = 0; i < kept_count; i++)
		alarms += kept[i].kind == DAVY_PLAN_CLEAR && kept[i].level > 1;
	assert_true(alarms <= 4); /* 16, if each sign were one */
	assert_replays();
}

static void loads_in_turn_are_a_note_at_most(void **state)
{
	(void)state;
	begin_engine(0);
	target = 22 * GB;
	vram_of = swapping;
	live(200 * S);
	assert_true(highest(DAVY_HZ_EXHAUSTION) <= 1);
}

/* The first request that grows so is as a leak; those that follow are known. */
static void requests_that_give_back_are_a_note_at_most(void **state)
{
	(void)state;
	begin_engine(PID);
	base = 20 * GB;
	live(30 * S);
	rate = 300 * MB;
	period = 10000;
	vram_of = saw_teeth;
	live(10 * S);
	kept_count = 0;
	live(600 * S);
	assert_true(highest(DAVY_HZ_EXHAUSTION) <= 1);
}

static void a_leak_beneath_requests_is_foreseen(void **state)
{
	(void)state;
	begin_engine(PID);
	base = 22 * GB;
	live(30 * S);
	rate = 250 * MB;
	period = 2000;
	vram_of = leak_beneath;
	live(301 * S); /* the first request that finds no room comes after 300 s */
	assert_in_range(reached(DAVY_HZ_EXHAUSTION, 1), 200 * S, 270 * S);
	assert_true(reached(DAVY_HZ_EXHAUSTION, 2) < 295 * S);
}

static void a_leak_by_blocks_is_foreseen(void **state)
{
	(void)state;
	begin_engine(PID);
	base = VRAM - 200 * MB;
	live(30 * S);
	vram_of = blocks;
	live(200 * S);
	assert_true(lead_s(1, 200) >= 55);
	assert_true(lead_s(2, 200) >= 15);
}

static void full_and_static_is_no_alarm(void **state)
{
	(void)state;
	record_as = "exhaustion-benign-full";
	begin_engine(PID);
	base = VRAM / 1000 * 989;
	live(300 * S);
	base = VRAM - 9 * MB;
	vram_of = noisy;
	live(60 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
	assert_replays();
	live(900 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
}

static void a_carve_out_that_fills_is_no_alarm(void **state)
{
	(void)state;
	begin_card(512 * MIB, 96 * GB);
	card.flags = DAVY_MEMORY_SHARED;
	base = 100 * MB;
	rate = 10 * MB;
	target = 506 * MIB;
	vram_of = growing;
	live(100 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
}

static uint64_t shrinking_host(uint64_t ms)
{
	return 10 * GB - 100 * MB / 1000 * smaller(ms, 99000);
}

static void the_hosts_memory_is_the_heap_of_an_integrated_gpu(void **state)
{
	(void)state;
	record_as = "exhaustion-host";
	begin_card(512 * MIB, 96 * GB);
	card.flags = DAVY_MEMORY_SHARED;
	card.host_total = 128 * GB;
	card.gtt_used = 60 * GB;
	holder = PID;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	live(20 * S);
	available_of = shrinking_host;
	live(99 * S);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->ring, "host");
	assert_true(lead_s(1, 100) >= 48);
	assert_replays();
	record_as = "exhaustion-benign-host";
	begin_card(VRAM, 96 * GB); /* on a card the host's memory is its own affair */
	available_of = shrinking_host;
	live(80 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
	assert_replays();
}

static void gtt_is_a_separate_heap(void **state)
{
	(void)state;
	record_as = "exhaustion-gtt";
	begin_card(VRAM, 8 * GB);
	card.vram_used = 4 * GB;
	base = 2 * GB;
	rate = 50 * MB;
	target = 8 * GB;
	gtt_of = growing;
	live(121 * S);
	assert_string_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->ring, "gtt");
	assert_true(lead_s(2, 120) >= 18);
	assert_replays();
}

static void tell_cgroup(uint64_t current, uint64_t max)
{
	struct davy_event ev = event(DAVY_EV_DMEM, 77);

	davy_copy_name(ev.dmem.device, sizeof(ev.dmem.device), GPU);
	davy_copy_name(ev.dmem.region, sizeof(ev.dmem.region), "vram0");
	davy_copy_name(ev.dmem.unit, sizeof(ev.dmem.unit), "llama.service");
	ev.dmem.capacity = VRAM;
	ev.dmem.current = current;
	ev.dmem.max = max;
	tell(&ev);
}

static void a_cgroup_meets_its_limit_long_before_the_device(void **state)
{
	const struct davy_plan *plan;

	(void)state;
	record_as = "exhaustion-cgroup";
	begin_card(VRAM, 32 * GB);
	for (uint64_t i = 0; i <= 60; i++, now += S)
		tell_cgroup(4 * GB + i * 50 * MB, 8 * GB);
	plan = last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION);
	assert_int_equal(plan->level, 2);
	assert_int_equal(plan->pid, 77);
	assert_string_equal(plan->ring, "cgroup");
	assert_string_equal(plan->detail, "llama.service");
	assert_replays();
}

/* The same growth without a limit; then a constant use close below the limit. */
static void a_cgroup_below_its_limit_is_ignored(void **state)
{
	(void)state;
	record_as = "exhaustion-benign-cgroup";
	begin_card(VRAM, 32 * GB);
	for (uint64_t i = 0; i <= 60; i++, now += S)
		tell_cgroup(4 * GB + i * 50 * MB, UINT64_MAX);
	for (uint64_t i = 0; i <= 60; i++, now += S)
		tell_cgroup(7 * GB, 8 * GB);
	assert_int_equal(kept_count, 0);
	assert_replays();
}

/* Less than 20 s left is level 2. It stays until 30 s are left and ends with the growth. */
static void a_level_stands_until_half_as_much_again_is_left(void **state)
{
	(void)state;
	leak_for(PID, 50 * MB, 40);
	begin_engine(PID);
	rate = 50 * MB;
	target = VRAM;
	base = VRAM - 50 * MB * 40;
	live(30 * S);
	vram_of = growing;
	live(23 * S);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 2);
	/* 850 MB left: at 32 MB/s over 20 s, below the 30 s that keep the level */
	base = card.vram_used;
	rate = 32 * MB;
	live(12 * S);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 2);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION), 0);
	vram_of = held;
	base = card.vram_used;
	live(20 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION), 1);
	assert_int_equal(last_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION)->pid, PID);
}

static void a_load_that_leaves_little_is_noted_once(void **state)
{
	(void)state;
	begin_engine(PID);
	base = 2 * GB;
	rate = 9 * GB;
	target = VRAM - GIB;
	live(20 * S);
	vram_of = growing;
	live(11 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
	vram_of = held;
	base = card.vram_used;
	live(4 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->level, 1);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->unit, DAVY_UNIT_BYTES);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->observed, GIB);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->pid, PID);
	live(300 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 1);
}

/* llama.cpp #18354: the weights fit, and the first message wants 400 MiB more. */
static void a_load_that_leaves_less_than_a_first_request_needs_is_a_sign(void **state)
{
	struct davy_event ev;

	(void)state;
	begin_engine(PID);
	base = 2 * GB;
	rate = 9 * GB;
	target = VRAM - 300 * MIB;
	live(20 * S);
	vram_of = growing;
	live(11 * S);
	vram_of = held;
	base = card.vram_used;
	live(20 * S);
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->level, 2);
	live(600 * S); /* nobody asks it anything */
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION), 0);
	ev = event(DAVY_EV_GRAPH, PID);
	ev.graph.graph_count = 1;
	ev.graph.last_ns = ev.graph.max_ns = 20 * MS;
	tell(&ev);
	live(15 * S); /* it fits */
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION), 1);
}

static void a_load_that_leaves_enough_is_not(void **state)
{
	(void)state;
	begin_engine(PID);
	base = 2 * GB;
	rate = 9 * GB;
	target = VRAM - 2 * GIB;
	live(20 * S);
	vram_of = growing;
	live(40 * S);
	base = VRAM - GIB - 500 * MB; /* and a rise that is no load */
	vram_of = held;
	live(40 * S);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
}

static void a_device_that_is_gone_is_forgotten(void **state)
{
	struct davy_event ev;

	(void)state;
	leak_for(PID, 50 * MB, 40);
	ev = event(DAVY_EV_DEVICE, 0);
	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	ev.device.change = DAVY_DEVICE_REMOVED;
	tell(&ev);
	assert_null(davy_memory_device(&core.world.memory, GPU));
	pass(11 * S);
	assert_int_equal(count_of(DAVY_PLAN_CLEAR, DAVY_HZ_EXHAUSTION), 1);
}

/* More than any table holds, in any order: the oldest goes, and it is counted. */
static void tables_are_bounded(void **state)
{
	(void)state;
	begin_card(VRAM, 32 * GB);
	for (uint32_t i = 0; i < 5000; i++, now += MS) {
		snprintf(card.device, sizeof(card.device), "0000:%02x:00.%u", i % 200 + 1, i % 7);
		tell_memory();
		tell_client(i + 1, i * MB, 0, 0);
		tell_cgroup(i * MB, VRAM + i);
	}
	assert_int_equal(core.world.memory.evicted_count, (5000 - 16) + (5000 - 512));
}

static void load_over(const char *driver, uint64_t others_bytes, bool works)
{
	struct davy_event ev;

	begin_engine(PID);
	ev = event(DAVY_EV_DEVICE, 0);
	davy_copy_name(ev.device.device, sizeof(ev.device.device), GPU);
	davy_copy_name(ev.device.driver, sizeof(ev.device.driver), driver);
	ev.device.change = DAVY_DEVICE_ADDED;
	tell(&ev);
	process(60, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	base = others_bytes;
	live(20 * S);
	/* the other's memory is reported here, the loader's with the growth of the heap */
	holder = 0;
	tell_client(60, others_bytes, 0, 0);
	rate = 500 * MB;
	target = VRAM;
	vram_of = growing;
	lived_from = now;
	for (uint64_t ms = 0; ms <= (VRAM - others_bytes) / rate * 1000 + 3000; ms += 100) {
		now = lived_from + ms * MS;
		sample_card(ms);
		if (ms % 1000)
			continue;
		tell_client(PID, growing(ms) - others_bytes, 0, 0);
		ev = event(DAVY_EV_PROGRESS, 60);
		ev.progress.generated_count = ms;
		if (works)
			tell(&ev);
		ev = event(DAVY_EV_TICK, 0);
		tell(&ev);
	}
}

/* The driver evicts an idle model, even if it is smaller than the loaded one. */
static void a_load_over_an_idle_model_is_a_note(void **state)
{
	(void)state;
	load_over("amdgpu", 8 * GB, false);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 1);
	load_over("amdgpu", 8 * GB, true);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 3);
	load_over("amdgpu", GB, false); /* too little to make room */
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 3);
}

static void nvidias_driver_evicts_no_idle_model_for_a_load(void **state)
{
	(void)state;
	load_over("nvidia", 8 * GB, false);
	assert_int_equal(highest(DAVY_HZ_EXHAUSTION), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_predicted_while_half_of_the_memory_is_free),
		cmocka_unit_test(growth_of_an_unknown_process_is_a_note),
		cmocka_unit_test(the_reported_values_are_the_measured_ones),
		cmocka_unit_test(a_load_is_a_note_at_most),
		cmocka_unit_test(a_load_that_fits_is_recorded),
		cmocka_unit_test(a_load_that_does_not_fit_is_reported_at_its_end),
		cmocka_unit_test(a_load_that_is_known_to_fit_is_nothing),
		cmocka_unit_test(a_fast_load_up_to_the_brim_is_a_note_at_most),
		cmocka_unit_test(a_fast_load_of_a_known_model_is_recorded),
		cmocka_unit_test(a_leak_that_is_older_than_the_agent_is_no_load),
		cmocka_unit_test(growing_peaks_are_foreseen),
		cmocka_unit_test(uneven_peaks_near_the_brim_are_no_row),
		cmocka_unit_test(a_full_card_with_small_movements_is_a_few_alarms),
		cmocka_unit_test(loads_in_turn_are_a_note_at_most),
		cmocka_unit_test(requests_that_give_back_are_a_note_at_most),
		cmocka_unit_test(a_leak_beneath_requests_is_foreseen),
		cmocka_unit_test(a_leak_by_blocks_is_foreseen),
		cmocka_unit_test(full_and_static_is_no_alarm),
		cmocka_unit_test(a_carve_out_that_fills_is_no_alarm),
		cmocka_unit_test(the_hosts_memory_is_the_heap_of_an_integrated_gpu),
		cmocka_unit_test(gtt_is_a_separate_heap),
		cmocka_unit_test(a_cgroup_meets_its_limit_long_before_the_device),
		cmocka_unit_test(a_cgroup_below_its_limit_is_ignored),
		cmocka_unit_test(a_level_stands_until_half_as_much_again_is_left),
		cmocka_unit_test(a_load_that_leaves_little_is_noted_once),
		cmocka_unit_test(a_load_that_leaves_less_than_a_first_request_needs_is_a_sign),
		cmocka_unit_test(a_load_that_leaves_enough_is_not),
		cmocka_unit_test(a_device_that_is_gone_is_forgotten),
		cmocka_unit_test(tables_are_bounded),
		cmocka_unit_test(a_load_over_an_idle_model_is_a_note),
		cmocka_unit_test(nvidias_driver_evicts_no_idle_model_for_a_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
