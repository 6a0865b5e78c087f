/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are allowed at one place of a rule, and lists of them: for policy_words.c. */
#ifndef DAVY_POLICY_NAMES_H
#define DAVY_POLICY_NAMES_H

#include "store/policy_words.h"

/* Reports the error; always false. */
bool davy_policy_wrong_at(struct davy_policy_wrong *wrong, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "a, b*": each must match one of the names that the condition knows, if it has any. */
bool davy_policy_patterns_read(enum davy_condition condition, const char *text,
			       struct davy_policy_wrong *wrong);

/* "vulkan, cpu", each once; the number is that of davy_backends_pack(). */
bool davy_policy_backends_read(const char *text, uint32_t *ret_number,
			       struct davy_policy_wrong *wrong);

bool davy_policy_cache_type_read(const char *text, uint32_t *ret_number,
				 struct davy_policy_wrong *wrong);
bool davy_policy_mode_read(const char *text, uint32_t *ret_number, struct davy_policy_wrong *wrong);

#endif
