/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "policy/rule.h"

void davy_policy_rule_remove(struct davy_policy_layer *layer, struct davy_rule *rule)
{
	size_t after;

	if (!rule)
		return;
	after = layer->rule_count - (size_t)(rule - layer->rule) - 1;
	memmove(rule, rule + 1, after * sizeof(*rule));
	layer->rule_count--;
}

static const char *condition(const struct davy_policy_layer *layer, const struct davy_rule *rule,
			     enum davy_condition which)
{
	return davy_policy_text(layer, rule->condition[which].text);
}

/* Like the agent's own rules: for a device without an address there are none. */
static bool is_about(const struct davy_policy_layer *layer, const struct davy_rule *rule,
		     const char *device, const char *model)
{
	const char *of_device = condition(layer, rule, DAVY_IF_DEVICE);
	const char *of_model = condition(layer, rule, DAVY_IF_MODEL);
	bool any = model[0] && !device[strcspn(device, ":")];
	char literal[2 * DAVY_MODEL_LEN];

	if (!of_device[0] && !of_model[0])
		return false;
	davy_rule_literal(literal, sizeof(literal), model);
	if (model[0] && !davy_same_name(of_model, literal))
		return false;
	return !device[0] || davy_same_name(of_device, device) || (any && !of_device[0]);
}

size_t davy_policy_rules_forget(struct davy_policy_layer *layer, const char *device,
				const char *model)
{
	uint32_t before = layer->rule_count;

	for (uint32_t i = before; i-- > 0;)
		if (is_about(layer, &layer->rule[i], device, model))
			davy_policy_rule_remove(layer, &layer->rule[i]);
	return before - layer->rule_count;
}
