/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/config_section.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/event/event.h"
#include "lib/text.h"

static const char *const scopes[DAVY_SCOPE_COUNT] = { NULL, "driver", "device", "model" };

const char *davy_scope_name(uint32_t scope)
{
	return scope < DAVY_SCOPE_COUNT && scopes[scope] ? scopes[scope] : "none";
}

/* The section of a key: its name up to the dot. */
static bool in_section(enum davy_config_key key, const char *section)
{
	size_t len = strlen(section);

	return !strncmp(davy_config_rows[key].name, section, len) &&
	       davy_config_rows[key].name[len] == '.';
}

static bool known(const char *section)
{
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		if (in_section((enum davy_config_key)i, section))
			return true;
	return false;
}

/* The part of a key's name before the dot, or after it. */
static void part_of(enum davy_config_key key, bool section, char part[DAVY_SECTION_LEN])
{
	const char *name = davy_config_rows[key].name, *dot = strchr(name, '.');

	if (section)
		snprintf(part, DAVY_SECTION_LEN, "%.*s", (int)(dot - name), name);
	else
		snprintf(part, DAVY_SECTION_LEN, "%s", dot + 1);
}

/* The nearest section, or the nearest key of one; "" if nothing is similar. */
static void config_section_nearest(const char *typed, const char *section,
				   char best[DAVY_SECTION_LEN])
{
	size_t least = DAVY_WORD_MAX;

	best[0] = 0;
	for (int i = 0; i < DAVY_CFG_COUNT; i++) {
		char part[DAVY_SECTION_LEN];

		if (section && !in_section((enum davy_config_key)i, section))
			continue;
		part_of((enum davy_config_key)i, !section, part);
		if (!davy_text_near(typed, part) || davy_text_distance(typed, part) >= least)
			continue;
		least = davy_text_distance(typed, part);
		snprintf(best, DAVY_SECTION_LEN, "%s", part);
	}
}

static int unknown_section(const char *name, char *why, size_t size)
{
	char best[DAVY_SECTION_LEN];

	config_section_nearest(name, NULL, best);
	snprintf(why, size,
		 "unknown section '%s', expected agent, restart, budget, hold, shrink, breaker, "
		 "tuner, foresight or a hazard's name%s%s%s",
		 name, best[0] ? " (did you mean '" : "; see davylamp.conf(5)", best,
		 best[0] ? "'?)" : "");
	return -EBADMSG;
}

void davy_section_unknown_key(const struct davy_section *s, const char *key, char *why, size_t size)
{
	char part[DAVY_SECTION_LEN];
	size_t used;

	used = (size_t)snprintf(why, size, "unknown key '%s.%s', expected one of", s->name, key);
	for (int i = 0; i < DAVY_CFG_COUNT; i++) {
		if (!in_section((enum davy_config_key)i, s->name) || used >= size)
			continue;
		part_of((enum davy_config_key)i, false, part);
		used += (size_t)snprintf(why + used, size - used, " %s", part);
	}
	config_section_nearest(key, s->name, part);
	if (part[0] && used < size)
		snprintf(why + used, size - used, " (did you mean '%s'?)", part);
}

static int take_scope(const char *text, struct davy_section *s, char *why, size_t size)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);

	for (uint32_t i = DAVY_SCOPE_DRIVER; i < DAVY_SCOPE_COUNT; i++)
		if (strlen(scopes[i]) == len && !memcmp(text, scopes[i], len))
			s->scope = i;
	if (!equals || !s->scope) {
		snprintf(why, size,
			 "unknown word '%s' in section '%s', expected driver=NAME, device=ADDRESS "
			 "or model=NAME",
			 text, s->name);
		return -EBADMSG;
	}
	len = strlen(equals + 1);
	while (len && (equals[len] == ' ' || equals[len] == '\t'))
		len--;
	if (!len || len >= sizeof(s->target)) {
		snprintf(why, size, "'%s=' needs a name of 1 to %zu bytes, '*' for any letters",
			 scopes[s->scope], sizeof(s->target) - 1);
		return -EBADMSG;
	}
	memcpy(s->target, equals + 1, len); /* initialised to 0 */
	return 0;
}

int davy_section_parse(const char *text, struct davy_section *ret_section, char *why, size_t size)
{
	struct davy_section s = { 0 };
	const char *rest = text + strcspn(text, " \t");
	int err;

	if ((size_t)(rest - text) >= sizeof(s.name))
		return unknown_section(text, why, size);
	memcpy(s.name, text, (size_t)(rest - text));
	if (!known(s.name))
		return unknown_section(s.name, why, size);
	rest += strspn(rest, " \t");
	err = *rest ? take_scope(rest, &s, why, size) : 0;
	if (!err)
		*ret_section = s;
	return err;
}
