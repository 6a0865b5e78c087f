/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds and switches of the core. One row per key: name as in policies/hazards.conf, default,
 * range, unit. Values reach a running core only as DL_EV_CONFIG events, so that a trace holds them.
 */
#ifndef DL_CORE_CONFIG_H
#define DL_CORE_CONFIG_H

#include "core/event/types.h"

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
	DL_CFG_FORESIGHT_LEVEL,
	DL_CFG_FORESIGHT_WINDOW_MS,
	DL_CFG_FORESIGHT_DEATH_MS,
	DL_CFG_FORESIGHT_HORIZON_MS,
	DL_CFG_FORESIGHT_RESET_HORIZON_MS,
	DL_CFG_EXHAUSTION_LEVEL1_MS,
	DL_CFG_EXHAUSTION_LEVEL2_MS,
	DL_CFG_EXHAUSTION_LEVEL3_MS,
	DL_CFG_EXHAUSTION_TREND_MS,
	DL_CFG_EXHAUSTION_LOAD_RATE,
	DL_CFG_EXHAUSTION_FAST_RATE,
	DL_CFG_EXHAUSTION_HEADROOM,
	DL_CFG_SPILL_FULL,
	DL_CFG_SPILL_HEADROOM,
	DL_CFG_SPILL_BYTES,
	DL_CFG_SPILL_SHARE,
	DL_CFG_SPILL_WINDOW_MS,
	DL_CFG_SPILL_COLLAPSE,
	DL_CFG_PRESSURE_AVAILABLE,
	DL_CFG_PRESSURE_SHARE,
	DL_CFG_PRESSURE_STALL,
	DL_CFG_PRESSURE_SUSPEND,
	DL_CFG_SILENT_CPU_AGE_MS,
	DL_CFG_CORRECTED_COUNT,
	DL_CFG_CORRECTED_WINDOW_MS,
	DL_CFG_EVICTION_THRASH_MS,
	DL_CFG_HEADROOM_LEVEL1,
	DL_CFG_HEADROOM_LEVEL2,
	DL_CFG_HEADROOM_LEVEL3,
	DL_CFG_HEADROOM_AHEAD_MS,
	DL_CFG_HEADROOM_UBATCH_FLOOR,
	DL_CFG_WEDGED_SILENT_MS,
	DL_CFG_WEDGED_SILENT_BLIND_MS,
	DL_CFG_RESTORE_RETRIES,
	DL_CFG_RESTORE_COUNT,
	DL_CFG_RESTORE_WINDOW_MS,
	DL_CFG_THRASH_COUNT,
	DL_CFG_THRASH_WINDOW_MS,
	DL_CFG_THRASH_SHARE,
	DL_CFG_THRASH_SHARE3,
	DL_CFG_FAULT_RETRIES,
	DL_CFG_RESET_AGAIN_MS,
	DL_CFG_ALLOC_LINES,
	DL_CFG_ALLOC_LINES_WINDOW_MS,
	DL_CFG_HOST_ACTS_PER_HOUR,
	DL_CFG_SETTLE_MS,
	DL_CFG_CLEAN_MS,
	DL_CFG_CLEAN_MAX_MS,
	DL_CFG_TUNER_SOAK_MS,
	DL_CFG_PAUSE_LEASE_MS,
	DL_CFG_THROTTLE_LEASE_MS,
	DL_CFG_THROTTLE_ON,
	DL_CFG_THROTTLE_ON_LEAST,
	DL_CFG_CONTEXT_FLOOR,
	DL_CFG_BREAKER_QUARANTINE,
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

#define DL_OVERRIDES_MAX    64
#define DL_OVERRIDE_REMOVED INT64_MIN /* as a value: there is none any more */

/* A value for one driver, device or model only. */
struct dl_override {
	char name[DL_MODEL_LEN]; /* '*' stands for any letters */
	int64_t value;
	uint16_t key;  /* enum dl_config_key */
	uint8_t scope; /* enum dl_scope */
	uint8_t pad[5];
};

struct dl_config {
	int64_t value[DL_CFG_COUNT];
	uint32_t override_count;
	uint32_t pad;
	struct dl_override override[DL_OVERRIDES_MAX];
};

/* Two keys of one unit whose values must be in this order. */
struct dl_config_order {
	enum dl_config_key low;
	enum dl_config_key high;
};

/* The rule of that number; false when there are no more. */
bool dl_config_order(size_t index, struct dl_config_order *ret_order);

void dl_config_defaults(struct dl_config *config);

/* The key's index, or -1. */
int dl_config_find(const char *name);

/* False when the key is unknown or the value out of its range; the configuration stays as it was.
 */
bool dl_config_set(struct dl_config *config, const char *name, int64_t value);

/* Whether the key may have another value for one driver, device or model: a hazard asks for it. */
bool dl_config_scoped(enum dl_config_key key);

/*
 * Sets the value of a scoped key for the drivers, devices or models that "name" matches; with
 * DL_OVERRIDE_REMOVED takes it back. False: unknown key, not a scoped one, no such scope, out of
 * range, no name, or no room; the configuration stays as it was.
 */
bool dl_config_set_for(struct dl_config *config, uint32_t scope, const char *name, const char *key,
		       int64_t value);

/* That override, or NULL. */
const struct dl_override *dl_config_override(const struct dl_config *config, uint32_t scope,
					     const char *name, enum dl_config_key key);

/*
 * The value that holds for a model on a device of a driver ("": unknown, matches nothing): the
 * model's, else the device's, else the driver's, else the general one. Of several names of one
 * scope the one with the most letters that are no '*'; of equals the first by the alphabet, so that
 * the order in which they were set does not matter.
 */
int64_t dl_config_value_for(const struct dl_config *config, enum dl_config_key key,
			    const char *driver, const char *device, const char *model);

/* Whether "pattern" covers all of "name"; '*' is any letters or none. */
bool dl_name_matches(const char *pattern, const char *name);

static inline uint64_t dl_config_u64(const struct dl_config *config, enum dl_config_key key)
{
	return (uint64_t)config->value[key];
}

static inline uint64_t dl_config_ns(const struct dl_config *config, enum dl_config_key key)
{
	return (uint64_t)config->value[key] * DL_NS_PER_MS;
}

#endif
