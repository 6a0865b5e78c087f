/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the agent's policy layer from an untrusted source ('davylamp policy import'): limited
 * size, whole lines of printable UTF-8, after the first line that 'policy export' has written.
 * Another function checks its rules.
 */
#ifndef DAVY_LAYER_TEXT_H
#define DAVY_LAYER_TEXT_H

#include <stddef.h>

#include "store/generated.h"

#define DAVY_LAYER_ERROR_LEN 512

/* Checks the rules of a text with its first line; 0, or -EBADMSG and "error". */
typedef int (*davy_layer_rules)(const char *name, const char *text, size_t size,
				char error[DAVY_LAYER_ERROR_LEN]);

/*
 * "text" has "size" bytes and a terminating NUL. 0 and the start of its body; -EFBIG or -EBADMSG,
 * and "error" says "NAME:LINE:COLUMN: what is wrong". "rules" NULL: they are not checked.
 */
int davy_layer_text_take(const char *name, const char *text, size_t size, davy_layer_rules rules,
			 const char **ret_body, char error[DAVY_LAYER_ERROR_LEN]);

/* Only whole lines of printable UTF-8; "line" is the number of the first one. As above. */
int davy_layer_lines_check(const char *name, const char *text, size_t size,
			   char error[DAVY_LAYER_ERROR_LEN]);

#endif
