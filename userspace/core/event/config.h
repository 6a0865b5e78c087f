/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds and switches of the core. One row per key: name as in policies/hazards.conf, default,
 * range, unit. Values reach a running core only as DAVY_EV_CONFIG events, so that a trace holds
 * them.
 */
#ifndef DAVY_CONFIG_H
#define DAVY_CONFIG_H

#include "core/event/types.h"

enum davy_config_key {
	DAVY_CFG_MODE = 0,
	DAVY_CFG_CLEAR_MS,
	DAVY_CFG_EXCEPTION_GRACE_MS,
	DAVY_CFG_WEDGED_GRAPH_AGE_MS,
	DAVY_CFG_WEDGED_GRAPH_RATIO,
	DAVY_CFG_WEDGED_FIRST_GRAPH_MS,
	DAVY_CFG_STALL_LEVEL1,
	DAVY_CFG_STALL_LEVEL2,
	DAVY_CFG_STALL_LEVEL3,
	DAVY_CFG_FAULT_COUNT,
	DAVY_CFG_FAULT_WINDOW_MS,
	DAVY_CFG_EVICTION_BYTES,
	DAVY_CFG_EVICTION_WINDOW_MS,
	DAVY_CFG_ALLOC_COUNT,
	DAVY_CFG_ALLOC_WINDOW_MS,
	DAVY_CFG_RESTART_BACKOFF_MS,
	DAVY_CFG_RESTART_BACKOFF_MAX_MS,
	DAVY_CFG_RESTART_FORGET_MS,
	DAVY_CFG_ACTS_PER_HOUR,
	DAVY_CFG_ACT_TIMEOUT_MS,
	DAVY_CFG_BREAKER_FAILURES,
	DAVY_CFG_BREAKER_WINDOW_MS,
	DAVY_CFG_BREAKER_BACKOFF_MS,
	DAVY_CFG_BREAKER_BACKOFF_MAX_MS,
	DAVY_CFG_BREAKER_SOAK_MS,
	DAVY_CFG_FORESIGHT_LEVEL,
	DAVY_CFG_FORESIGHT_WINDOW_MS,
	DAVY_CFG_FORESIGHT_DEATH_MS,
	DAVY_CFG_FORESIGHT_HORIZON_MS,
	DAVY_CFG_FORESIGHT_RESET_HORIZON_MS,
	DAVY_CFG_EXHAUSTION_LEVEL1_MS,
	DAVY_CFG_EXHAUSTION_LEVEL2_MS,
	DAVY_CFG_EXHAUSTION_LEVEL3_MS,
	DAVY_CFG_EXHAUSTION_TREND_MS,
	DAVY_CFG_EXHAUSTION_LOAD_RATE,
	DAVY_CFG_EXHAUSTION_FAST_RATE,
	DAVY_CFG_EXHAUSTION_HEADROOM,
	DAVY_CFG_SPILL_FULL,
	DAVY_CFG_SPILL_HEADROOM,
	DAVY_CFG_SPILL_BYTES,
	DAVY_CFG_SPILL_SHARE,
	DAVY_CFG_SPILL_WINDOW_MS,
	DAVY_CFG_SPILL_COLLAPSE,
	DAVY_CFG_PRESSURE_AVAILABLE,
	DAVY_CFG_PRESSURE_SHARE,
	DAVY_CFG_PRESSURE_STALL,
	DAVY_CFG_PRESSURE_SUSPEND,
	DAVY_CFG_SILENT_CPU_AGE_MS,
	DAVY_CFG_CORRECTED_COUNT,
	DAVY_CFG_CORRECTED_WINDOW_MS,
	DAVY_CFG_EVICTION_THRASH_MS,
	DAVY_CFG_HEADROOM_LEVEL1,
	DAVY_CFG_HEADROOM_LEVEL2,
	DAVY_CFG_HEADROOM_LEVEL3,
	DAVY_CFG_HEADROOM_AHEAD_MS,
	DAVY_CFG_HEADROOM_UBATCH_FLOOR,
	DAVY_CFG_WEDGED_SILENT_MS,
	DAVY_CFG_WEDGED_SILENT_BLIND_MS,
	DAVY_CFG_RESTORE_RETRIES,
	DAVY_CFG_RESTORE_COUNT,
	DAVY_CFG_RESTORE_WINDOW_MS,
	DAVY_CFG_THRASH_COUNT,
	DAVY_CFG_THRASH_WINDOW_MS,
	DAVY_CFG_THRASH_SHARE,
	DAVY_CFG_THRASH_SHARE3,
	DAVY_CFG_FAULT_RETRIES,
	DAVY_CFG_RESET_AGAIN_MS,
	DAVY_CFG_ALLOC_LINES,
	DAVY_CFG_ALLOC_LINES_WINDOW_MS,
	DAVY_CFG_HOST_ACTS_PER_HOUR,
	DAVY_CFG_SETTLE_MS,
	DAVY_CFG_CLEAN_MS,
	DAVY_CFG_CLEAN_MAX_MS,
	DAVY_CFG_TUNER_SOAK_MS,
	DAVY_CFG_PAUSE_LEASE_MS,
	DAVY_CFG_THROTTLE_LEASE_MS,
	DAVY_CFG_THROTTLE_ON,
	DAVY_CFG_THROTTLE_ON_LEAST,
	DAVY_CFG_CONTEXT_FLOOR,
	DAVY_CFG_BREAKER_QUARANTINE,
	DAVY_CFG_COUNT,
};

