/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a rule may have at one place, and lists of them: for policy_words.c. */
#ifndef DL_STORE_POLICY_NAMES_H
#define DL_STORE_POLICY_NAMES_H

#include "store/policy_words.h"

/* Says what is wrong; always false. */
bool dl_policy_wrong_at(struct dl_policy_wrong *wrong, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "a, b*": each fits one of the names that the condition knows, if it knows any. */
bool dl_policy_patterns_read(enum dl_condition condition, const char *text,
			     struct dl_policy_wrong *wrong);

/* "vulkan, cpu", each once; the number as dl_backends_pack has it. */
bool dl_policy_backends_read(const char *text, uint32_t *ret_number, struct dl_policy_wrong *wrong);

bool dl_policy_cache_type_read(const char *text, uint32_t *ret_number,
			       struct dl_policy_wrong *wrong);
bool dl_policy_mode_read(const char *text, uint32_t *ret_number, struct dl_policy_wrong *wrong);

#endif
