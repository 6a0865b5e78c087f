/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <stdio.h>
#include <string.h>

static size_t continuation(const unsigned char *at, size_t count)
{
	for (size_t i = 1; i <= count; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return count + 1;
}

size_t dl_utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (at[0] < 0x80)
		return at[0] != 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		return continuation(at, 1);
	if (at[0] >= 0xe0 && at[0] <= 0xef) {
		if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
			return 0; /* overlong, surrogate */
		return continuation(at, 2);
	}
	if (at[0] >= 0xf0 && at[0] <= 0xf4) {
		if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
			return 0;
		return continuation(at, 3);
	}
	return 0;
}

/* C0, DEL and C1: what a terminal would obey. */
static int obeyed(const char *at, size_t len)
{
	unsigned char c = (unsigned char)at[0], next = len == 2 ? (unsigned char)at[1] : 0;

	return c < 0x20 || c == 0x7f || (len == 2 && c == 0xc2 && next < 0xa0);
}

char *dl_text_safe(char *dst, size_t size, const char *src)
{
	size_t used = 0;

	while (*src && size) {
		size_t len = dl_utf8_length(src);
		char piece[8];
		size_t piece_len;

		if (*src == '\\') {
			piece_len = (size_t)snprintf(piece, sizeof(piece), "\\\\");
		} else if (len && !obeyed(src, len)) {
			memcpy(piece, src, len);
			piece_len = len;
		} else {
			piece_len = (size_t)snprintf(piece, sizeof(piece), "\\x%02x",
						     (unsigned char)*src);
			len = 1;
		}
		if (used + piece_len >= size)
			break;
		memcpy(dst + used, piece, piece_len);
		used += piece_len;
		src += len;
	}
	if (size)
		dst[used] = 0;
	return dst;
}