enum davy_unit {
	DAVY_UNIT_COUNT = 0,
	DAVY_UNIT_MS = 1,
	DAVY_UNIT_NS = 2,
	DAVY_UNIT_BYTES = 3,
	DAVY_UNIT_PERMILLE = 4,
	DAVY_UNIT_HTTP = 5,   /* a status code; 0 is no answer */
	DAVY_UNIT_STATUS = 6, /* a wait(2) status */
	DAVY_UNIT_MODE = 7,
};

struct davy_config_row {
	const char *name;
	enum davy_unit unit;
	int64_t value; /* default */
	int64_t min;
	int64_t max;
};

extern const struct davy_config_row davy_config_rows[DAVY_CFG_COUNT];

#define DAVY_OVERRIDES_MAX    64
#define DAVY_OVERRIDE_REMOVED INT64_MIN /* as a value: there is none any more */

/* A value for one driver, device or model only. */
struct davy_override {
	char name[DAVY_MODEL_LEN]; /* '*' stands for any letters */
	int64_t value;
	uint16_t key;  /* enum davy_config_key */
	uint8_t scope; /* enum davy_scope */
	uint8_t pad[5];
};

struct davy_config {
	int64_t value[DAVY_CFG_COUNT];
	uint32_t override_count;
	uint32_t pad;
	struct davy_override override[DAVY_OVERRIDES_MAX];
};

/* Two keys of one unit whose values must be in this order. */
struct davy_config_order {
	enum davy_config_key low;
	enum davy_config_key high;
};

/* The rule of that number; false when there are no more. */
bool davy_config_order(size_t index, struct davy_config_order *ret_order);

void davy_config_defaults(struct davy_config *config);

/* The key's index, or -1. */
int davy_config_find(const char *name);

/* False when the key is unknown or the value out of its range; the configuration stays as it was.
 */
bool davy_config_set(struct davy_config *config, const char *name, int64_t value);

/* Whether the key may have another value for one driver, device or model: a hazard asks for it. */
bool davy_config_scoped(enum davy_config_key key);

/*
 * Sets the value of a scoped key for the drivers, devices or models that "name" matches; with
 * DAVY_OVERRIDE_REMOVED takes it back. False: unknown key, not a scoped one, no such scope, out of
 * range, no name, or no room; the configuration stays as it was.
 */
bool davy_config_set_for(struct davy_config *config, uint32_t scope, const char *name,
			 const char *key, int64_t value);

/* That override, or NULL. */
const struct davy_override *davy_config_override(const struct davy_config *config, uint32_t scope,
						 const char *name, enum davy_config_key key);

/*
 * The value that holds for a model on a device of a driver ("": unknown, matches nothing): the
 * model's, else the device's, else the driver's, else the general one. Of several names of one
 * scope the one with the most letters that are no '*'; of equals the first by the alphabet, so that
 * the order in which they were set does not matter.
 */
int64_t davy_config_value_for(const struct davy_config *config, enum davy_config_key key,
			      const char *driver, const char *device, const char *model);

/* Whether "pattern" covers all of "name"; '*' is any letters or none. */
bool davy_name_matches(const char *pattern, const char *name);

static inline uint64_t davy_config_u64(const struct davy_config *config, enum davy_config_key key)
{
	return (uint64_t)config->value[key];
}

static inline uint64_t davy_config_ns(const struct davy_config *config, enum davy_config_key key)
{
	return (uint64_t)config->value[key] * DAVY_NS_PER_MS;
}

#endif
