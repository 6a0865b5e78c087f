/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/json_text.h"

#include <stdlib.h>

char *davy_json_text(const json_t *json, size_t flags)
{
	size_t size = json ? json_dumpb(json, NULL, 0, flags) : 0;
	char *text = size ? malloc(size + 1) : NULL;

	if (!text)
		return NULL;
	if (json_dumpb(json, text, size, flags) != size) {
		free(text);
		return NULL;
	}
	text[size] = 0;
	return text;
}
