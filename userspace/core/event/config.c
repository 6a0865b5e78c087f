/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/config.h"

#include <string.h>

#define MIN_MS	60000LL
#define HOUR_MS (60 * MIN_MS)
#define DAY_MS	(24 * HOUR_MS)
#define MIB	(1LL << 20)

/* Where each default comes from is told beside it in policies/hazards.conf. */
const struct davy_config_row davy_config_rows[DAVY_CFG_COUNT] = {
	[DAVY_CFG_MODE] = { "agent.mode", DAVY_UNIT_MODE, DAVY_MODE_ADVISE, 0,
			    DAVY_MODE_COUNT - 1 },
	[DAVY_CFG_CLEAR_MS] = { "agent.clear", DAVY_UNIT_MS, 10000, 100, DAY_MS },
	[DAVY_CFG_EXCEPTION_GRACE_MS] = { "engine_exception.grace", DAVY_UNIT_MS, 300, 0, 60000 },
	[DAVY_CFG_WEDGED_GRAPH_AGE_MS] = { "engine_wedged.graph_age", DAVY_UNIT_MS, 10000, 100,
					   HOUR_MS },
	[DAVY_CFG_WEDGED_GRAPH_RATIO] = { "engine_wedged.graph_ratio", DAVY_UNIT_COUNT, 8, 1,
					  1000 },
	[DAVY_CFG_WEDGED_FIRST_GRAPH_MS] = { "engine_wedged.first_graph_age", DAVY_UNIT_MS, 120000,
					     100, DAY_MS },
	[DAVY_CFG_STALL_LEVEL1] = { "job_stall.level1", DAVY_UNIT_PERMILLE, 250, 10, 1000 },
	[DAVY_CFG_STALL_LEVEL2] = { "job_stall.level2", DAVY_UNIT_PERMILLE, 500, 10, 1000 },
	[DAVY_CFG_STALL_LEVEL3] = { "job_stall.level3", DAVY_UNIT_PERMILLE, 750, 10, 1000 },
	[DAVY_CFG_FAULT_COUNT] = { "fault_storm.count", DAVY_UNIT_COUNT, 10, 1, 1000000 },
	[DAVY_CFG_FAULT_WINDOW_MS] = { "fault_storm.window", DAVY_UNIT_MS, 1000, 10, HOUR_MS },
	[DAVY_CFG_EVICTION_BYTES] = { "eviction_storm.bytes", DAVY_UNIT_BYTES, 256 * MIB, MIB,
				      1LL << 50 },
	[DAVY_CFG_EVICTION_WINDOW_MS] = { "eviction_storm.window", DAVY_UNIT_MS, 2000, 10,
					  HOUR_MS },
	[DAVY_CFG_ALLOC_COUNT] = { "alloc_failure.count", DAVY_UNIT_COUNT, 64, 1, 1000000 },
	[DAVY_CFG_ALLOC_WINDOW_MS] = { "alloc_failure.window", DAVY_UNIT_MS, 2000, 10, HOUR_MS },
	[DAVY_CFG_RESTART_BACKOFF_MS] = { "restart.backoff", DAVY_UNIT_MS, 1000, 0, DAY_MS },
	[DAVY_CFG_RESTART_BACKOFF_MAX_MS] = { "restart.backoff_max", DAVY_UNIT_MS, 300000, 0,
					      DAY_MS },
	[DAVY_CFG_RESTART_FORGET_MS] = { "restart.forget", DAVY_UNIT_MS, 30 * MIN_MS, 0, DAY_MS },
	[DAVY_CFG_ACTS_PER_HOUR] = { "budget.acts_per_hour", DAVY_UNIT_COUNT, 12, 0, 10000 },
	[DAVY_CFG_ACT_TIMEOUT_MS] = { "budget.act_timeout", DAVY_UNIT_MS, 180000, 1000, HOUR_MS },
	[DAVY_CFG_BREAKER_FAILURES] = { "breaker.failures", DAVY_UNIT_COUNT, 2, 1, 1000 },
	[DAVY_CFG_BREAKER_WINDOW_MS] = { "breaker.window", DAVY_UNIT_MS, 30 * MIN_MS, 1000,
					 7 * DAY_MS },
	[DAVY_CFG_BREAKER_BACKOFF_MS] = { "breaker.backoff", DAVY_UNIT_MS, 600000, 1000,
					  7 * DAY_MS },
	[DAVY_CFG_BREAKER_BACKOFF_MAX_MS] = { "breaker.backoff_max", DAVY_UNIT_MS, DAY_MS, 1000,
					      30 * DAY_MS },
	[DAVY_CFG_BREAKER_SOAK_MS] = { "breaker.soak", DAVY_UNIT_MS, 600000, 1000, 7 * DAY_MS },
	[DAVY_CFG_FORESIGHT_LEVEL] = { "foresight.level", DAVY_UNIT_COUNT, 2, 1, 3 },
	[DAVY_CFG_FORESIGHT_WINDOW_MS] = { "foresight.window", DAVY_UNIT_MS, 10000, 100, HOUR_MS },
	[DAVY_CFG_FORESIGHT_DEATH_MS] = { "foresight.death", DAVY_UNIT_MS, 60000, 100, HOUR_MS },
	[DAVY_CFG_FORESIGHT_HORIZON_MS] = { "foresight.horizon", DAVY_UNIT_MS, 5 * MIN_MS, 1000,
					    DAY_MS },
	[DAVY_CFG_FORESIGHT_RESET_HORIZON_MS] = { "foresight.reset_horizon", DAVY_UNIT_MS,
						  10 * MIN_MS, 1000, DAY_MS },
	[DAVY_CFG_EXHAUSTION_LEVEL1_MS] = { "exhaustion.level1", DAVY_UNIT_MS, 60000, 100, DAY_MS },
	[DAVY_CFG_EXHAUSTION_LEVEL2_MS] = { "exhaustion.level2", DAVY_UNIT_MS, 20000, 100, DAY_MS },
	[DAVY_CFG_EXHAUSTION_LEVEL3_MS] = { "exhaustion.level3", DAVY_UNIT_MS, 5000, 100, DAY_MS },
	[DAVY_CFG_EXHAUSTION_TREND_MS] = { "exhaustion.trend", DAVY_UNIT_MS, 4000, 500, HOUR_MS },
	[DAVY_CFG_EXHAUSTION_LOAD_RATE] = { "exhaustion.load_rate", DAVY_UNIT_BYTES, 64 * MIB, MIB,
					    1LL << 50 },
	[DAVY_CFG_EXHAUSTION_FAST_RATE] = { "exhaustion.fast_rate", DAVY_UNIT_BYTES, 1024 * MIB,
					    MIB, 1LL << 50 },
	[DAVY_CFG_EXHAUSTION_HEADROOM] = { "exhaustion.headroom", DAVY_UNIT_BYTES, 1536 * MIB, 0,
					   1LL << 50 },
	[DAVY_CFG_SPILL_FULL] = { "silent_spill.full", DAVY_UNIT_PERMILLE, 950, 1, 1000 },
	[DAVY_CFG_SPILL_HEADROOM] = { "silent_spill.headroom", DAVY_UNIT_BYTES, 512 * MIB, 0,
				      1LL << 50 },
	[DAVY_CFG_SPILL_BYTES] = { "silent_spill.bytes", DAVY_UNIT_BYTES, 2048 * MIB, MIB,
				   1LL << 50 },
	[DAVY_CFG_SPILL_SHARE] = { "silent_spill.share", DAVY_UNIT_PERMILLE, 100, 1, 1000 },
	[DAVY_CFG_SPILL_WINDOW_MS] = { "silent_spill.window", DAVY_UNIT_MS, 10000, 100, HOUR_MS },
	[DAVY_CFG_SPILL_COLLAPSE] = { "silent_spill.collapse", DAVY_UNIT_PERMILLE, 500, 1, 1000 },
	[DAVY_CFG_PRESSURE_AVAILABLE] = { "host_pressure.available", DAVY_UNIT_BYTES, 4096 * MIB, 0,
					  1LL << 50 },
	[DAVY_CFG_PRESSURE_SHARE] = { "host_pressure.share", DAVY_UNIT_PERMILLE, 80, 0, 1000 },
	[DAVY_CFG_PRESSURE_STALL] = { "host_pressure.stall", DAVY_UNIT_PERMILLE, 100, 1, 1000 },
	[DAVY_CFG_PRESSURE_SUSPEND] = { "host_pressure.suspend", DAVY_UNIT_PERMILLE, 700, 1, 1000 },
	[DAVY_CFG_SILENT_CPU_AGE_MS] = { "silent_cpu.age", DAVY_UNIT_MS, 60000, 1000, DAY_MS },
	[DAVY_CFG_CORRECTED_COUNT] = { "hardware.corrected", DAVY_UNIT_COUNT, 10, 1, 1000000 },
	[DAVY_CFG_CORRECTED_WINDOW_MS] = { "hardware.window", DAVY_UNIT_MS, MIN_MS, 1000, DAY_MS },
	[DAVY_CFG_EVICTION_THRASH_MS] = { "eviction_storm.thrash_window", DAVY_UNIT_MS, 10000, 10,
					  HOUR_MS },
	[DAVY_CFG_HEADROOM_LEVEL1] = { "job_headroom.level1", DAVY_UNIT_PERMILLE, 400, 1, 1000 },
	[DAVY_CFG_HEADROOM_LEVEL2] = { "job_headroom.level2", DAVY_UNIT_PERMILLE, 500, 1, 1000 },
	[DAVY_CFG_HEADROOM_LEVEL3] = { "job_headroom.level3", DAVY_UNIT_PERMILLE, 750, 1, 1000 },
	[DAVY_CFG_HEADROOM_AHEAD_MS] = { "job_headroom.ahead", DAVY_UNIT_MS, 5 * MIN_MS, 0,
					 HOUR_MS },
	[DAVY_CFG_HEADROOM_UBATCH_FLOOR] = { "job_headroom.ubatch_floor", DAVY_UNIT_COUNT, 64, 1,
					     65536 },
	[DAVY_CFG_WEDGED_SILENT_MS] = { "engine_wedged.silent", DAVY_UNIT_MS, 30000, 1000, DAY_MS },
	[DAVY_CFG_WEDGED_SILENT_BLIND_MS] = { "engine_wedged.silent_blind", DAVY_UNIT_MS, 120000,
					      1000, DAY_MS },
	[DAVY_CFG_RESTORE_RETRIES] = { "restore_hog.retries", DAVY_UNIT_COUNT, 3, 1, 1000000 },
	[DAVY_CFG_RESTORE_COUNT] = { "restore_hog.count", DAVY_UNIT_COUNT, 16, 1, 1000000 },
	[DAVY_CFG_RESTORE_WINDOW_MS] = { "restore_hog.window", DAVY_UNIT_MS, 10 * MIN_MS, 1000,
					 DAY_MS },
	[DAVY_CFG_THRASH_COUNT] = { "queue_thrash.count", DAVY_UNIT_COUNT, 3, 1, 1000000 },
	[DAVY_CFG_THRASH_WINDOW_MS] = { "queue_thrash.window", DAVY_UNIT_MS, 2000, 10, HOUR_MS },
	[DAVY_CFG_THRASH_SHARE] = { "queue_thrash.share", DAVY_UNIT_PERMILLE, 150, 1, 1000 },
	[DAVY_CFG_THRASH_SHARE3] = { "queue_thrash.share3", DAVY_UNIT_PERMILLE, 500, 1, 1000 },
	[DAVY_CFG_FAULT_RETRIES] = { "fault_storm.retries", DAVY_UNIT_COUNT, 1000, 1, 1000000000 },
	[DAVY_CFG_RESET_AGAIN_MS] = { "reset.again", DAVY_UNIT_MS, 30 * MIN_MS, 1000, 7 * DAY_MS },
	[DAVY_CFG_ALLOC_LINES] = { "alloc_failure.lines", DAVY_UNIT_COUNT, 6, 1, 1000000 },
	[DAVY_CFG_ALLOC_LINES_WINDOW_MS] = { "alloc_failure.lines_window", DAVY_UNIT_MS, MIN_MS,
					     1000, DAY_MS },
	[DAVY_CFG_HOST_ACTS_PER_HOUR] = { "budget.host_acts_per_hour", DAVY_UNIT_COUNT, 30, 0,
					  100000 },
	[DAVY_CFG_SETTLE_MS] = { "budget.settle", DAVY_UNIT_MS, 10000, 0, HOUR_MS },
	[DAVY_CFG_CLEAN_MS] = { "agent.clean", DAVY_UNIT_MS, 10 * MIN_MS, 1000, 7 * DAY_MS },
	[DAVY_CFG_CLEAN_MAX_MS] = { "agent.clean_max", DAVY_UNIT_MS, DAY_MS, 1000, 30 * DAY_MS },
	[DAVY_CFG_TUNER_SOAK_MS] = { "tuner.soak", DAVY_UNIT_MS, HOUR_MS, 1000, 7 * DAY_MS },
	[DAVY_CFG_PAUSE_LEASE_MS] = { "hold.pause", DAVY_UNIT_MS, 2000, 10, MIN_MS },
	[DAVY_CFG_THROTTLE_LEASE_MS] = { "hold.throttle", DAVY_UNIT_MS, 30000, 1000, HOUR_MS },
	[DAVY_CFG_THROTTLE_ON] = { "hold.on", DAVY_UNIT_PERMILLE, 500, 10, 990 },
	[DAVY_CFG_THROTTLE_ON_LEAST] = { "hold.on_least", DAVY_UNIT_PERMILLE, 250, 10, 990 },
	[DAVY_CFG_CONTEXT_FLOOR] = { "shrink.context_floor", DAVY_UNIT_COUNT, 4096, 256, 1 << 24 },
	[DAVY_CFG_BREAKER_QUARANTINE] = { "breaker.quarantine", DAVY_UNIT_COUNT, 4, 1, 1000 },
};

