/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the values of a rule, and describes invalid ones. */
#ifndef DAVY_POLICY_WORDS_H
#define DAVY_POLICY_WORDS_H

#include "policy/rule.h"

#define DAVY_POLICY_WHY_LEN 400

/* The error: its place in the text, in bytes, and what was expected. */
struct davy_policy_wrong {
	size_t offset;
	char why[DAVY_POLICY_WHY_LEN];
};

/* For "if NAME = TEXT". The number is that of ..._below and ..._above; lockup_below's is in ns. */
bool davy_policy_condition_read(enum davy_condition condition, const char *text,
				uint64_t *ret_number, struct davy_policy_wrong *wrong);

/* For "KEY = TEXT"; the number has the meaning of enum davy_policy_key. */
bool davy_policy_value_read(enum davy_policy_key key, const char *text, uint32_t *ret_number,
			    struct davy_policy_wrong *wrong);

/* For the NAME in "environment NAME" and "argument NAME". */
bool davy_policy_name_read(enum davy_policy_key key, const char *name,
			   struct davy_policy_wrong *wrong);

/* For because, source, date, and yes or no. */
bool davy_policy_said_read(const char *key, const char *text, struct davy_policy_wrong *wrong);
bool davy_policy_date_read(const char *text, struct davy_policy_wrong *wrong);
bool davy_policy_pin_read(const char *text, bool *ret_pin, struct davy_policy_wrong *wrong);

/* "unknown WHAT 'TYPED', expected one of ... (did you mean 'NEAREST'?)" */
void davy_policy_unknown_condition(const char *typed, struct davy_policy_wrong *wrong);
void davy_policy_unknown_key(const char *typed, struct davy_policy_wrong *wrong);

#endif
