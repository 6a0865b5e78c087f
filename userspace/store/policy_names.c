/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/policy_names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "policy/effective.h"

#define WORDS_MAX 32

/* Names that are allowed at one place. */
struct words {
	const char *at[WORDS_MAX];
	size_t count;
};

bool davy_policy_wrong_at(struct davy_policy_wrong *wrong, size_t offset, const char *format, ...)
{
	va_list list;

	wrong->offset = offset;
	va_start(list, format);
	vsnprintf(wrong->why, sizeof(wrong->why), format, list);
	va_end(list);
	return false;
}

static void policy_names_add(struct words *w, const char *name)
{
	if (name && w->count < WORDS_MAX)
		w->at[w->count++] = name;
}

static void add_all(struct words *w, const char *(*name)(uint32_t))
{
	for (uint32_t i = 0; name(i); i++)
		policy_names_add(w, name(i));
}

static const char *policy_names_nearest(const struct words *w, const char *typed)
{
	const char *best = NULL;
	size_t least = DAVY_WORD_MAX;

	for (size_t i = 0; i < w->count; i++) {
		size_t distance = davy_text_distance(typed, w->at[i]);

		if (!davy_text_near(typed, w->at[i]) || distance >= least)
			continue;
		least = distance;
		best = w->at[i];
	}
	return best;
}

static bool policy_names_unknown(struct davy_policy_wrong *wrong, size_t offset, const char *what,
				 const char *typed, const struct words *w)
{
	const char *best = policy_names_nearest(w, typed);
	size_t used;

	davy_policy_wrong_at(wrong, offset, "unknown %s '%.80s', expected one of", what, typed);
	used = strlen(wrong->why);
	for (size_t i = 0; i < w->count && used < sizeof(wrong->why); i++)
		used += (size_t)snprintf(wrong->why + used, sizeof(wrong->why) - used, " %s",
					 w->at[i]);
	if (best && used < sizeof(wrong->why))
		snprintf(wrong->why + used, sizeof(wrong->why) - used, " (did you mean '%s'?)",
			 best);
	return false;
}

void davy_policy_unknown_condition(const char *typed, struct davy_policy_wrong *wrong)
{
	struct words w = { .count = 0 };

	add_all(&w, davy_condition_name);
	policy_names_unknown(wrong, 0, "condition", typed, &w);
}

void davy_policy_unknown_key(const char *typed, struct davy_policy_wrong *wrong)
{
	struct words w = { .count = 0 };

	policy_names_add(&w, "if");
	add_all(&w, davy_policy_key_name);
	policy_names_add(&w, "pin");
	policy_names_add(&w, "because");
	policy_names_add(&w, "source");
	policy_names_add(&w, "date");
	policy_names_unknown(wrong, 0, "key", typed, &w);
}

static void add_backends(struct words *w)
{
	for (int i = 1; i < DAVY_BACKEND_COUNT; i++)
		policy_names_add(w, davy_backend_name((enum davy_backend)i));
}

/* The names that a condition accepts; none: any name. */
static void known_of(enum davy_condition condition, struct words *w)
{
	w->count = 0;
	if (condition == DAVY_IF_VENDOR)
		add_all(w, davy_vendor_name);
	else if (condition == DAVY_IF_KIND)
		add_all(w, davy_kind_name);
	else if (condition == DAVY_IF_GENERATION)
		add_all(w, davy_generation_name);
	else if (condition == DAVY_IF_KNOWN)
		add_all(w, davy_known_name);
	else if (condition == DAVY_IF_BACKEND)
		add_backends(w);
	else if (condition == DAVY_IF_ENGINE)
		for (int i = 1; i < DAVY_ENGINE_COUNT; i++)
			policy_names_add(w, davy_engine_name((enum davy_engine)i));
}

/* Iterates over "a, b"; 0 bytes: an empty name, or the end. */
static size_t word_at(const char *text, size_t *offset, char *ret_word, size_t size)
{
	const char *at = text + *offset;
	size_t blanks = strspn(at, " \t"), len = strcspn(at + blanks, ",");

	*offset += blanks;
	while (len && strchr(" \t", at[blanks + len - 1]))
		len--;
	snprintf(ret_word, size, "%.*s", (int)len, at + blanks);
	return len;
}

static bool fits_one(const struct words *w, const char *pattern)
{
	for (size_t i = 0; i < w->count; i++)
		if (davy_pattern_fits(pattern, w->at[i]))
			return true;
	return !w->count;
}

bool davy_policy_patterns_read(enum davy_condition condition, const char *text,
			       struct davy_policy_wrong *wrong)
{
	char word[DAVY_RULE_TEXT_LEN];
	struct words w;

	known_of(condition, &w);
	for (size_t offset = 0;; offset++) {
		size_t len = word_at(text, &offset, word, sizeof(word));

		if (!len)
			return davy_policy_wrong_at(
				wrong, offset,
				"nothing here, expected a name, several as 'a, b', '*' for "
				"any letters");
		if (!fits_one(&w, word))
			return policy_names_unknown(wrong, offset, davy_condition_name(condition),
						    word, &w);
		offset += strcspn(text + offset, ",");
		if (!text[offset])
			return true;
	}
}

bool davy_policy_backends_read(const char *text, uint32_t *ret_number,
			       struct davy_policy_wrong *wrong)
{
	struct words w = { .count = 0 };
	enum davy_backend list[DAVY_BACKEND_COUNT];
	unsigned int seen = 0;
	size_t count = 0;
	char word[DAVY_RULE_TEXT_LEN];

	add_backends(&w);
	for (size_t offset = 0;; offset++) {
		size_t len = word_at(text, &offset, word, sizeof(word));
		int backend = davy_backend_from_name(word);

		if (!len)
			return davy_policy_wrong_at(wrong, offset,
						    "nothing here, expected a backend, several "
						    "as 'vulkan, cpu'");
		if (backend <= 0)
			return policy_names_unknown(wrong, offset, "backend", word, &w);
		if (seen & 1u << backend)
			return davy_policy_wrong_at(wrong, offset, "duplicate '%s'", word);
		seen |= 1u << backend;
		list[count++] = (enum davy_backend)backend;
		offset += strcspn(text + offset, ",");
		if (!text[offset])
			break;
	}
	*ret_number = davy_backends_pack(list, count);
	return true;
}

bool davy_policy_cache_type_read(const char *text, uint32_t *ret_number,
				 struct davy_policy_wrong *wrong)
{
	struct words w = { .count = 0 };

	for (uint32_t i = 0; i < DAVY_CACHE_TYPE_COUNT; i++) {
		policy_names_add(&w, davy_cache_type_name(i));
		*ret_number = i;
		if (davy_same_name(text, davy_cache_type_name(i)))
			return true;
	}
	return policy_names_unknown(wrong, 0, "cache type", text, &w);
}

bool davy_policy_mode_read(const char *text, uint32_t *ret_number, struct davy_policy_wrong *wrong)
{
	struct words w = { .count = 0 };
	int mode = davy_mode_from_name(text);

	for (int i = 0; i < DAVY_MODE_COUNT; i++)
		policy_names_add(&w, davy_mode_name((enum davy_mode)i));
	if (mode < 0)
		return policy_names_unknown(wrong, 0, "mode", text, &w);
	*ret_number = (uint32_t)mode;
	return true;
}
