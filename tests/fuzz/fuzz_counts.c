/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was foreseen over all starts: what is taken is read again as it is written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct davy_counts counts, again;
	char error[DAVY_COUNTS_ERROR_LEN] = "";
	char *text;

	memset(&counts, 0, sizeof(counts));
	if (davy_counts_parse((const char *)data, size, &counts, error)) {
		if (!error[0] || counts.since_s)
			abort();
		return 0;
	}
	text = davy_counts_text(&counts);
	if (!text || davy_counts_parse(text, strlen(text), &again, error) ||
	    memcmp(&counts, &again, sizeof(counts)) != 0)
		abort();
	free(text);
	return 0;
}
