/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_JSON_TEXT_H
#define DAVY_JSON_TEXT_H

#include <jansson.h>

/*
 * What json_dumps() is for: text to be freed, or NULL when memory is out. json_dumps() of jansson
 * 2.14 ignores a key that it has no memory for (dump.c, do_dump) and returns broken text.
 */
char *davy_json_text(const json_t *json, size_t flags);

#endif
