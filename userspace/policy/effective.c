/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/effective.h"

#include <string.h>

/* Whether a list names a backend that the other one does not; no list names all. */
static bool names_others(uint32_t list, uint32_t than)
{
	enum davy_backend one[DAVY_BACKEND_COUNT], other[DAVY_BACKEND_COUNT];
	size_t count = davy_backends_unpack(list, one), others = davy_backends_unpack(than, other);
	uint32_t known = 0;

	for (size_t i = 0; i < others; i++)
		known |= 1u << other[i];
	for (size_t i = 0; i < count; i++)
		if (others && !(known & 1u << one[i]))
			return true;
	return !count;
}

/* A rule of the fleet may lower a limit, raise a reserve, or reorder and remove backends. */
static bool narrows(const struct davy_policy_value *slot, uint32_t key,
		    const struct davy_policy_value *now)
{
	switch (key) {
	case DAVY_POLICY_UBATCH:
		return now->number && (!slot->number || now->number < slot->number);
	case DAVY_POLICY_VRAM_RESERVE:
		return now->number > slot->number;
	case DAVY_POLICY_BACKENDS:
		return !names_others(now->number, slot->number);
	default:
		return davy_fleet_may(key);
	}
}

/* Layers and their rules are applied in order: later ones take precedence, except over pins. */
static void effective_place(struct davy_policy_value *slot, const struct davy_policy_value *now)
{
	if (slot->origin.pinned && slot->origin.layer != now->origin.layer)
		return;
	*slot = *now;
}

static void place_named(struct davy_policy_value *list, size_t *count, uint32_t *left_out,
			const struct davy_policy_value *now)
{
	for (size_t i = 0; i < *count; i++) {
		if (!davy_same_name(list[i].name, now->name))
			continue;
		effective_place(&list[i], now);
		return;
	}
	if (*count == DAVY_POLICY_NAMED_MAX)
		(*left_out)++;
	else
		list[(*count)++] = *now;
}

static void effective_take(struct davy_effective *e, uint32_t key,
			   const struct davy_policy_value *now)
{
	if (now->origin.layer->layer == DAVY_LAYER_FLEET &&
	    (!davy_fleet_may(key) || !narrows(&e->value[key], key, now)))
		return;
	if (key == DAVY_POLICY_ENVIRONMENT)
		place_named(e->environment, &e->environment_count, &e->left_out, now);
	else if (key == DAVY_POLICY_ARGUMENT)
		place_named(e->argument, &e->argument_count, &e->left_out, now);
	else
		effective_place(&e->value[key], now);
}

static void effective_take_rule(struct davy_effective *e, const struct davy_policy_layer *layer,
				const struct davy_rule *rule, bool backends)
{
	for (size_t i = 0; i < rule->value_count; i++) {
		const struct davy_rule_value *v = &rule->value[i];
		struct davy_policy_value now = {
			.name = v->name ? davy_policy_text(layer, v->name) : NULL,
			.text = davy_policy_text(layer, v->text),
			.number = v->number,
			.origin = { layer, rule, v->line,
				    rule->pin && layer->layer == DAVY_LAYER_ADMIN },
		};

		if ((v->key == DAVY_POLICY_BACKENDS) == backends)
			effective_take(e, v->key, &now);
	}
}

static void effective_pass(const struct davy_policy_set *set,
			   const struct davy_policy_subject *subject, bool backends,
			   struct davy_effective *e)
{
	for (int i = 0; i < DAVY_LAYER_COUNT; i++) {
		const struct davy_policy_layer *layer = set->layer[i];

		for (uint32_t j = 0; layer && j < layer->rule_count; j++) {
			const struct davy_rule *rule = &layer->rule[j];

			if (davy_rule_fits(layer, rule, subject, e->backend))
				effective_take_rule(e, layer, rule, backends);
		}
	}
}

static bool available(const struct davy_policy_subject *s, enum davy_backend backend)
{
	return !s->available || backend == DAVY_BACKEND_CPU || s->available & 1u << backend;
}

static void effective_choose(const struct davy_policy_subject *s, struct davy_effective *e)
{
	enum davy_backend list[DAVY_BACKEND_COUNT];
	size_t count = davy_backends_unpack(e->value[DAVY_POLICY_BACKENDS].number, list);

	for (size_t i = 0; i < count; i++)
		if (available(s, list[i]))
			e->backends[e->backend_count++] = list[i];
	e->none_left = count && !e->backend_count;
	e->backend = s->backend;
	e->against = s->forced && !davy_effective_allows(e, s->backend);
	if (e->backend_count && !(s->forced && s->backend))
		e->backend = e->backends[0];
}

/* A value that a later layer has emptied is not set by the policy. */
static void drop_emptied(struct davy_effective *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->environment_count; i++)
		if (e->environment[i].text[0])
			e->environment[kept++] = e->environment[i];
	e->environment_count = kept;
}

void davy_policy_effective(const struct davy_policy_set *set,
			   const struct davy_policy_subject *subject,
			   struct davy_effective *ret_effective)
{
	struct davy_effective *e = ret_effective;

	memset(e, 0, sizeof(*e));
	effective_pass(set, subject, true, e);
	effective_choose(subject, e);
	effective_pass(set, subject, false, e);
	drop_emptied(e);
}

bool davy_effective_allows(const struct davy_effective *e, enum davy_backend backend)
{
	enum davy_backend list[DAVY_BACKEND_COUNT];
	size_t count = davy_backends_unpack(e->value[DAVY_POLICY_BACKENDS].number, list);

	for (size_t i = 0; i < count; i++)
		if (list[i] == backend)
			return true;
	return !count;
}

uint32_t davy_effective_count(const struct davy_effective *e, enum davy_policy_key key)
{
	return e->value[key].number;
}
