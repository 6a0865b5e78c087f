/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds and switches of the core. One row per key: name as in policies/hazards.conf, default,
 * range, unit. Values reach a running core only as DAVY_EV_CONFIG events, so that a trace contains
 * them.
 */
#ifndef DAVY_CONFIG_H
#define DAVY_CONFIG_H

#include "core/event/types.h"

/*
 * The keys: constant, name, unit, default, least and largest value (config.c has the units of
 * these). ALL: one value applies to the whole host. EACH: a hazard reads it with davy_threshold()
 * (emit.h), and it may differ for a driver, device or model. The position in the list is the
 * number: append only. policies/hazards.conf has the origin of each default.
 */
#define DAVY_CONFIG_KEYS(ALL, EACH)                                                                \
	ALL(MODE, "agent.mode", MODE, DAVY_MODE_ADVISE, 0, DAVY_MODE_COUNT - 1)                    \
	ALL(CLEAR_MS, "agent.clear", MS, 10000, 100, DAY_MS)                                       \
	EACH(EXCEPTION_GRACE_MS, "engine_exception.grace", MS, 300, 0, 60000)                      \
	EACH(WEDGED_GRAPH_AGE_MS, "engine_wedged.graph_age", MS, 10000, 100, HOUR_MS)              \
	EACH(WEDGED_GRAPH_RATIO, "engine_wedged.graph_ratio", COUNT, 8, 1, 1000)                   \
	EACH(WEDGED_FIRST_GRAPH_MS, "engine_wedged.first_graph_age", MS, 120000, 100, DAY_MS)      \
	EACH(STALL_LEVEL1, "job_stall.level1", PERMILLE, 250, 10, 1000)                            \
	EACH(STALL_LEVEL2, "job_stall.level2", PERMILLE, 500, 10, 1000)                            \
	EACH(STALL_LEVEL3, "job_stall.level3", PERMILLE, 750, 10, 1000)                            \
	EACH(FAULT_COUNT, "fault_storm.count", COUNT, 10, 1, 1000000)                              \
	EACH(FAULT_WINDOW_MS, "fault_storm.window", MS, 1000, 10, HOUR_MS)                         \
	EACH(EVICTION_BYTES, "eviction_storm.bytes", BYTES, 256 * MIB, MIB, 1LL << 50)             \
	EACH(EVICTION_WINDOW_MS, "eviction_storm.window", MS, 2000, 10, HOUR_MS)                   \
	EACH(ALLOC_COUNT, "alloc_failure.count", COUNT, 64, 1, 1000000)                            \
	EACH(ALLOC_WINDOW_MS, "alloc_failure.window", MS, 2000, 10, HOUR_MS)                       \
	ALL(RESTART_BACKOFF_MS, "restart.backoff", MS, 1000, 0, DAY_MS)                            \
	ALL(RESTART_BACKOFF_MAX_MS, "restart.backoff_max", MS, 300000, 0, DAY_MS)                  \
	ALL(RESTART_FORGET_MS, "restart.forget", MS, 30 * MIN_MS, 0, DAY_MS)                       \
	ALL(ACTS_PER_HOUR, "budget.acts_per_hour", COUNT, 12, 0, 10000)                            \
	ALL(ACT_TIMEOUT_MS, "budget.act_timeout", MS, 180000, 1000, HOUR_MS)                       \
	ALL(BREAKER_FAILURES, "breaker.failures", COUNT, 2, 1, 1000)                               \
	ALL(BREAKER_WINDOW_MS, "breaker.window", MS, 30 * MIN_MS, 1000, 7 * DAY_MS)                \
	ALL(BREAKER_BACKOFF_MS, "breaker.backoff", MS, 600000, 1000, 7 * DAY_MS)                   \
	ALL(BREAKER_BACKOFF_MAX_MS, "breaker.backoff_max", MS, DAY_MS, 1000, 30 * DAY_MS)          \
	ALL(BREAKER_SOAK_MS, "breaker.soak", MS, 600000, 1000, 7 * DAY_MS)                         \
	ALL(FORESIGHT_LEVEL, "foresight.level", COUNT, 2, 1, 3)                                    \
	ALL(FORESIGHT_WINDOW_MS, "foresight.window", MS, 10000, 100, HOUR_MS)                      \
	ALL(FORESIGHT_DEATH_MS, "foresight.death", MS, 60000, 100, HOUR_MS)                        \
	ALL(FORESIGHT_HORIZON_MS, "foresight.horizon", MS, 5 * MIN_MS, 1000, DAY_MS)               \
	ALL(FORESIGHT_RESET_HORIZON_MS, "foresight.reset_horizon", MS, 10 * MIN_MS, 1000, DAY_MS)  \
	EACH(EXHAUSTION_LEVEL1_MS, "exhaustion.level1", MS, 60000, 100, DAY_MS)                    \
	EACH(EXHAUSTION_LEVEL2_MS, "exhaustion.level2", MS, 20000, 100, DAY_MS)                    \
	EACH(EXHAUSTION_LEVEL3_MS, "exhaustion.level3", MS, 5000, 100, DAY_MS)                     \
	EACH(EXHAUSTION_TREND_MS, "exhaustion.trend", MS, 4000, 500, HOUR_MS)                      \
	EACH(EXHAUSTION_LOAD_RATE, "exhaustion.load_rate", BYTES, 64 * MIB, MIB, 1LL << 50)        \
	EACH(EXHAUSTION_FAST_RATE, "exhaustion.fast_rate", BYTES, 1024 * MIB, MIB, 1LL << 50)      \
	EACH(EXHAUSTION_HEADROOM, "exhaustion.headroom", BYTES, 1536 * MIB, 0, 1LL << 50)          \
	EACH(SPILL_FULL, "silent_spill.full", PERMILLE, 950, 1, 1000)                              \
	EACH(SPILL_HEADROOM, "silent_spill.headroom", BYTES, 512 * MIB, 0, 1LL << 50)              \
	EACH(SPILL_BYTES, "silent_spill.bytes", BYTES, 2048 * MIB, MIB, 1LL << 50)                 \
	EACH(SPILL_SHARE, "silent_spill.share", PERMILLE, 100, 1, 1000)                            \
	EACH(SPILL_WINDOW_MS, "silent_spill.window", MS, 10000, 100, HOUR_MS)                      \
	EACH(SPILL_COLLAPSE, "silent_spill.collapse", PERMILLE, 500, 1, 1000)                      \
	EACH(PRESSURE_AVAILABLE, "host_pressure.available", BYTES, 4096 * MIB, 0, 1LL << 50)       \
	EACH(PRESSURE_SHARE, "host_pressure.share", PERMILLE, 80, 0, 1000)                         \
	EACH(PRESSURE_STALL, "host_pressure.stall", PERMILLE, 100, 1, 1000)                        \
	EACH(PRESSURE_SUSPEND, "host_pressure.suspend", PERMILLE, 700, 1, 1000)                    \
	EACH(SILENT_CPU_AGE_MS, "silent_cpu.age", MS, 60000, 1000, DAY_MS)                         \
	EACH(CORRECTED_COUNT, "hardware.corrected", COUNT, 10, 1, 1000000)                         \
	EACH(CORRECTED_WINDOW_MS, "hardware.window", MS, MIN_MS, 1000, DAY_MS)                     \
	EACH(EVICTION_THRASH_MS, "eviction_storm.thrash_window", MS, 10000, 10, HOUR_MS)           \
	EACH(HEADROOM_LEVEL1, "job_headroom.level1", PERMILLE, 400, 1, 1000)                       \
	EACH(HEADROOM_LEVEL2, "job_headroom.level2", PERMILLE, 500, 1, 1000)                       \
	EACH(HEADROOM_LEVEL3, "job_headroom.level3", PERMILLE, 750, 1, 1000)                       \
	EACH(HEADROOM_AHEAD_MS, "job_headroom.ahead", MS, 5 * MIN_MS, 0, HOUR_MS)                  \
	EACH(HEADROOM_UBATCH_FLOOR, "job_headroom.ubatch_floor", COUNT, 64, 1, 65536)              \
	EACH(WEDGED_SILENT_MS, "engine_wedged.silent", MS, 30000, 1000, DAY_MS)                    \
	EACH(WEDGED_SILENT_BLIND_MS, "engine_wedged.silent_blind", MS, 120000, 1000, DAY_MS)       \
	EACH(RESTORE_RETRIES, "restore_hog.retries", COUNT, 3, 1, 1000000)                         \
	EACH(RESTORE_COUNT, "restore_hog.count", COUNT, 16, 1, 1000000)                            \
	EACH(RESTORE_WINDOW_MS, "restore_hog.window", MS, 10 * MIN_MS, 1000, DAY_MS)               \
	EACH(THRASH_COUNT, "queue_thrash.count", COUNT, 3, 1, 1000000)                             \
	EACH(THRASH_WINDOW_MS, "queue_thrash.window", MS, 2000, 10, HOUR_MS)                       \
	EACH(THRASH_SHARE, "queue_thrash.share", PERMILLE, 150, 1, 1000)                           \
	EACH(THRASH_SHARE3, "queue_thrash.share3", PERMILLE, 500, 1, 1000)                         \
	EACH(FAULT_RETRIES, "fault_storm.retries", COUNT, 1000, 1, 1000000000)                     \
	EACH(RESET_AGAIN_MS, "reset.again", MS, 30 * MIN_MS, 1000, 7 * DAY_MS)                     \
	EACH(ALLOC_LINES, "alloc_failure.lines", COUNT, 6, 1, 1000000)                             \
	EACH(ALLOC_LINES_WINDOW_MS, "alloc_failure.lines_window", MS, MIN_MS, 1000, DAY_MS)        \
	ALL(HOST_ACTS_PER_HOUR, "budget.host_acts_per_hour", COUNT, 30, 0, 100000)                 \
	ALL(SETTLE_MS, "budget.settle", MS, 10000, 0, HOUR_MS)                                     \
	ALL(CLEAN_MS, "agent.clean", MS, 10 * MIN_MS, 1000, 7 * DAY_MS)                            \
	ALL(CLEAN_MAX_MS, "agent.clean_max", MS, DAY_MS, 1000, 30 * DAY_MS)                        \
	EACH(TUNER_SOAK_MS, "tuner.soak", MS, HOUR_MS, 1000, 7 * DAY_MS)                           \
	ALL(PAUSE_LEASE_MS, "hold.pause", MS, 2000, 10, MIN_MS)                                    \
	ALL(THROTTLE_LEASE_MS, "hold.throttle", MS, 30000, 1000, HOUR_MS)                          \
	ALL(THROTTLE_ON, "hold.on", PERMILLE, 500, 10, 990)                                        \
	ALL(THROTTLE_ON_LEAST, "hold.on_least", PERMILLE, 250, 10, 990)                            \
	ALL(CONTEXT_FLOOR, "shrink.context_floor", COUNT, 4096, 256, 1 << 24)                      \
	ALL(BREAKER_QUARANTINE, "breaker.quarantine", COUNT, 4, 1, 1000)                           \
	EACH(CRASH_EXITS, "runner_crash.exits", COUNT, 2, 1, 1000)                                 \
	EACH(CRASH_WINDOW_MS, "runner_crash.window", MS, 10 * MIN_MS, 1000, DAY_MS)                \
	EACH(RESTORE_REBINDS, "restore_hog.rebinds", COUNT, 64, 1, 1000000)                        \
	EACH(PRESSURE_SWAPPED, "host_pressure.swapped", BYTES, 256 * MIB, MIB, 1LL << 50)          \
	EACH(WEDGED_FAILED_GRAPHS, "engine_wedged.failed_graphs", COUNT, 3, 1, 1000000)            \
	ALL(VRAM_ACCOUNT, "agent.vram_account", COUNT, 0, 0, 1)                                    \
	ALL(VRAM_PIN, "agent.vram_pin", COUNT, 0, 0, 1)                                            \
	ALL(ADOPT_LABELS, "agent.adopt_labels", COUNT, 0, 0, 1)

