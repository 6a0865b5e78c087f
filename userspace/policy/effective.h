/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the layers say together about one subject: an engine with a model on a device. First the
 * backends, then the settings for the one that is chosen, since rules about settings may depend on
 * it. Of two rules of a layer the later one wins, of two layers the later one, value by value; what
 * is pinned in people's layer beats the agent's. Pure.
 */
#ifndef DAVY_EFFECTIVE_H
#define DAVY_EFFECTIVE_H

#include "policy/rule.h"
#include "policy/subject.h"

#define DAVY_POLICY_NAMED_MAX 32 /* variables, and arguments, of one subject */

/* NULL: no layer. A set and its layers outlive what is made of it. */
struct davy_policy_set {
	const struct davy_policy_layer *layer[DAVY_LAYER_COUNT];
};

struct davy_policy_origin {
	const struct davy_policy_layer *layer; /* NULL: no rule says anything */
	const struct davy_rule *rule;
	uint32_t line;
	bool pinned;
};

struct davy_policy_value {
	const char *name; /* of a variable or an argument, else NULL */
	const char *text; /* as written */
	uint32_t number;
	struct davy_policy_origin origin;
};

struct davy_effective {
	enum davy_backend backend; /* to be used; unknown: no rule says, and the subject neither */
	bool against;		   /* it was forced, and the rules do not name it: see WARN */
	bool none_left;		   /* rules name some, and none of them is available */
	size_t backend_count;	   /* available ones, in the order to be tried */
	enum davy_backend backends[DAVY_BACKEND_COUNT];
	struct davy_policy_value value[DAVY_POLICY_KEY_COUNT]; /* but ENVIRONMENT and ARGUMENT */
	size_t environment_count;
	size_t argument_count;
	struct davy_policy_value environment[DAVY_POLICY_NAMED_MAX];
	struct davy_policy_value argument[DAVY_POLICY_NAMED_MAX];
	uint32_t left_out; /* variables and arguments that found no room */
};

void davy_policy_effective(const struct davy_policy_set *set,
			   const struct davy_policy_subject *subject,
			   struct davy_effective *ret_effective);

/* Whether the rules let it be used; true when they say nothing about backends. */
bool davy_effective_allows(const struct davy_effective *effective, enum davy_backend backend);

/* Of the counts: 0 when no rule says, or as the command says. */
uint32_t davy_effective_count(const struct davy_effective *effective, enum davy_policy_key key);

/* Whether all conditions of a rule hold; "backend" is the one decided so far. */
bool davy_rule_fits(const struct davy_policy_layer *layer, const struct davy_rule *rule,
		    const struct davy_policy_subject *subject, enum davy_backend backend);

/* Whether one of "a, b*" fits, in whatever case; an empty "text" fits nothing. */
bool davy_pattern_fits(const char *patterns, const char *text);

#endif
