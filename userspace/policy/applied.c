/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/applied.h"

#include <string.h>

uint32_t davy_policy_limit(const struct davy_effective *e, enum davy_policy_key key, uint32_t asked)
{
	uint32_t most = davy_effective_count(e, key);

	return most && (!asked || asked > most) ? most : 0;
}

enum davy_policy_key davy_policy_setting_key(uint32_t setting)
{
	static const enum davy_policy_key keys[DAVY_TUNER_SETTINGS] = {
		[DAVY_TUNER_UBATCH] = DAVY_POLICY_UBATCH,
		[DAVY_TUNER_CONTEXT] = DAVY_POLICY_CONTEXT,
		[DAVY_TUNER_PARALLEL] = DAVY_POLICY_PARALLEL,
		[DAVY_TUNER_CACHE_TYPE] = DAVY_POLICY_CACHE_TYPE,
		[DAVY_TUNER_LAYERS] = DAVY_POLICY_GPU_LAYERS_OFF,
	};

	return keys[setting];
}

void davy_policy_limits(const struct davy_effective *e, const struct davy_engine_facts *facts,
			struct davy_start_settings *ret_settings)
{
	*ret_settings = (struct davy_start_settings){
		.ubatch = davy_policy_limit(e, DAVY_POLICY_UBATCH, facts->ubatch),
		.context = davy_policy_limit(e, DAVY_POLICY_CONTEXT, facts->context_size),
		.parallel = davy_policy_limit(e, DAVY_POLICY_PARALLEL, facts->parallel),
	};
	davy_start_setting_set(ret_settings, DAVY_TUNER_LAYERS,
			       davy_effective_count(e, DAVY_POLICY_GPU_LAYERS_OFF));
	if (e->value[DAVY_POLICY_CACHE_TYPE].origin.rule)
		ret_settings->cache_type =
			(uint16_t)davy_cache_named(e->value[DAVY_POLICY_CACHE_TYPE].text);
}

bool davy_policy_is_agents(const struct davy_effective *e, enum davy_policy_key key)
{
	const struct davy_policy_layer *layer = e->value[key].origin.layer;

	return layer && layer->layer == DAVY_LAYER_AGENT;
}

enum davy_backend davy_policy_backend(const struct davy_effective *e, uint32_t available)
{
	const uint32_t gpus = available & ~(1u << DAVY_BACKEND_CPU);

	if (available && !gpus)
		return DAVY_BACKEND_UNKNOWN; /* there is only one choice */
	for (size_t i = 0; i < e->backend_count; i++) {
		enum davy_backend first = e->backends[i];

		if (first == DAVY_BACKEND_CPU)
			return !available && i ? DAVY_BACKEND_UNKNOWN : DAVY_BACKEND_CPU;
		if (gpus == 1u << first)
			return DAVY_BACKEND_UNKNOWN;
		if (gpus & 1u << first)
			return first;
	}
	return DAVY_BACKEND_UNKNOWN;
}