#define DAVY_CONFIG_NUMBER(constant, ...) DAVY_CFG_##constant,

enum davy_config_key {
	DAVY_CONFIG_KEYS(DAVY_CONFIG_NUMBER, DAVY_CONFIG_NUMBER) DAVY_CFG_COUNT,
};

enum davy_unit {
	DAVY_UNIT_COUNT = 0,
	DAVY_UNIT_MS = 1,
	DAVY_UNIT_NS = 2,
	DAVY_UNIT_BYTES = 3,
	DAVY_UNIT_PERMILLE = 4,
	DAVY_UNIT_HTTP = 5,   /* a status code; 0: no reply */
	DAVY_UNIT_STATUS = 6, /* a wait(2) status */
	DAVY_UNIT_MODE = 7,
};

struct davy_config_row {
	const char *name;
	enum davy_unit unit;
	int64_t value; /* default */
	int64_t min;
	int64_t max;
	bool scoped; /* EACH */
};

extern const struct davy_config_row davy_config_rows[DAVY_CFG_COUNT];

#define DAVY_OVERRIDES_MAX    64
#define DAVY_OVERRIDE_REMOVED INT64_MIN /* as a value: the override is removed */

/* A value for one driver, device or model. */
struct davy_override {
	char name[DAVY_MODEL_LEN]; /* '*' matches any letters */
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

/* The rule of that number; false after the last. */
bool davy_config_order(size_t index, struct davy_config_order *ret_order);

void davy_config_defaults(struct davy_config *config);

/* The key's index, or -1. */
int davy_config_find(const char *name);

/* False: the key is unknown or the value out of range; the configuration is unchanged. */
bool davy_config_set(struct davy_config *config, const char *name, int64_t value);

/* Whether the key may have another value for one driver, device or model. */
bool davy_config_scoped(enum davy_config_key key);

/*
 * Sets the value of a scoped key for the drivers, devices or models that "name" matches;
 * DAVY_OVERRIDE_REMOVED removes it. False: unknown key, not a scoped one, unknown scope, out of
 * range, no name, or no room; the configuration is unchanged.
 */
bool davy_config_set_for(struct davy_config *config, uint32_t scope, const char *name,
			 const char *key, int64_t value);

/* That override, or NULL. */
const struct davy_override *davy_config_override(const struct davy_config *config, uint32_t scope,
						 const char *name, enum davy_config_key key);

/*
 * The value for a model on a device of a driver ("": unknown, matches nothing): the model's, else
 * the device's, else the driver's, else the general one. Of several names of one scope, the one
 * with the most letters other than '*' applies; of equals the first in alphabetical order, so that
 * the order in which they were set does not matter.
 */
int64_t davy_config_value_for(const struct davy_config *config, enum davy_config_key key,
			      const char *driver, const char *device, const char *model);

/* Whether "pattern" matches all of "name"; '*' is any letters or none. */
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
