/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

static const struct davy_output_format *const formats[] = {
	&davy_output_env,	 &davy_output_router_preset, &davy_output_ollama,
	&davy_output_llama_swap, &davy_output_lemonade,
};

const struct davy_output_format *davy_output_format(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const struct davy_output_format *davy_output_format_named(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

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

/* Line ends and a mark of YAML 1.1: U+2028, U+2029, U+FEFF. */
static bool has_unseen(const char *text)
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

	return len && !text[davy_text_shown_length(text)] && !has_unseen(text) &&
	       !strpbrk(text, but) && text[0] != ' ' && text[len - 1] != ' ';
}

static int check_models(const struct davy_output_format *f, const struct davy_output_request *r,
			struct davy_output_result *result)
{
	if (f->one_model && r->model_count != 1)
		return davy_output_refuse(result, "'%s' is of one model: --model NAME", f->name);
	if (f->no_model && r->model_count)
		return davy_output_refuse(result, "'%s' is for all models: without --model",
					  f->name);
	for (size_t i = 0; i < r->model_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(r->models[i].name, r->models[j].name))
				return davy_output_refuse(result, "there are two models '%s'",
							  r->models[i].name);
	return 0;
}

int davy_output_make(const struct davy_output_format *f, const struct davy_output_request *request,
		     struct davy_output_result *ret_result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int err;

	memset(ret_result, 0, sizeof(*ret_result));
	err = check_models(f, request, ret_result);
	out = err ? NULL : open_memstream(&text, &size);
	if (err || !out)
		return err ? err : -ENOMEM;
	err = f->write(request, out, ret_result);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err) {
		ret_result->body = text;
		return 0;
	}
	free(text);
	return err;
}
