/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/event.h"

#include <string.h>

static const char *const names[DAVY_TUNER_SETTINGS] = {
	[DAVY_TUNER_UBATCH] = "ubatch",		[DAVY_TUNER_CONTEXT] = "context",
	[DAVY_TUNER_PARALLEL] = "parallel",	[DAVY_TUNER_CACHE_TYPE] = "cache_type",
	[DAVY_TUNER_LAYERS] = "gpu_layers_off",
};

static const char *const cache_names[DAVY_TUNER_CACHE_COUNT] = {
	[DAVY_TUNER_CACHE_Q4_0] = "q4_0",
	[DAVY_TUNER_CACHE_Q8_0] = "q8_0",
	[DAVY_TUNER_CACHE_F16] = "f16",
};

const char *davy_start_setting_name(uint32_t setting)
{
	return setting < DAVY_TUNER_SETTINGS ? names[setting] : "unknown";
}

uint32_t davy_start_setting_get(const struct davy_start_settings *k, uint32_t setting)
{
	switch (setting) {
	case DAVY_TUNER_UBATCH:
		return k->ubatch;
	case DAVY_TUNER_CONTEXT:
		return k->context;
	case DAVY_TUNER_PARALLEL:
		return k->parallel;
	case DAVY_TUNER_CACHE_TYPE:
		return k->cache_type;
	case DAVY_TUNER_LAYERS:
		return k->gpu_layers_off;
	default:
		return 0;
	}
}

bool davy_start_setting_set(struct davy_start_settings *k, uint32_t setting, uint64_t value)
{
	switch (setting) {
	case DAVY_TUNER_UBATCH:
		k->ubatch = (uint32_t)value;
		break;
	case DAVY_TUNER_CONTEXT:
		k->context = (uint32_t)value;
		break;
	case DAVY_TUNER_PARALLEL:
		k->parallel = (uint32_t)value;
		break;
	case DAVY_TUNER_CACHE_TYPE:
		k->cache_type = (uint16_t)value;
		break;
	case DAVY_TUNER_LAYERS:
		k->gpu_layers_off = (uint16_t)value;
		break;
	default:
		return false;
	}
	return davy_start_setting_get(k, setting) == value &&
	       k->cache_type < DAVY_TUNER_CACHE_COUNT;
}

bool davy_start_settings_none(const struct davy_start_settings *k)
{
	static const struct davy_start_settings none;

	return !memcmp(k, &none, sizeof(none));
}

const char *davy_cache_name(uint32_t type)
{
	return type < DAVY_TUNER_CACHE_COUNT && cache_names[type] ? cache_names[type] : "";
}

uint32_t davy_cache_named(const char *name)
{
	for (uint32_t i = 0; i < DAVY_TUNER_CACHE_COUNT; i++)
		if (cache_names[i] && davy_same_name(cache_names[i], name))
			return i;
	return 0;
}
