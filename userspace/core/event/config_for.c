/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds for one driver, device or model. */
#include <assert.h>
#include <string.h>

#include "core/event/config.h"
#include "core/event/event.h"

bool davy_config_scoped(enum davy_config_key key)
{
	return davy_config_rows[key].scoped;
}

/* Backtracks only to the last '*': at most the product of the two lengths. */
bool davy_name_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			resume = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static struct davy_override *config_for_find(struct davy_config *config, uint32_t scope,
					     const char *name, uint16_t key)
{
	for (uint32_t i = 0; i < config->override_count; i++) {
		struct davy_override *o = &config->override[i];

		if (o->key == key && o->scope == scope && davy_same_name(o->name, name))
			return o;
	}
	return NULL;
}

const struct davy_override *davy_config_override(const struct davy_config *config, uint32_t scope,
						 const char *name, enum davy_config_key key)
{
	return config_for_find((struct davy_config *)config, scope, name, (uint16_t)key);
}

static void config_for_take_out(struct davy_config *config, struct davy_override *o)
{
	size_t after = (size_t)(config->override + config->override_count - (o + 1));

	memmove(o, o + 1, after * sizeof(*o));
	config->override_count--;
	memset(&config->override[config->override_count], 0, sizeof(*o));
}

bool davy_config_set_for(struct davy_config *config, uint32_t scope, const char *name,
			 const char *key, int64_t value)
{
	int index = davy_config_find(key);
	struct davy_override *o;

	assert(config->override_count <= DAVY_OVERRIDES_MAX);
	if (index < 0 || !davy_config_rows[index].scoped || scope < DAVY_SCOPE_DRIVER ||
	    scope >= DAVY_SCOPE_COUNT || !name[0])
		return false;
	o = config_for_find(config, scope, name, (uint16_t)index);
	if (value == DAVY_OVERRIDE_REMOVED) {
		if (o)
			config_for_take_out(config, o);
		return true;
	}
	if (value < davy_config_rows[index].min || value > davy_config_rows[index].max)
		return false;
	if (!o) {
		if (config->override_count == DAVY_OVERRIDES_MAX)
			return false;
		o = &config->override[config->override_count++];
		davy_copy_name(o->name, sizeof(o->name), name);
		o->key = (uint16_t)index;
		o->scope = (uint8_t)scope;
	}
	o->value = value;
	return true;
}

/* The specificity of a pattern: its number of letters, plus one if it has no '*'. */
static size_t letters(const char *pattern)
{
	size_t count = 1;

	for (const char *at = pattern; *at; at++) {
		if (*at != '*')
			count += 2;
		else
			count &= ~(size_t)1;
	}
	return count;
}

int64_t davy_config_value_for(const struct davy_config *config, enum davy_config_key key,
			      const char *driver, const char *device, const char *model)
{
	const char *names[DAVY_SCOPE_COUNT] = { [DAVY_SCOPE_DRIVER] = driver,
						[DAVY_SCOPE_DEVICE] = device,
						[DAVY_SCOPE_MODEL] = model };
	const struct davy_override *best = NULL;
	size_t narrow = 0;

	for (uint32_t i = 0; i < config->override_count; i++) {
		const struct davy_override *o = &config->override[i];
		size_t own;

		if (o->key != key || (best && o->scope < best->scope) || !names[o->scope][0] ||
		    !davy_name_matches(o->name, names[o->scope]))
			continue;
		own = letters(o->name);
		if (best && o->scope == best->scope &&
		    (own < narrow || (own == narrow && strcmp(o->name, best->name) > 0)))
			continue;
		best = o;
		narrow = own;
	}
	return best ? best->value : config->value[key];
}
