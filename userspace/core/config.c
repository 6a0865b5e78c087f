/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#define MIN_MS	60000LL
#define HOUR_MS (60 * MIN_MS)
#define DAY_MS	(24 * HOUR_MS)
#define MIB	(1LL << 20)

/* Where each default comes from is told beside it in policies/hazards.conf. */
const struct dl_config_row dl_config_rows[DL_CFG_COUNT] = {
	[DL_CFG_MODE] = { "agent.mode", DL_UNIT_MODE, DL_MODE_ADVISE, 0, DL_MODE_COUNT - 1 },
	[DL_CFG_CLEAR_MS] = { "agent.clear", DL_UNIT_MS, 10000, 100, DAY_MS },
	[DL_CFG_EXCEPTION_GRACE_MS] = { "engine_exception.grace", DL_UNIT_MS, 300, 0, 60000 },
	[DL_CFG_WEDGED_GRAPH_AGE_MS] = { "engine_wedged.graph_age", DL_UNIT_MS, 10000, 100,
					 HOUR_MS },
	[DL_CFG_WEDGED_GRAPH_RATIO] = { "engine_wedged.graph_ratio", DL_UNIT_COUNT, 8, 1, 1000 },
	[DL_CFG_WEDGED_FIRST_GRAPH_MS] = { "engine_wedged.first_graph_age", DL_UNIT_MS, 120000, 100,
					   DAY_MS },
	[DL_CFG_STALL_LEVEL1] = { "job_stall.level1", DL_UNIT_PERMILLE, 250, 1, 1000 },
	[DL_CFG_STALL_LEVEL2] = { "job_stall.level2", DL_UNIT_PERMILLE, 500, 1, 1000 },
	[DL_CFG_STALL_LEVEL3] = { "job_stall.level3", DL_UNIT_PERMILLE, 750, 1, 1000 },
	[DL_CFG_FAULT_COUNT] = { "fault_storm.count", DL_UNIT_COUNT, 10, 1, 1000000 },
	[DL_CFG_FAULT_WINDOW_MS] = { "fault_storm.window", DL_UNIT_MS, 1000, 10, HOUR_MS },
	[DL_CFG_EVICTION_BYTES] = { "eviction_storm.bytes", DL_UNIT_BYTES, 256 * MIB, MIB,
				    1LL << 50 },
	[DL_CFG_EVICTION_WINDOW_MS] = { "eviction_storm.window", DL_UNIT_MS, 2000, 10, HOUR_MS },
	[DL_CFG_ALLOC_COUNT] = { "alloc_failure.count", DL_UNIT_COUNT, 64, 1, 1000000 },
	[DL_CFG_ALLOC_WINDOW_MS] = { "alloc_failure.window", DL_UNIT_MS, 2000, 10, HOUR_MS },
	[DL_CFG_RESTART_BACKOFF_MS] = { "restart.backoff", DL_UNIT_MS, 1000, 0, DAY_MS },
	[DL_CFG_RESTART_BACKOFF_MAX_MS] = { "restart.backoff_max", DL_UNIT_MS, 300000, 0, DAY_MS },
	[DL_CFG_RESTART_FORGET_MS] = { "restart.forget", DL_UNIT_MS, 30 * MIN_MS, 0, DAY_MS },
	[DL_CFG_ACTS_PER_HOUR] = { "budget.acts_per_hour", DL_UNIT_COUNT, 12, 0, 10000 },
	[DL_CFG_ACT_TIMEOUT_MS] = { "budget.act_timeout", DL_UNIT_MS, 180000, 1000, HOUR_MS },
	[DL_CFG_BREAKER_FAILURES] = { "breaker.failures", DL_UNIT_COUNT, 2, 1, 1000 },
	[DL_CFG_BREAKER_WINDOW_MS] = { "breaker.window", DL_UNIT_MS, 30 * MIN_MS, 1000,
				       7 * DAY_MS },
	[DL_CFG_BREAKER_BACKOFF_MS] = { "breaker.backoff", DL_UNIT_MS, 600000, 1000, 7 * DAY_MS },
	[DL_CFG_BREAKER_BACKOFF_MAX_MS] = { "breaker.backoff_max", DL_UNIT_MS, DAY_MS, 1000,
					    30 * DAY_MS },
	[DL_CFG_BREAKER_SOAK_MS] = { "breaker.soak", DL_UNIT_MS, 600000, 1000, 7 * DAY_MS },
};

void dl_config_defaults(struct dl_config *config)
{
	for (int i = 0; i < DL_CFG_COUNT; i++)
		config->value[i] = dl_config_rows[i].value;
}

int dl_config_find(const char *name)
{
	for (int i = 0; i < DL_CFG_COUNT; i++)
		if (!strcmp(dl_config_rows[i].name, name))
			return i;
	return -1;
}

bool dl_config_set(struct dl_config *config, const char *name, int64_t value)
{
	int key = dl_config_find(name);

	if (key < 0 || value < dl_config_rows[key].min || value > dl_config_rows[key].max)
		return false;
	config->value[key] = value;
	return true;
}
