/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a threshold file: "[job_stall driver=xe]", and what may be meant by a wrong one. */
#ifndef DAVY_CONFIG_SECTION_H
#define DAVY_CONFIG_SECTION_H

#include "core/event/config.h"

#define DAVY_SECTION_LEN 48

struct davy_section {
	char name[DAVY_SECTION_LEN]; /* "" before the first */
	char target[DAVY_MODEL_LEN]; /* whom it is for */
	uint32_t scope;		     /* enum davy_scope, 0: for all */
};

/*
 * Takes the text between the brackets apart. -EBADMSG: "why" says what was expected, with the
 * nearest known name.
 */
int davy_section_parse(const char *text, struct davy_section *ret_section, char *why, size_t size);

/* Says that the section has no such key: those that it has, and the nearest. */
void davy_section_unknown_key(const struct davy_section *s, const char *key, char *why,
			      size_t size);

/* "driver", "device", "model". */
const char *davy_scope_name(uint32_t scope);

#endif
