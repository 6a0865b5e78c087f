/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the kernel program that follows a start, any bytes: first byte a record's kind,
 * second its length in units of 8, what follows its fields. Decoded, judged, shown as text and
 * JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/discovery.h"
#include "trace/show.h"
#include "lib/text.h"

static void must(int truth)
{
	if (!truth)
		abort();
}

static void check_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = davy_utf8_length(text + i);

		must(length > 0);
		must((unsigned char)text[i] >= 0x20 || text[i] == '\n');
		must(text[i] != 0x7f);
		i += length;
	}
}

static void check_json(json_t *json)
{
	char *line = json_dumps(json, JSON_COMPACT);

	must(json != NULL && line != NULL && !strchr(line, '\n'));
	free(line);
	json_decref(json);
}

static void take(struct davy_stages *s, struct davy_decoder *d, const void *record, size_t size,
		 FILE *out)
{
	struct davy_start_step step;

	if (davy_decoder_feed(d, record, size, &step) != 1)
		return;
	if (step.kind == DAVY_STEP_RETURN)
		davy_show_step(out, s, &step);
	davy_stages_step(s, &step);
	davy_show_step(out, s, &step);
	check_json(davy_show_step_json(s, &step));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) static uint8_t record[8192];
	struct davy_stages *s = davy_stages_new();
	struct davy_start_outcome outcome;
	struct davy_decoder *d = NULL;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	must(s && out && !davy_decoder_new(&d));
	while (size > 2) {
		size_t want = (size_t)data[1] * 8 + sizeof(struct davy_raw_head), have;
		struct davy_raw_head *head = (void *)record;

		have = want < size - 2 ? want : size - 2;
		memset(record, 0, sizeof(record));
		memcpy(record, data + 2, have);
		head->kind = data[0] & 15;
		head->tgid &= 7; /* few processes, so that their steps meet */
		head->tid &= 7;
		take(s, d, record, data[1] == 255 ? have : sizeof(record), out);
		data += 2 + have;
		size -= 2 + have;
	}
	davy_stages_judge(s, UINT64_MAX, data && size, &outcome);
	davy_show_outcome(out, s, &outcome);
	check_json(davy_show_outcome_json(s, &outcome));
	fclose(out);
	check_text(text, length);
	free(text);
	davy_decoder_free(d);
	davy_stages_free(s);
	return 0;
}
