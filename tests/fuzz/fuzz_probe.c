/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What davylamp-probe leaves on its outputs, whatever way it ended. First byte: the way; up to the
 * first NUL: its stderr; the rest: its output. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "act/probe_finding.h"
#include "lib/text.h"

static void must(int truth)
{
	if (!truth)
		abort();
}

static void check_finding(const struct davy_probe_finding *f, const char *output, size_t size)
{
	json_t *json = davy_probe_finding_json(f);

	must(f->kind < DAVY_PROBE_KIND_COUNT && json != NULL);
	must(memchr(f->text, 0, sizeof(f->text)) && memchr(f->stage, 0, sizeof(f->stage)) &&
	     memchr(f->device, 0, sizeof(f->device)));
	for (const char *at = f->text; *at; at += davy_utf8_length(at))
		must(davy_utf8_length(at) && (unsigned char)*at >= 0x20 && *at != 0x7f);
	if (f->kind == DAVY_PROBE_HEALTHY || f->kind == DAVY_PROBE_REPORTED)
		must(f->answer != NULL);
	if (f->answer)
		must(f->answer >= output && f->answer + f->answer_size <= output + size);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct davy_probe_end end = { 0 };
	struct davy_probe_finding finding;
	const char *noise, *output;
	size_t length;

	if (size < 2)
		return 0;
	end.signal = data[0] & 1 ? data[0] >> 2 : 0;
	end.exit = data[0] & 2 ? data[0] >> 2 : 0;
	end.timed_out = (data[0] & 0xc3) == 0xc1;
	end.overflow = (data[0] & 0xc3) == 0x81;
	noise = strndup((const char *)data + 1, size - 1);
	length = strlen(noise);
	output = (const char *)data + 1 + length;
	size -= 1 + length;
	if (size) { /* the NUL */
		output++;
		size--;
	}
	davy_probe_judge(&end, output, size, noise, &finding);
	check_finding(&finding, output, size);
	free((void *)noise);
	return 0;
}
