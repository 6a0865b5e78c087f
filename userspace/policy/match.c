/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "policy/effective.h"
#include "engines/engine.h"

static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* '*' matches any letters. Backtracks only to the last one: at most the product of both lengths. */
static bool glob(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;

	while (t < len) {
		if (p < pattern_len && pattern[p] == '*') {
			star = p++;
			resume = t;
		} else if (p < pattern_len && folded(pattern[p]) == folded(text[t])) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}

/* The next word of "a, b", without surrounding blanks; advances *at. */
static const char *next_word(const char **at, size_t *ret_len)
{
	const char *word = *at + strspn(*at, " \t,");
	size_t len = strcspn(word, ",");

	*at = word + len;
	while (len && (word[len - 1] == ' ' || word[len - 1] == '\t'))
		len--;
	*ret_len = len;
	return word;
}

static bool one_fits(const char *patterns, const char *text, size_t text_len)
{
	const char *pattern;
	size_t len;

	if (!text_len)
		return false;
	for (const char *at = patterns; pattern = next_word(&at, &len), len;)
		if (glob(pattern, len, text, text_len))
			return true;
	return false;
}

bool davy_pattern_fits(const char *patterns, const char *text)
{
	return one_fits(patterns, text, strlen(text));
}

/* A device has several firmwares; one match suffices. */
static bool firmware_fits(const char *patterns, const char *firmware)
{
	const char *entry;
	size_t len;

	for (const char *at = firmware; entry = next_word(&at, &len), len;)
		if (one_fits(patterns, entry, len))
			return true;
	return false;
}

/* A runner is configured by its daemon, so rules for the daemon apply to it too. */
static bool engine_fits(const char *patterns, enum davy_engine engine)
{
	enum davy_engine by = davy_engine_configured_by(engine);

	if (engine == DAVY_ENGINE_NONE)
		return false;
	return davy_pattern_fits(patterns, davy_engine_name(engine)) ||
	       (by != DAVY_ENGINE_NONE && davy_pattern_fits(patterns, davy_engine_name(by)));
}

static const char *text_fact(const struct davy_policy_subject *s, enum davy_condition condition)
{
	switch (condition) {
	case DAVY_IF_DRIVER:
		return s->driver;
	case DAVY_IF_DEVICE:
		return s->device;
	case DAVY_IF_VENDOR:
		return s->vendor;
	case DAVY_IF_KIND:
		return s->kind;
	case DAVY_IF_GFX:
		return s->gfx;
	case DAVY_IF_GENERATION:
		return s->generation;
	case DAVY_IF_KERNEL:
		return s->kernel;
	case DAVY_IF_PCI:
		return s->pci;
	case DAVY_IF_KNOWN:
		return s->known ? davy_known_name(s->known - 1) : "";
	default:
		return s->model;
	}
}

static bool holds(enum davy_condition condition, const char *text, uint64_t number,
		  const struct davy_policy_subject *s, enum davy_backend backend)
{
	char hash[DAVY_MODEL_HASH_LEN];

	switch (condition) {
	case DAVY_IF_MODEL_HASH:
		davy_model_hash(s->model, hash);
		return s->model[0] && davy_pattern_fits(text, hash);
	case DAVY_IF_FIRMWARE:
		return firmware_fits(text, s->firmware);
	case DAVY_IF_ENGINE:
		return engine_fits(text, s->engine);
	case DAVY_IF_BACKEND:
		return backend != DAVY_BACKEND_UNKNOWN &&
		       davy_pattern_fits(text, davy_backend_name(backend));
	case DAVY_IF_COMPUTE_UNITS_BELOW:
		return s->compute_units && s->compute_units < number;
	case DAVY_IF_CONTEXT_ABOVE:
		return s->context > number;
	case DAVY_IF_LOCKUP_BELOW:
		return backend != DAVY_BACKEND_UNKNOWN && s->lockup_ns[backend] &&
		       s->lockup_ns[backend] < number;
	default:
		return davy_pattern_fits(text, text_fact(s, condition));
	}
}

bool davy_rule_fits(const struct davy_policy_layer *layer, const struct davy_rule *rule,
		    const struct davy_policy_subject *subject, enum davy_backend backend)
{
	for (int i = 0; i < DAVY_IF_COUNT; i++) {
		const struct davy_rule_condition *c = &rule->condition[i];

		if (c->text && !holds((enum davy_condition)i, davy_policy_text(layer, c->text),
				      c->number, subject, backend))
			return false;
	}
	return true;
}
