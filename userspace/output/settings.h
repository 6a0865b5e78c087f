/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rules make of one model, in the terms of engines; the agent asks for environments. */
#ifndef DL_OUTPUT_SETTINGS_H
#define DL_OUTPUT_SETTINGS_H

#include "output/output.h"

#define DL_OUTPUT_VARIABLES_MAX 48
#define DL_OUTPUT_OPTIONS_MAX	48
#define DL_OUTPUT_NAME_LEN	64 /* of a variable or an option, as policy_words.c */

struct dl_output_settings {
	struct dl_effective effective;
	struct dl_engine_facts facts; /* of a start without any settings */
	struct dl_knobs knobs;	      /* that become smaller by the rules */
};

/* "engine" is whose rules are heeded, "as" whose start is looked at; "model" may be NULL. */
void dl_output_settle(const struct dl_output_request *request, enum dl_engine engine,
		      enum dl_engine as, const struct dl_output_model *model,
		      struct dl_output_settings *ret_settings);

struct dl_output_pair {
	char name[DL_OUTPUT_NAME_LEN];
	char value[DL_RULE_TEXT_LEN];
	const struct dl_policy_origin *origin; /* in the effective policy */
};

struct dl_output_variables {
	size_t count;
	struct dl_output_pair at[DL_OUTPUT_VARIABLES_MAX];
};

/*
 * The variables that tell an engine's start, which is as "look" and "facts" have it, what the rules
 * say. "available": see dl_policy_backend. What they cannot tell is noted. What people have set
 * themselves is not in it, but for counts that are larger than the rules have them.
 */
void dl_output_variables(const struct dl_effective *effective, const struct dl_engine_look *look,
			 const struct dl_engine_facts *facts, uint32_t available,
			 struct dl_output_variables *ret_variables,
			 struct dl_output_result *result);

/* The body of an environment file, without a comment at its head. */
void dl_output_variables_write(const struct dl_output_variables *variables, FILE *out);

struct dl_output_options {
	size_t count;
	struct dl_output_pair
		at[DL_OUTPUT_OPTIONS_MAX]; /* the option with its dashes; value "": none */
};

/* llama.cpp's options, in long form. What is no option is noted. */
void dl_output_llama_options(const struct dl_output_settings *settings, uint32_t available,
			     struct dl_output_options *ret_options,
			     struct dl_output_result *result);

/* Variables of rules, where a format has no place for them. */
void dl_output_note_environment(const struct dl_effective *effective,
				struct dl_output_result *result);

#endif
