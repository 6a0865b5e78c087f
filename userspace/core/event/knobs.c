/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/event/event.h"

#include <string.h>

static const char *const names[DL_TUNER_KNOBS] = {
	[DL_TUNER_UBATCH] = "ubatch",	      [DL_TUNER_CONTEXT] = "context",
	[DL_TUNER_PARALLEL] = "parallel",     [DL_TUNER_CACHE_TYPE] = "cache_type",
	[DL_TUNER_LAYERS] = "gpu_layers_off",
};

static const char *const cache_names[DL_TUNER_CACHE_COUNT] = {
	[DL_TUNER_CACHE_Q4_0] = "q4_0",
	[DL_TUNER_CACHE_Q8_0] = "q8_0",
	[DL_TUNER_CACHE_F16] = "f16",
};

const char *dl_knob_name(uint32_t knob)
{
	return knob < DL_TUNER_KNOBS ? names[knob] : "unknown";
}

uint32_t dl_knob_get(const struct dl_knobs *k, uint32_t knob)
{
	switch (knob) {
	case DL_TUNER_UBATCH:
		return k->ubatch;
	case DL_TUNER_CONTEXT:
		return k->context;
	case DL_TUNER_PARALLEL:
		return k->parallel;
	case DL_TUNER_CACHE_TYPE:
		return k->cache_type;
	case DL_TUNER_LAYERS:
		return k->gpu_layers_off;
	default:
		return 0;
	}
}

bool dl_knob_set(struct dl_knobs *k, uint32_t knob, uint64_t value)
{
	switch (knob) {
	case DL_TUNER_UBATCH:
		k->ubatch = (uint32_t)value;
		break;
	case DL_TUNER_CONTEXT:
		k->context = (uint32_t)value;
		break;
	case DL_TUNER_PARALLEL:
		k->parallel = (uint32_t)value;
		break;
	case DL_TUNER_CACHE_TYPE:
		k->cache_type = (uint16_t)value;
		break;
	case DL_TUNER_LAYERS:
		k->gpu_layers_off = (uint16_t)value;
		break;
	default:
		return false;
	}
	return dl_knob_get(k, knob) == value && k->cache_type < DL_TUNER_CACHE_COUNT;
}

bool dl_knobs_none(const struct dl_knobs *k)
{
	static const struct dl_knobs none;

	return !memcmp(k, &none, sizeof(none));
}

const char *dl_cache_name(uint32_t type)
{
	return type < DL_TUNER_CACHE_COUNT && cache_names[type] ? cache_names[type] : "";
}

uint32_t dl_cache_named(const char *name)
{
	for (uint32_t i = 0; i < DL_TUNER_CACHE_COUNT; i++)
		if (cache_names[i] && dl_same_name(cache_names[i], name))
			return i;
	return 0;
}
