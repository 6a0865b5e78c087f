/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the agent's policy layer as it comes from outside ('davylamp policy import'):
 * bounded, whole lines of printable UTF-8, below the first line that 'policy export' has written.
 * What the rules in it say is another's to judge.
 */
#ifndef DAVY_LAYER_TEXT_H
#define DAVY_LAYER_TEXT_H

#include <stddef.h>

#include "store/generated.h"

#define DAVY_LAYER_ERROR_LEN 512

/* Judges the rules of such a text, the first line with it; 0, or -EBADMSG and "error". */
typedef int (*davy_layer_rules)(const char *name, const char *text, size_t size,
				char error[DAVY_LAYER_ERROR_LEN]);

/*
 * "text" has "size" bytes and a NUL behind them. 0 and where its body begins; -EFBIG or -EBADMSG,
 * and "error" says "NAME:LINE:COLUMN: what is wrong". "rules" may be NULL: none are judged.
 */
int davy_layer_text_take(const char *name, const char *text, size_t size, davy_layer_rules rules,
			 const char **ret_body, char error[DAVY_LAYER_ERROR_LEN]);

/* Only whole lines of printable UTF-8; line 1 is the first one's number. As above. */
int davy_layer_lines_check(const char *name, const char *text, size_t size,
			   char error[DAVY_LAYER_ERROR_LEN]);

#endif
