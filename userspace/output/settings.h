/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings for one model that follow from the rules. The agent uses the environments. */
#ifndef DAVY_SETTINGS_H
#define DAVY_SETTINGS_H

#include "output/output.h"

#define DAVY_OUTPUT_VARIABLES_MAX 48
#define DAVY_OUTPUT_OPTIONS_MAX	  48
#define DAVY_OUTPUT_NAME_LEN	  64 /* of a variable or an option, as in policy_words.c */

struct davy_output_settings {
	struct davy_effective effective;
	struct davy_engine_facts facts;	     /* of a start without any settings */
	struct davy_start_settings settings; /* values that the rules reduce */
};

/* "engine" selects the rules, "as" the start to inspect; "model" may be NULL. */
void davy_output_settle(const struct davy_output_request *request, enum davy_engine engine,
			enum davy_engine as, const struct davy_output_model *model,
			struct davy_output_settings *ret_settings);

struct davy_output_pair {
	char name[DAVY_OUTPUT_NAME_LEN];
	char value[DAVY_RULE_TEXT_LEN];
	const struct davy_policy_origin *origin; /* in the effective policy */
};

struct davy_output_variables {
	size_t count;
	struct davy_output_pair at[DAVY_OUTPUT_VARIABLES_MAX];
};

/*
 * The variables that express the rules for an engine's start, given by "look" and "facts".
 * "available": see davy_policy_backend. Settings without a variable are noted. Values set by the
 * administrator are left out, except counts that are larger than in the rules.
 */
void davy_output_variables(const struct davy_effective *effective,
			   const struct davy_engine_look *look,
			   const struct davy_engine_facts *facts, uint32_t available,
			   struct davy_output_variables *ret_variables,
			   struct davy_output_result *result);

/*
 * The variables of a start without any settings: the engine of the request, and its first model.
 * The list refers to the settings.
 */
void davy_output_environment(const struct davy_output_request *request,
			     struct davy_output_settings *ret_settings,
			     struct davy_output_variables *ret_list,
			     struct davy_output_result *result);
enum davy_engine davy_output_engine(const struct davy_output_request *request);

/* Writes the body of an environment file, without a leading comment. */
void davy_output_variables_write(const struct davy_output_variables *variables, FILE *out);

struct davy_output_options {
	size_t count;
	struct davy_output_pair
		at[DAVY_OUTPUT_OPTIONS_MAX]; /* the option with its dashes; value "": none */
};

/* llama.cpp's options in long form. Settings without an option are noted. */
void davy_output_llama_options(const struct davy_output_settings *settings, uint32_t available,
			       struct davy_output_options *ret_options,
			       struct davy_output_result *result);

/* Notes the variables of rules that a format cannot contain. */
void davy_output_note_environment(const struct davy_effective *effective,
				  struct davy_output_result *result);

#endif
