/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hazards of memory and hardware use the thresholds of their driver, device and model. */
#include "memory_history.h"
#include "overrides.h"

#define VRAM (20 * GB)
#define PID  50

/* Names that mean the card, or the process on it; of NOT_THEM none may count. */
static const struct {
	enum davy_scope scope;
	const char *name;
} them[] = { { DAVY_SCOPE_DRIVER, "xe" },
	     { DAVY_SCOPE_DEVICE, "0000:03*" },
	     { DAVY_SCOPE_MODEL, TINY } };

#define THEM	 (sizeof(them) / sizeof(them[0]))
#define NOT_THEM "someone-else"

static uint64_t held, rate, gtt_held;
static const char *name; /* the subject of the key */
static enum davy_scope scope;

static uint64_t growing(uint64_t ms)
{
	uint64_t used = held + rate / 1000 * ms;

	return used < VRAM ? used : VRAM;
}

static uint64_t gtt(uint64_t ms)
{
	return gtt_held + (ms < 30000 ? 0 : 1900 * MB);
}

static void begin(const char *key, int64_t value)
{
	begin_card(VRAM, 32 * GB);
	device(GPU, "xe", DAVY_DEVICE_ADDED);
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	holder = PID;
	held = gtt_held = rate = 0;
	override(scope, name, key, value);
}

/* Runs "raises" with the key set for each of them, where it must speak, and for others: not. */
static void each(bool (*raises)(const char *key, int64_t value), const char *key, int64_t value)
{
	for (size_t i = 0; i < THEM; i++) {
		scope = them[i].scope;
		name = them[i].name;
		if (!raises(key, value))
			fail_msg("%s is not asked for '%s'", key, name);
		name = NOT_THEM;
		if (raises(key, value))
			fail_msg("%s of '%s' is asked for", key, name);
	}
}

/* It will be full in 80 s at a rate that is no load's: nothing before 60 are left. */
static bool a_leak(const char *key, int64_t value)
{
	begin(key, value);
	rate = 50 * MB;
	held = VRAM - 100 * rate;
	vram_of = growing;
	live(20 * S);
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION);
}

static void exhaustion_has_its_levels(void **state)
{
	(void)state;
	each(a_leak, "exhaustion.level1", 100000);
	assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION), 0);
	name = TINY;
	scope = DAVY_SCOPE_MODEL;
	assert_true(a_leak("exhaustion.level1", 100000));
	assert_int_equal(last_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION)->threshold, 100 * S);
}

/* 45 s left, at the rate of a load unless the threshold for loads is higher here. */
static bool a_fast_growth(const char *key, int64_t value)
{
	begin(key, value);
	rate = 100 * MB;
	held = VRAM - 55 * rate;
	vram_of = growing;
	live(40 * S);
	return highest(DAVY_HZ_EXHAUSTION) > 1;
}

static bool an_early_growth(const char *key, int64_t value)
{
	begin(key, value);
	rate = 50 * MB;
	held = VRAM - 40 * rate;
	vram_of = growing;
	live(3 * S);
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_EXHAUSTION);
}

static bool a_full_load(const char *key, int64_t value)
{
	begin(key, value);
	held = 2 * GB;
	rate = 4 * GB; /* 2 GB are left: less than an eighth */
	vram_of = growing;
	live(4 * S);
	held = card.vram_used;
	rate = 0;
	live(16 * S);
	for (size_t i = 0; i < kept_count; i++)
		if (kept[i].hazard == DAVY_HZ_EXHAUSTION && kept[i].unit == DAVY_UNIT_BYTES)
			return true;
	return false;
}

static void exhaustion_has_its_rates_and_rooms(void **state)
{
	(void)state;
	each(a_fast_growth, "exhaustion.load_rate", 200 << 20);
	each(an_early_growth, "exhaustion.trend", 1000);
	each(a_full_load, "exhaustion.headroom", 1LL << 40);
}

