/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effective settings of all layers for one subject: an engine with a model on a device. First
 * the backends, then the settings for the chosen one, since rules for settings may depend on it. Of
 * two rules of a layer the later one takes precedence, of two layers the later one, value by value.
 * A pinned value of the administrator's layer takes precedence over the agent's. A value of the
 * fleet's layer counts only if it is narrower than that of the shipped rules. Pure.
 */
#ifndef DAVY_EFFECTIVE_H
#define DAVY_EFFECTIVE_H

#include "policy/rule.h"
#include "policy/subject.h"

#define DAVY_POLICY_NAMED_MAX 32 /* variables, and arguments, of one subject */

/* NULL: no layer. A set and its layers must outlive its results. */
struct davy_policy_set {
	const struct davy_policy_layer *layer[DAVY_LAYER_COUNT];
};

struct davy_policy_origin {
	const struct davy_policy_layer *layer; /* NULL: no rule sets it */
	const struct davy_rule *rule;
	uint32_t line;
	bool pinned;
};

struct davy_policy_value {
	const char *name; /* of a variable or an argument, otherwise NULL */
	const char *text; /* unchanged from the file */
	uint32_t number;
	struct davy_policy_origin origin;
};

struct davy_effective {
	enum davy_backend backend; /* to be used; unknown: neither a rule nor the subject sets it */
	bool against;		   /* it was forced, and the rules do not name it: see WARN */
	bool none_left;		   /* rules name some, but none is available */
	size_t backend_count;	   /* available ones, in order of preference */
	enum davy_backend backends[DAVY_BACKEND_COUNT];
	struct davy_policy_value value[DAVY_POLICY_KEY_COUNT]; /* no ENVIRONMENT, no ARGUMENT */
	size_t environment_count;
	size_t argument_count;
	struct davy_policy_value environment[DAVY_POLICY_NAMED_MAX];
	struct davy_policy_value argument[DAVY_POLICY_NAMED_MAX];
	uint32_t left_out; /* number of variables and arguments without room */
};

void davy_policy_effective(const struct davy_policy_set *set,
			   const struct davy_policy_subject *subject,
			   struct davy_effective *ret_effective);

/* Whether the rules permit it; true if they set no backends. */
bool davy_effective_allows(const struct davy_effective *effective, enum davy_backend backend);

/* Of the counts: 0 if no rule sets it, or according to the command. */
uint32_t davy_effective_count(const struct davy_effective *effective, enum davy_policy_key key);

/* Whether all conditions of a rule match; "backend" is the one chosen so far. */
bool davy_rule_fits(const struct davy_policy_layer *layer, const struct davy_rule *rule,
		    const struct davy_policy_subject *subject, enum davy_backend backend);

/* Whether one pattern of "a, b*" matches, ignoring case; an empty "text" matches nothing. */
bool davy_pattern_fits(const char *patterns, const char *text);

#endif
