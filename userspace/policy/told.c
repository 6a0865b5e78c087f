/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/told.h"

#include <string.h>

uint32_t dl_policy_limit(const struct dl_effective *e, enum dl_policy_key key, uint32_t asked)
{
	uint32_t most = dl_effective_count(e, key);

	return most && (!asked || asked > most) ? most : 0;
}

enum dl_policy_key dl_policy_knob_key(uint32_t knob)
{
	static const enum dl_policy_key keys[DL_TUNER_KNOBS] = {
		[DL_TUNER_UBATCH] = DL_POLICY_UBATCH,
		[DL_TUNER_CONTEXT] = DL_POLICY_CONTEXT,
		[DL_TUNER_PARALLEL] = DL_POLICY_PARALLEL,
		[DL_TUNER_CACHE_TYPE] = DL_POLICY_CACHE_TYPE,
		[DL_TUNER_LAYERS] = DL_POLICY_GPU_LAYERS_OFF,
	};

	return keys[knob];
}

void dl_policy_limits(const struct dl_effective *e, const struct dl_engine_facts *facts,
		      struct dl_knobs *ret_knobs)
{
	*ret_knobs = (struct dl_knobs){
		.ubatch = dl_policy_limit(e, DL_POLICY_UBATCH, facts->ubatch),
		.context = dl_policy_limit(e, DL_POLICY_CONTEXT, facts->context_size),
		.parallel = dl_policy_limit(e, DL_POLICY_PARALLEL, facts->parallel),
	};
	dl_knob_set(ret_knobs, DL_TUNER_LAYERS, dl_effective_count(e, DL_POLICY_GPU_LAYERS_OFF));
	if (e->value[DL_POLICY_CACHE_TYPE].origin.rule)
		ret_knobs->cache_type =
			(uint16_t)dl_cache_named(e->value[DL_POLICY_CACHE_TYPE].text);
}

bool dl_policy_is_agents(const struct dl_effective *e, enum dl_policy_key key)
{
	const struct dl_policy_layer *layer = e->value[key].origin.layer;

	return layer && layer->layer == DL_LAYER_AGENT;
}

enum dl_backend dl_subject_default_backend(const struct dl_policy_subject *s)
{
	return dl_same_name(s->vendor, "nvidia") ? DL_BACKEND_CUDA : DL_BACKEND_VULKAN;
}

enum dl_backend dl_policy_backend(const struct dl_effective *e, uint32_t available)
{
	const uint32_t gpus = available & ~(1u << DL_BACKEND_CPU);

	if (available && !gpus)
		return DL_BACKEND_UNKNOWN; /* it has nothing to choose */
	for (size_t i = 0; i < e->backend_count; i++) {
		enum dl_backend first = e->backends[i];

		if (first == DL_BACKEND_CPU)
			return !available && i ? DL_BACKEND_UNKNOWN : DL_BACKEND_CPU;
		if (gpus == 1u << first)
			return DL_BACKEND_UNKNOWN;
		if (gpus & 1u << first)
			return first;
	}
	return DL_BACKEND_UNKNOWN;
}
