/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in a threshold file: "[job_stall driver=xe]", and suggestions for misspelled ones. */
#ifndef DAVY_CONFIG_SECTION_H
#define DAVY_CONFIG_SECTION_H

#include "core/event/config.h"

#define DAVY_SECTION_LEN 48

struct davy_section {
	char name[DAVY_SECTION_LEN]; /* "" before the first section */
	char target[DAVY_MODEL_LEN]; /* name of the scope */
	uint32_t scope;		     /* enum davy_scope, 0: for all */
};

/*
 * Parses the text between the brackets. -EBADMSG: "why" says what was expected, with the nearest
 * known name.
 */
int davy_section_parse(const char *text, struct davy_section *ret_section, char *why, size_t size);

/* Reports an unknown key of a section, with the section's keys and the nearest one. */
void davy_section_unknown_key(const struct davy_section *s, const char *key, char *why,
			      size_t size);

/* "driver", "device", "model". */
const char *davy_scope_name(uint32_t scope);

#endif
