/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

/* True if no shell interprets any part of the word. */
static int text_shell_plain(const char *word)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,.:/_+=@%-";

	return *word && !word[strspn(word, letters)];
}

/* For printable words: only single quotes need escaping. */
static char *text_shell_quote(const char *word, char *at)
{
	*at++ = '\'';
	for (; *word; word++) {
		if (*word != '\'') {
			*at++ = *word;
			continue;
		}
		at = stpcpy(at, "'\\''");
	}
	*at++ = '\'';
	return at;
}

static char *text_shell_escape(const char *word, char *at)
{
	*at++ = '$';
	*at++ = '\'';
	while (*word) {
		size_t len = davy_utf8_length(word), shown = 0;
		char one[8] = "";

		memcpy(one, word, len);
		shown = len ? davy_text_shown_length(one) : 0;
		if (*word == '\'' || *word == '\\') {
			*at++ = '\\';
			*at++ = *word++;
		} else if (len && shown == len) {
			memcpy(at, word, len);
			at += len;
			word += len;
		} else {
			at += snprintf(at, 5, "\\x%02x", (unsigned char)*word++);
		}
	}
	*at++ = '\'';
	return at;
}

char *davy_text_shell(const char *word)
{
	size_t len = strlen(word);
	char *text = malloc(4 * len + 8), *end;

	if (!text)
		return NULL;
	if (text_shell_plain(word)) {
		memcpy(text, word, len + 1);
		return text;
	}
	end = davy_text_shown_length(word) == len ? text_shell_quote(word, text)
						  : text_shell_escape(word, text);
	*end = 0;
	return text;
}
