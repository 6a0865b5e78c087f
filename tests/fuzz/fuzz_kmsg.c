/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel log: the input's lines, as a saved log or (first byte odd) as records of /dev/kmsg.
 * The result must be an event of the catalogue, for any input.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/kmsg/kmsg_verdict.h"

static void check(void *arg, const struct davy_log_event *ev)
{
	if (ev->role == DAVY_PART_NONE || ev->role > DAVY_PART_AFTERMATH || !ev->class ||
	    ev->class >= DAVY_CLASS_COUNT || ev->hazard >= DAVY_LOG_HZ_COUNT ||
	    !strcmp(davy_log_kind_name(ev->kind), "nothing"))
		abort();
	if ((ev->role == DAVY_PART_PRECURSOR) != (ev->leads != 0) || !ev->order)
		abort();
	if (!memchr(ev->device, 0, sizeof(ev->device)) || !memchr(ev->comm, 0, sizeof(ev->comm)) ||
	    !memchr(ev->ring, 0, sizeof(ev->ring)) || !memchr(ev->stamp, 0, sizeof(ev->stamp)))
		abort();
	davy_log_verdict_add(arg, ev);
}

static void feed(struct davy_log_blocks *b, const uint8_t *data, size_t size, bool record)
{
	struct davy_kmsg_line line;
	char *copy = malloc(size + !size); /* reads beyond its end are detected */
	bool whole;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	whole = record ? !davy_kmsg_record_parse(copy, size, &line)
		       : davy_kmsg_line_parse(copy, size, &line);
	free(copy);
	if (!whole)
		return;
	if (line.len != strlen(line.text) || line.driver >= DAVY_KMSG_DRIVER_COUNT)
		abort();
	davy_log_blocks_feed(b, &line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct davy_log_blocks blocks;
	struct davy_log_verdict verdict = { 0 };
	bool record;

	if (!size)
		return 0;
	record = data[0] & 1;
	data++;
	size--;
	davy_log_blocks_init(&blocks, check, &verdict);
	while (size) {
		/* a record ends at NUL, because it holds newlines */
		const uint8_t *end = memchr(data, record ? 0 : '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		feed(&blocks, data, len, record);
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
	davy_log_blocks_finish(&blocks);
	davy_log_verdict_conclude(&verdict);
	return 0;
}
