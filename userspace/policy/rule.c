/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/rule.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 190 /* of a key and its value: libinih reads 198 */

static const char *const layer_names[DAVY_LAYER_COUNT] = { "shipped", "fleet", "administrator",
							   "agent" };

static const char *const condition_names[DAVY_IF_COUNT] = {
	[DAVY_IF_DRIVER] = "driver",
	[DAVY_IF_DEVICE] = "device",
	[DAVY_IF_VENDOR] = "vendor",
	[DAVY_IF_KIND] = "kind",
	[DAVY_IF_GFX] = "gfx",
	[DAVY_IF_GENERATION] = "generation",
	[DAVY_IF_FIRMWARE] = "firmware",
	[DAVY_IF_KERNEL] = "kernel",
	[DAVY_IF_ENGINE] = "engine",
	[DAVY_IF_MODEL] = "model",
	[DAVY_IF_BACKEND] = "backend",
	[DAVY_IF_COMPUTE_UNITS_BELOW] = "compute_units_below",
	[DAVY_IF_CONTEXT_ABOVE] = "context_above",
	[DAVY_IF_LOCKUP_BELOW] = "lockup_below",
	[DAVY_IF_KNOWN] = "known",
	[DAVY_IF_PCI] = "pci",
	[DAVY_IF_MODEL_HASH] = "model_hash",
};

static const char *const key_names[DAVY_POLICY_KEY_COUNT] = {
	[DAVY_POLICY_BACKENDS] = "backends",
	[DAVY_POLICY_UBATCH] = "ubatch",
	[DAVY_POLICY_UBATCH_FLOOR] = "ubatch_floor",
	[DAVY_POLICY_CONTEXT] = "context",
	[DAVY_POLICY_PARALLEL] = "parallel",
	[DAVY_POLICY_GPU_LAYERS_OFF] = "gpu_layers_off",
	[DAVY_POLICY_CACHE_TYPE] = "cache_type",
	[DAVY_POLICY_MODE] = "mode",
	[DAVY_POLICY_WARN] = "warn",
	[DAVY_POLICY_ENVIRONMENT] = "environment",
	[DAVY_POLICY_ARGUMENT] = "argument",
	[DAVY_POLICY_VRAM_MAX] = "vram_max",
	[DAVY_POLICY_VRAM_HIGH] = "vram_high",
	[DAVY_POLICY_VRAM_RESERVE] = "vram_reserve",
	[DAVY_POLICY_VRAM_PROTECT] = "vram_protect",
	[DAVY_POLICY_THRESHOLD] = "threshold",
};

static const char *const cache_type_names[DAVY_CACHE_TYPE_COUNT] = { "any", "f16", "q8_0", "q4_0" };
static const char *const vendor_names[] = { "amd", "intel", "nvidia" };
static const char *const kind_names[] = { "igpu", "dgpu" };
static const char *const known_names[] = { "no", "yes" };

/*
 * By age; gen12 is Xe-LP, xe-hpg Alchemist, xe-lpg Meteor and Arrow Lake, xe2 Lunar Lake and
 * Battlemage.
 */
static const char *const generation_names[] = { "gen7",	  "gen8",   "gen9", "gen11", "gen12",
						"xe-hpg", "xe-lpg", "xe2",  "xe3" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *davy_layer_name(enum davy_layer layer)
{
	assert(layer < DAVY_LAYER_COUNT);
	return layer_names[layer];
}

bool davy_fleet_may(uint32_t key)
{
	return key == DAVY_POLICY_BACKENDS || key == DAVY_POLICY_UBATCH ||
	       key == DAVY_POLICY_VRAM_RESERVE || key == DAVY_POLICY_WARN;
}

const char *davy_condition_name(uint32_t condition)
{
	return condition < DAVY_IF_COUNT ? condition_names[condition] : NULL;
}

const char *davy_policy_key_name(uint32_t key)
{
	return key < DAVY_POLICY_KEY_COUNT ? key_names[key] : NULL;
}

const char *davy_cache_type_name(uint32_t type)
{
	return type < DAVY_CACHE_TYPE_COUNT ? cache_type_names[type] : NULL;
}

const char *davy_vendor_name(uint32_t index)
{
	return index < COUNT(vendor_names) ? vendor_names[index] : NULL;
}

const char *davy_kind_name(uint32_t index)
{
	return index < COUNT(kind_names) ? kind_names[index] : NULL;
}

const char *davy_generation_name(uint32_t index)
{
	return index < COUNT(generation_names) ? generation_names[index] : NULL;
}

const char *davy_known_name(uint32_t index)
{
	return index < COUNT(known_names) ? known_names[index] : NULL;
}

uint32_t davy_backends_pack(const enum davy_backend *list, size_t count)
{
	uint32_t packed = 0;

	assert(count < DAVY_BACKEND_COUNT && DAVY_BACKEND_COUNT <= 8);
	for (size_t i = 0; i < count; i++)
		packed |= (uint32_t)list[i] << (4 * i);
	return packed;
}

size_t davy_backends_unpack(uint32_t packed, enum davy_backend list[DAVY_BACKEND_COUNT])
{
	size_t count = 0;

	for (; packed & 15 && count < DAVY_BACKEND_COUNT; packed >>= 4) {
		assert((packed & 15) < DAVY_BACKEND_COUNT);
		list[count++] = (enum davy_backend)(packed & 15);
	}
	return count;
}

void davy_policy_layer_init(struct davy_policy_layer *layer, enum davy_layer kind)
{
	layer->layer = kind;
	layer->path[0] = 0;
	layer->rule_count = 0;
	layer->text_used = 1;
	layer->text[0] = 0;
}

void davy_policy_layer_copy(struct davy_policy_layer *dst, const struct davy_policy_layer *src)
{
	dst->layer = src->layer;
	dst->rule_count = src->rule_count;
	dst->text_used = src->text_used;
	memcpy(dst->path, src->path, sizeof(dst->path));
	memcpy(dst->rule, src->rule, src->rule_count * sizeof(src->rule[0]));
	memcpy(dst->text, src->text, src->text_used);
}

const char *davy_policy_text(const struct davy_policy_layer *layer, uint32_t at)
{
	assert(at < DAVY_POLICY_TEXT_MAX);
	return layer->text + at;
}

/* An empty text gets a place too, so that it differs from a missing one. */
static int rule_keep(struct davy_policy_layer *layer, const char *text, uint32_t *ret_at)
{
	size_t size = strlen(text) + 1;

	if (size > DAVY_RULE_TEXT_LEN)
		return -EINVAL;
	if (size > DAVY_POLICY_TEXT_MAX - layer->text_used)
		return -ENOSPC;
	memcpy(layer->text + layer->text_used, text, size);
	*ret_at = layer->text_used;
	layer->text_used += (uint32_t)size;
	return 0;
}

struct davy_rule *davy_policy_rule_find(struct davy_policy_layer *layer, const char *name)
{
	for (uint32_t i = 0; i < layer->rule_count; i++)
		if (davy_same_name(layer->rule[i].name, name))
			return &layer->rule[i];
	return NULL;
}

struct davy_rule *davy_policy_rule_add(struct davy_policy_layer *layer, const char *name)
{
	struct davy_rule *rule;
	size_t len = strlen(name);

	if (!len || len >= DAVY_RULE_NAME_LEN ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] ||
	    layer->rule_count == DAVY_RULES_MAX || davy_policy_rule_find(layer, name))
		return NULL;
	rule = &layer->rule[layer->rule_count++];
	memset(rule, 0, sizeof(*rule));
	memcpy(rule->name, name, len);
	return rule;
}

