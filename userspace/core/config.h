/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds and switches of the core. One row per key: name as in policies/hazards.conf, default,
 * range, unit. Values reach a running core only as DL_EV_CONFIG events, so that a trace holds them.
 */
#ifndef DL_CORE_CONFIG_H
#define DL_CORE_CONFIG_H

#include "types.h"

enum dl_config_key {
	DL_CFG_MODE = 0,
	DL_CFG_CLEAR_MS,
	DL_CFG_EXCEPTION_GRACE_MS,
	DL_CFG_WEDGED_GRAPH_AGE_MS,
	DL_CFG_WEDGED_GRAPH_RATIO,
	DL_CFG_WEDGED_FIRST_GRAPH_MS,
	DL_CFG_STALL_LEVEL1,
	DL_CFG_STALL_LEVEL2,
	DL_CFG_STALL_LEVEL3,
	DL_CFG_FAULT_COUNT,
	DL_CFG_FAULT_WINDOW_MS,
	DL_CFG_EVICTION_BYTES,
	DL_CFG_EVICTION_WINDOW_MS,
	DL_CFG_ALLOC_COUNT,
	DL_CFG_ALLOC_WINDOW_MS,
	DL_CFG_RESTART_BACKOFF_MS,
	DL_CFG_RESTART_BACKOFF_MAX_MS,
	DL_CFG_RESTART_FORGET_MS,
	DL_CFG_ACTS_PER_HOUR,
	DL_CFG_ACT_TIMEOUT_MS,
	DL_CFG_BREAKER_FAILURES,
	DL_CFG_BREAKER_WINDOW_MS,
	DL_CFG_BREAKER_BACKOFF_MS,
	DL_CFG_BREAKER_BACKOFF_MAX_MS,
	DL_CFG_BREAKER_SOAK_MS,
	DL_CFG_COUNT,
};

enum dl_unit {
	DL_UNIT_COUNT = 0,
	DL_UNIT_MS = 1,
	DL_UNIT_NS = 2,
	DL_UNIT_BYTES = 3,
	DL_UNIT_PERMILLE = 4,
	DL_UNIT_HTTP = 5,   /* a status code; 0 is no answer */
	DL_UNIT_STATUS = 6, /* a wait(2) status */
	DL_UNIT_MODE = 7,
};

struct dl_config_row {
	const char *name;
	enum dl_unit unit;
	int64_t value; /* default */
	int64_t min;
	int64_t max;
};

extern const struct dl_config_row dl_config_rows[DL_CFG_COUNT];

struct dl_config {
	int64_t value[DL_CFG_COUNT];
};

void dl_config_defaults(struct dl_config *config);

/* The key's index, or -1. */
int dl_config_find(const char *name);

/* False when the key is unknown or the value out of its range; the configuration stays as it was.
 */
bool dl_config_set(struct dl_config *config, const char *name, int64_t value);

static inline uint64_t dl_config_u64(const struct dl_config *config, enum dl_config_key key)
{
	return (uint64_t)config->value[key];
}

static inline uint64_t dl_config_ns(const struct dl_config *config, enum dl_config_key key)
{
	return (uint64_t)config->value[key] * DL_NS_PER_MS;
}

#endif
