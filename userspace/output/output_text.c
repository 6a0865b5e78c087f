/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the formats share. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "output/output.h"

void davy_output_note(struct davy_output_result *result, const char *format, ...)
{
	char raw[DAVY_OUTPUT_NOTE_LEN], safe[DAVY_OUTPUT_NOTE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	davy_text_shown(safe, sizeof(safe), raw);
	for (size_t i = 0; i < result->note_count; i++)
		if (!strcmp(result->note[i], safe))
			return;
	if (result->note_count < DAVY_OUTPUT_NOTES_MAX)
		davy_copy_name(result->note[result->note_count++], DAVY_OUTPUT_NOTE_LEN, safe);
}

int davy_output_refuse(struct davy_output_result *result, const char *format, ...)
{
	char raw[DAVY_OUTPUT_NOTE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	davy_text_shown(result->why, sizeof(result->why), raw);
	return -EINVAL;
}

void davy_output_origin(FILE *out, const char *what, const struct davy_policy_origin *o)
{
	char path[4 * DAVY_POLICY_PATH_LEN];

	if (o->rule)
		fprintf(out, "# %s: rule %s, %s:%u\n", what, o->rule->name,
			davy_text_safe(path, sizeof(path), o->layer->path), o->line);
}

/* Line separators and a mark of YAML 1.1: U+2028, U+2029, U+FEFF. */
static bool output_text_has_invisible(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!strncmp(at, "\xe2\x80\xa8", 3) || !strncmp(at, "\xe2\x80\xa9", 3) ||
		    !strncmp(at, "\xef\xbb\xbf", 3))
			return true;
	return false;
}

bool davy_output_writable(const char *text, const char *but)
{
	size_t len = strlen(text);

	return len && !text[davy_text_shown_length(text)] && !output_text_has_invisible(text) &&
	       !strpbrk(text, but) && text[0] != ' ' && text[len - 1] != ' ';
}
