/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of predictions over all starts: an accepted file reads back as it is written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct davy_counts counts, again;
	static char dir[64];
	char *text = calloc(1, size + 1);

	memcpy(text, data, size);
	memset(&counts, 0, sizeof(counts));
	if (davy_counts_parse(&counts, text)) {
		if (counts.since_s)
			abort();
		free(text);
		return 0;
	}
	free(text);
	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/dev/shm/davylamp-fuzz-%d", (int)getpid());
		if (mkdir(dir, 0700))
			abort();
	}
	if (davy_counts_save(dir, &counts) || davy_counts_load(dir, &again) ||
	    memcmp(&counts, &again, sizeof(counts)) != 0)
		abort();
	return 0;
}