/* 1.9 GB go to GTT beside VRAM that is full: less than a tenth of it. */
static bool a_small_jump(const char *key, int64_t value)
{
	begin(key, value);
	held = VRAM - 200 * MB;
	gtt_held = 600 * MB;
	vram_of = growing;
	gtt_of = gtt;
	live(40 * S);
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_SPILL);
}

static void a_spill_has_its_jump(void **state)
{
	(void)state;
	each(a_small_jump, "silent_spill.bytes", 1 << 30);
	each(a_small_jump, "silent_spill.share", 50);
}

static bool little_memory(const char *key, int64_t value)
{
	begin(key, value);
	card.flags = DAVY_MEMORY_SHARED;
	card.gtt_used = 8 * GIB;
	card.host_available = 12 * GIB; /* of 64; 5.1 are little */
	card.pressure_permille = 90;
	live(3 * S);
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE);
}

static bool a_card_that_may_suspend(const char *key, int64_t value)
{
	begin(key, value);
	card.flags = DAVY_MEMORY_MAY_SUSPEND;
	held = 15 * GB; /* of 48 GiB that are free */
	vram_of = growing;
	live(3 * S);
	return count_of(DAVY_PLAN_NOTE, DAVY_HZ_HOST_PRESSURE);
}

static void pressure_has_its_shares(void **state)
{
	(void)state;
	each(little_memory, "host_pressure.available", 13LL << 30);
	each(little_memory, "host_pressure.share", 200);
	each(little_memory, "host_pressure.stall", 90);
	each(a_card_that_may_suspend, "host_pressure.suspend", 200);
}

/* A link has no model. */
static void corrected_errors_are_counted_for_the_device(void **state)
{
	const struct davy_log_meaning *m = davy_log_meaning(DAVY_LOG_AER_CORRECTED);

	(void)state;
	for (size_t i = 0; i < THEM; i++) {
		struct davy_event ev;

		scope = them[i].scope;
		name = them[i].name;
		begin("hardware.corrected", 3);
		for (int n = 0; n < 3; n++, now += S) {
			ev = event(DAVY_EV_LOG, 0);
			davy_copy_name(ev.log.device, sizeof(ev.log.device), GPU);
			ev.log.kind = DAVY_LOG_AER_CORRECTED;
			ev.log.role = m->role;
			ev.log.hazard = m->hazard;
			ev.log.weight = m->weight;
			tell(&ev);
		}
		assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_HARDWARE),
				 scope != DAVY_SCOPE_MODEL);
	}
}

/* What computes on the CPU has no device: its model alone counts. */
static void an_engine_on_the_cpu_has_its_models_age(void **state)
{
	(void)state;
	for (size_t i = 0; i < THEM; i++) {
		struct davy_event ev;

		scope = them[i].scope;
		name = them[i].name;
		begin("silent_cpu.age", 20000);
		ev = event(DAVY_EV_PROCESS, 60);
		ev.process.start_ticks = 77;
		ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
		ev.process.role = DAVY_ROLE_SERVER;
		ev.process.backend = DAVY_BACKEND_CPU;
		ev.process.gpu_layers = 99;
		ev.process.port = 9931;
		davy_copy_name(ev.process.model, sizeof(ev.process.model), TINY);
		tell(&ev);
		pass(30 * S);
		assert_int_equal(count_of(DAVY_PLAN_NOTE, DAVY_HZ_SILENT_CPU),
				 scope == DAVY_SCOPE_MODEL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exhaustion_has_its_levels),
		cmocka_unit_test(exhaustion_has_its_rates_and_rooms),
		cmocka_unit_test(a_spill_has_its_jump),
		cmocka_unit_test(pressure_has_its_shares),
		cmocka_unit_test(corrected_errors_are_counted_for_the_device),
		cmocka_unit_test(an_engine_on_the_cpu_has_its_models_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
