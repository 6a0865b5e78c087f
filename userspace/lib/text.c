/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/text.h"

#include <stdio.h>
#include <string.h>

static size_t text_continuation(const unsigned char *at, size_t count)
{
	for (size_t i = 1; i <= count; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return count + 1;
}

size_t davy_utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (at[0] < 0x80)
		return at[0] != 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		return text_continuation(at, 1);
	if (at[0] >= 0xe0 && at[0] <= 0xef) {
		if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
			return 0; /* overlong, surrogate */
		return text_continuation(at, 2);
	}
	if (at[0] >= 0xf0 && at[0] <= 0xf4) {
		if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
			return 0;
		return text_continuation(at, 3);
	}
	return 0;
}

/* C0, DEL and C1: characters that a terminal interprets. */
static int text_is_control(const char *at, size_t len)
{
	unsigned char c = (unsigned char)at[0], next = len == 2 ? (unsigned char)at[1] : 0;

	return c < 0x20 || c == 0x7f || (len == 2 && c == 0xc2 && next < 0xa0);
}

char *davy_text_safe(char *dst, size_t size, const char *src)
{
	size_t used = 0;

	while (*src && size) {
		size_t len = davy_utf8_length(src);
		char piece[8];
		size_t piece_len;

		if (*src == '\\') {
			piece_len = (size_t)snprintf(piece, sizeof(piece), "\\\\");
		} else if (len && !text_is_control(src, len)) {
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

char *davy_text_shown(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);

	if (len >= size || davy_text_shown_length(src) != len)
		return davy_text_safe(dst, size, src);
	memcpy(dst, src, len + 1);
	return dst;
}

size_t davy_text_shown_length(const char *text)
{
	const char *at = text;
	size_t len;

	while ((len = davy_utf8_length(at)) && !text_is_control(at, len))
		at += len;
	return (size_t)(at - text);
}

const char *davy_error_text(int error)
{
	const char *text = error <= 0 && error > -4096 ? strerrordesc_np(-error) : NULL;

	return text ? text : "unknown error";
}

size_t davy_text_distance(const char *a, const char *b)
{
	size_t row[DAVY_WORD_MAX + 1], len = strlen(b);

	if (strlen(a) >= DAVY_WORD_MAX || len >= DAVY_WORD_MAX)
		return DAVY_WORD_MAX;
	for (size_t i = 0; i <= len; i++)
		row[i] = i;
	for (size_t j = 1; a[j - 1]; j++) {
		size_t corner = row[0];

		row[0] = j;
		for (size_t i = 1; i <= len; i++) {
			size_t above = row[i], best = corner + (a[j - 1] != b[i - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[i - 1] + 1 < best)
				best = row[i - 1] + 1;
			corner = above;
			row[i] = best;
		}
	}
	return row[len];
}

int davy_text_near(const char *typed, const char *word)
{
	return davy_text_distance(typed, word) <= 1 + strlen(word) / 3;
}

const char *davy_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
