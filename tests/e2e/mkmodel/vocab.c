// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "mkmodel.h"

/* Tokens: <unk> <s> </s>, the 256 bytes, then text. */
#define TOKEN_FIRST_TEXT (3 + 256)
#define SPACE_MARK	 "\xe2\x96\x81"

/*
 * Text tokens, in order: the mark, the printable characters, consonant-vowel pairs, the same pairs
 * behind a mark, then pairs of a pair and a vowel until the table is full.
 */
static void text_token(uint32_t index, char text[TOKEN_MAX])
{
	static const char consonant[] = "bcdfghjklmnprstvwz", vowel[] = "aeiou";
	const uint32_t pairs = (sizeof(consonant) - 1) * (sizeof(vowel) - 1);
	uint32_t pair;

	if (index == 0) {
		snprintf(text, TOKEN_MAX, "%s", SPACE_MARK);
		return;
	}
	if (index <= '~' - '!' + 1) {
		snprintf(text, TOKEN_MAX, "%c", (char)('!' + index - 1));
		return;
	}
	index -= '~' - '!' + 2;
	pair = index % pairs;
	snprintf(text, TOKEN_MAX, "%s%c%c", index / pairs == 1 ? SPACE_MARK : "",
		 consonant[pair / 5], vowel[pair % 5]);
	if (index / pairs >= 2) {
		size_t len = strlen(text);

		text[len] = consonant[(index / pairs - 2) * 3];
		text[len + 1] = '\0';
	}
}

void token_text(uint32_t id, char text[TOKEN_MAX])
{
	static const char *const control[] = { "<unk>", "<s>", "</s>" };

	if (id < 3)
		snprintf(text, TOKEN_MAX, "%s", control[id]);
	else if (id < TOKEN_FIRST_TEXT)
		snprintf(text, TOKEN_MAX, "<0x%02X>", id - 3);
	else
		text_token(id - TOKEN_FIRST_TEXT, text);
}

enum token_type token_type(uint32_t id)
{
	if (id == 0)
		return TOKEN_UNKNOWN;
	if (id < 3)
		return TOKEN_CONTROL;
	return id < TOKEN_FIRST_TEXT ? TOKEN_BYTE : TOKEN_NORMAL;
}
