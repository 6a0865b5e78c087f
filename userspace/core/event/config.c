/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/config.h"

#include <string.h>

#define MIN_MS	60000LL
#define HOUR_MS (60 * MIN_MS)
#define DAY_MS	(24 * HOUR_MS)
#define MIB	(1LL << 20)

#define ALL(constant, name, unit, value, min, max)                                                 \
	[DAVY_CFG_##constant] = { name, DAVY_UNIT_##unit, value, min, max, false },
#define EACH(constant, name, unit, value, min, max)                                                \
	[DAVY_CFG_##constant] = { name, DAVY_UNIT_##unit, value, min, max, true },

const struct davy_config_row davy_config_rows[DAVY_CFG_COUNT] = { DAVY_CONFIG_KEYS(ALL, EACH) };

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
