/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a rule as people write them: what is taken, and what is said of what is not. */
#ifndef DL_STORE_POLICY_WORDS_H
#define DL_STORE_POLICY_WORDS_H

#include "policy/rule.h"

#define DL_POLICY_WHY_LEN 400

/* What is wrong: where in the text that was looked at, in bytes, and what was expected. */
struct dl_policy_wrong {
	size_t offset;
	char why[DL_POLICY_WHY_LEN];
};

/* Of "if NAME = TEXT". The number is that of ..._below and ..._above, lockup_below's in ns. */
bool dl_policy_condition_read(enum dl_condition condition, const char *text, uint64_t *ret_number,
			      struct dl_policy_wrong *wrong);

/* Of "KEY = TEXT"; the number is as enum dl_policy_key has it. */
bool dl_policy_value_read(enum dl_policy_key key, const char *text, uint32_t *ret_number,
			  struct dl_policy_wrong *wrong);

/* Of the NAME in "environment NAME" and "argument NAME". */
bool dl_policy_name_read(enum dl_policy_key key, const char *name, struct dl_policy_wrong *wrong);

/* because, source, date, yes or no. */
bool dl_policy_said_read(const char *key, const char *text, struct dl_policy_wrong *wrong);
bool dl_policy_date_read(const char *text, struct dl_policy_wrong *wrong);
bool dl_policy_pin_read(const char *text, bool *ret_pin, struct dl_policy_wrong *wrong);

/* "unknown WHAT 'TYPED', expected one of ...; is 'NEAREST' meant?" */
void dl_policy_unknown_condition(const char *typed, struct dl_policy_wrong *wrong);
void dl_policy_unknown_key(const char *typed, struct dl_policy_wrong *wrong);

#endif
