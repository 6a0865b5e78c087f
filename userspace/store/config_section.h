/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a threshold file: "[job_stall driver=xe]", and what may be meant by a wrong one. */
#ifndef DL_STORE_CONFIG_SECTION_H
#define DL_STORE_CONFIG_SECTION_H

#include "core/event/config.h"

#define DL_SECTION_LEN 48

struct dl_section {
	char name[DL_SECTION_LEN]; /* "" before the first */
	char target[DL_MODEL_LEN]; /* whom it is for */
	uint32_t scope;		   /* enum dl_scope, 0: for all */
};

/*
 * Takes the text between the brackets apart. -EBADMSG: "why" says what was expected, with the
 * nearest known name.
 */
int dl_section_parse(const char *text, struct dl_section *ret_section, char *why, size_t size);

/* Says that the section has no such key: those that it has, and the nearest. */
void dl_section_unknown_key(const struct dl_section *s, const char *key, char *why, size_t size);

/* "driver", "device", "model". */
const char *dl_scope_name(uint32_t scope);

#endif