int davy_rule_if(struct davy_policy_layer *layer, struct davy_rule *rule,
		 enum davy_condition condition, const char *text, uint64_t number)
{
	struct davy_rule_condition *c = &rule->condition[condition];
	int err = rule_keep(layer, text, &c->text);

	if (!err)
		c->number = number;
	return err;
}

static bool has_name(uint32_t key)
{
	return key == DAVY_POLICY_ENVIRONMENT || key == DAVY_POLICY_ARGUMENT;
}

static struct davy_rule_value *rule_value_of(const struct davy_policy_layer *layer,
					     struct davy_rule *rule, enum davy_policy_key key,
					     const char *name)
{
	for (size_t i = 0; i < rule->value_count; i++) {
		struct davy_rule_value *v = &rule->value[i];

		if (v->key == key &&
		    (!name || davy_same_name(davy_policy_text(layer, v->name), name)))
			return v;
	}
	return rule->value_count < DAVY_RULE_VALUES_MAX ? &rule->value[rule->value_count] : NULL;
}

int davy_rule_set(struct davy_policy_layer *layer, struct davy_rule *rule, enum davy_policy_key key,
		  const char *name, const char *text, uint32_t number)
{
	struct davy_rule_value *v = rule_value_of(layer, rule, key, name), now = { .key = key };
	int err = v ? 0 : -ENOSPC;

	assert(has_name(key) == (name != NULL));
	if (!err && (name ? strlen(name) : 0) + strlen(text) > LINE_MAX_BYTES - 20)
		err = -EINVAL;
	if (!err && name)
		err = rule_keep(layer, name, &now.name);
	if (!err)
		err = rule_keep(layer, text, &now.text);
	if (err)
		return err;
	now.number = number;
	if (v == &rule->value[rule->value_count])
		rule->value_count++;
	*v = now;
	return 0;
}

int davy_rule_set_count(struct davy_policy_layer *layer, struct davy_rule *rule,
			enum davy_policy_key key, uint32_t count)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", count);
	return davy_rule_set(layer, rule, key, NULL, text, count);
}

/* Cut between characters, and without signs that would begin a comment. */
static int keep_said(struct davy_policy_layer *layer, const char *text, uint32_t *ret_at)
{
	char said[DAVY_RULE_TEXT_LEN];
	size_t len = strnlen(text, sizeof(said) - 1);

	while (text[len] && len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	memcpy(said, text, len);
	said[len] = 0;
	for (size_t i = 1; i < len; i++)
		if (said[i] == ';' && said[i - 1] == ' ')
			said[i] = ',';
	return rule_keep(layer, said, ret_at);
}

int davy_rule_say(struct davy_policy_layer *layer, struct davy_rule *rule, const char *reason,
		  const char *source, const char *date)
{
	int err = reason ? keep_said(layer, reason, &rule->reason) : 0;

	if (!err && source)
		err = keep_said(layer, source, &rule->source);
	if (!err && date)
		err = keep_said(layer, date, &rule->date);
	return err;
}

void davy_rule_literal(char *dst, size_t size, const char *name)
{
	davy_copy_name(dst, size, name);
	for (char *at = dst; *at; at++)
		if (*at == ',' || *at == ';')
			*at = '*';
}
