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
		size_t length = dl_utf8_length(text + i);

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

static void take(struct dl_stages *s, struct dl_decoder *d, const void *record, size_t size,
		 FILE *out)
{
	struct dl_start_step step;

	if (dl_decoder_feed(d, record, size, &step) != 1)
		return;
	if (step.kind == DL_STEP_RETURN)
		dl_show_step(out, s, &step);
	dl_stages_step(s, &step);
	dl_show_step(out, s, &step);
	check_json(dl_show_step_json(s, &step));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) static uint8_t record[8192];
	struct dl_stages *s = dl_stages_new();
	struct dl_start_outcome outcome;
	struct dl_decoder *d = NULL;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	must(s && out && !dl_decoder_new(&d));
	while (size > 2) {
		size_t want = (size_t)data[1] * 8 + sizeof(struct dl_raw_head), have;
		struct dl_raw_head *head = (void *)record;

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
	dl_stages_judge(s, UINT64_MAX, data && size, &outcome);
	dl_show_outcome(out, s, &outcome);
	check_json(dl_show_outcome_json(s, &outcome));
	fclose(out);
	check_text(text, length);
	free(text);
	dl_decoder_free(d);
	dl_stages_free(s);
	return 0;
}
