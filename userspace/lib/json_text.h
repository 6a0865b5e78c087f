/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_JSON_TEXT_H
#define DAVY_JSON_TEXT_H

#include <jansson.h>

/*
 * Replaces json_dumps(). Returns allocated text, or NULL without memory. json_dumps() of jansson
 * 2.14 ignores keys for which it has no memory (dump.c, do_dump) and returns broken text.
 */
char *davy_json_text(const json_t *json, size_t flags);

#endif