static const struct davy_config_order orders[] = {
	{ DAVY_CFG_STALL_LEVEL1, DAVY_CFG_STALL_LEVEL2 },
	{ DAVY_CFG_STALL_LEVEL2, DAVY_CFG_STALL_LEVEL3 },
	{ DAVY_CFG_RESTART_BACKOFF_MS, DAVY_CFG_RESTART_BACKOFF_MAX_MS },
	{ DAVY_CFG_BREAKER_BACKOFF_MS, DAVY_CFG_BREAKER_BACKOFF_MAX_MS },
	{ DAVY_CFG_FORESIGHT_WINDOW_MS, DAVY_CFG_FORESIGHT_DEATH_MS },
	{ DAVY_CFG_CLEAN_MS, DAVY_CFG_CLEAN_MAX_MS },
	{ DAVY_CFG_THROTTLE_ON_LEAST, DAVY_CFG_THROTTLE_ON },
	{ DAVY_CFG_EXHAUSTION_LEVEL3_MS, DAVY_CFG_EXHAUSTION_LEVEL2_MS }, /* times that are left */
	{ DAVY_CFG_EXHAUSTION_LEVEL2_MS, DAVY_CFG_EXHAUSTION_LEVEL1_MS },
	{ DAVY_CFG_EXHAUSTION_LOAD_RATE, DAVY_CFG_EXHAUSTION_FAST_RATE },
	{ DAVY_CFG_HEADROOM_LEVEL1, DAVY_CFG_HEADROOM_LEVEL2 },
	{ DAVY_CFG_HEADROOM_LEVEL2, DAVY_CFG_HEADROOM_LEVEL3 },
	{ DAVY_CFG_THRASH_SHARE, DAVY_CFG_THRASH_SHARE3 },
	{ DAVY_CFG_WEDGED_SILENT_MS, DAVY_CFG_WEDGED_SILENT_BLIND_MS },
	{ DAVY_CFG_WEDGED_GRAPH_AGE_MS, DAVY_CFG_WEDGED_FIRST_GRAPH_MS },
};

bool davy_config_order(size_t index, struct davy_config_order *ret_order)
{
	if (index >= sizeof(orders) / sizeof(orders[0]))
		return false;
	*ret_order = orders[index];
	return true;
}

void davy_config_defaults(struct davy_config *config)
{
	memset(config, 0, sizeof(*config));
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		config->value[i] = davy_config_rows[i].value;
}

int davy_config_find(const char *name)
{
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		if (!strcmp(davy_config_rows[i].name, name))
			return i;
	return -1;
}

bool davy_config_set(struct davy_config *config, const char *name, int64_t value)
{
	int key = davy_config_find(name);

	if (key < 0 || value < davy_config_rows[key].min || value > davy_config_rows[key].max)
		return false;
	config->value[key] = value;
	return true;
}
