/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/layer_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

#define NAME_MAX_SHOWN 200

static int layer_text_wrong(char *error, const char *name, unsigned int line, unsigned int column,
			    const char *why)
{
	char safe[NAME_MAX_SHOWN];

	snprintf(error, DAVY_LAYER_ERROR_LEN, "%s:%u:%u: %s",
		 davy_text_safe(safe, sizeof(safe), name), line, column, why);
	return -EBADMSG;
}

/* C0, DEL and C1 (U+0080 to U+009F): terminals interpret these. */
static bool is_control(const char *at, size_t length)
{
	unsigned char c = (unsigned char)at[0];

	if (length == 2)
		return c == 0xc2 && (unsigned char)at[1] < 0xa0;
	return length == 1 && ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f);
}

int davy_layer_lines_check(const char *name, const char *text, size_t size,
			   char error[DAVY_LAYER_ERROR_LEN])
{
	unsigned int line = 1, column = 1;
	char why[96];

	for (const char *at = text; at < text + size;) {
		size_t length = *at ? davy_utf8_length(at) : 0;

		if (!length || is_control(at, length)) {
			snprintf(why, sizeof(why),
				 "byte 0x%02x is no text, expected printable UTF-8",
				 (unsigned char)*at);
			return layer_text_wrong(error, name, line, column, why);
		}
		column++;
		if (*at == '\n') {
			line++;
			column = 1;
		}
		at += length;
	}
	if (column > 1)
		return layer_text_wrong(error, name, line, column,
					"the last line is cut off, expected its end");
	return 0;
}

int davy_layer_text_take(const char *name, const char *text, size_t size, davy_layer_rules rules,
			 const char **ret_body, char error[DAVY_LAYER_ERROR_LEN])
{
	enum davy_generated state;
	uint32_t version;
	char why[96];
	int err;

	if (size >= DAVY_GENERATED_MAX) {
		snprintf(why, sizeof(why), "is too long, expected less than %d bytes",
			 DAVY_GENERATED_MAX);
		layer_text_wrong(error, name, 1, 1, why);
		return -EFBIG;
	}
	err = davy_layer_lines_check(name, text, size, error);
	if (err)
		return err;
	state = davy_generated_judge(text, &version, ret_body);
	if (state == DAVY_GENERATED_FOREIGN)
		return layer_text_wrong(
			error, name, 1, 1,
			"not exported by davylamp, expected its first line; rules of the "
			"administrator belong in /etc/davylamp/backend.conf");
	if (state == DAVY_GENERATED_EDITED)
		return layer_text_wrong(
			error, name, 1, 1,
			"the checksum is wrong: the text was changed or cut off since "
			"it was exported; rules of the administrator belong in "
			"/etc/davylamp/backend.conf");
	return rules ? rules(name, text, size, error) : 0;
}
