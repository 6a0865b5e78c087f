/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool davy_number(const char *text, uint64_t most, uint64_t *ret_value)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false; /* strtoull accepts blanks and signs */
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value > most)
		return false;
	*ret_value = value;
	return true;
}
