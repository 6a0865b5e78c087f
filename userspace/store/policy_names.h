/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a rule may have at one place, and lists of them: for policy_words.c. */
#ifndef DAVY_POLICY_NAMES_H
#define DAVY_POLICY_NAMES_H

#include "store/policy_words.h"

/* Says what is wrong; always false. */
bool davy_policy_wrong_at(struct davy_policy_wrong *wrong, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "a, b*": each fits one of the names that the condition knows, if it knows any. */
bool davy_policy_patterns_read(enum davy_condition condition, const char *text,
			       struct davy_policy_wrong *wrong);

/* "vulkan, cpu", each once; the number as davy_backends_pack has it. */
bool davy_policy_backends_read(const char *text, uint32_t *ret_number,
			       struct davy_policy_wrong *wrong);

bool davy_policy_cache_type_read(const char *text, uint32_t *ret_number,
				 struct davy_policy_wrong *wrong);
bool davy_policy_mode_read(const char *text, uint32_t *ret_number, struct davy_policy_wrong *wrong);

#endif
