/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/api_key.h"

#include <string.h>

void davy_api_key_take(char key[DAVY_API_KEY_LEN], const char *text)
{
	size_t len = 0;

	key[0] = 0;
	while (text && text[len] > ' ' && text[len] <= '~' && text[len] != ',')
		len++;
	if (!text || (text[len] && text[len] != ',') || len >= DAVY_API_KEY_LEN)
		return;
	memcpy(key, text, len);
	key[len] = 0;
}
