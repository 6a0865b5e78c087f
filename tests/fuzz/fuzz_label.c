/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of traces: an accepted label is valid, and reads back as it is written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/label.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	struct davy_label label, again;
	char error[256];
	FILE *file;

	if (!path[0])
		snprintf(path, sizeof(path), "/dev/shm/davylamp-fuzz-label-%d", (int)getpid());
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	if (davy_label_read(path, &label, error, sizeof(error)))
		return 0;
	if (!davy_label_valid(&label) || davy_label_write(path, &label) ||
	    davy_label_read(path, &again, error, sizeof(error)) ||
	    memcmp(&label, &again, sizeof(label)) != 0)
		abort();
	return 0;
}
