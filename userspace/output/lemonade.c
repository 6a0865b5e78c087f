/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lemonade's defaults, JSON (src/cpp/resources/defaults.json and config_file.cpp, v11).
 * LEMONADE_DEFAULTS_PATH=FILE merges them over the built-in ones; unknown members are kept. One set
 * for all models. The arguments of its llama-server are one text, split at blanks. lemonade sets
 * the context, the port and the model itself.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engines/command.h"
#include "lib/json_text.h"
#include "output/settings.h"

/* Set by lemonade, or by a separate member. */
static const char reserved[] =
	"-c --ctx-size -dev --device -ngl --gpu-layers --n-gpu-layers --port "
	"--host -m --model";

static char *lemonade_arguments(const struct davy_output_options *options,
				struct davy_output_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *blank = "";

	if (!out)
		return NULL;
	for (size_t i = 0; i < options->count; i++) {
		const struct davy_output_pair *p = &options->at[i];

		if (davy_word_in(reserved, p->name))
			continue;
		if (p->value[0] && !davy_output_writable(p->value, " '\"\\")) {
			davy_output_note(result, "%s %s: cannot be written", p->name, p->value);
			continue;
		}
		fprintf(out, "%s%s%s%s", blank, p->name, p->value[0] ? " " : "", p->value);
		blank = " ";
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* The first backend that lemonade supports. It uses another one if that is not installed. */
static const char *lemonade_backend_of(const struct davy_effective *e)
{
	static const enum davy_backend known[] = { DAVY_BACKEND_VULKAN, DAVY_BACKEND_ROCM,
						   DAVY_BACKEND_CPU };

	for (size_t i = 0; i < e->backend_count; i++)
		for (size_t j = 0; j < sizeof(known) / sizeof(known[0]); j++)
			if (e->backends[i] == known[j])
				return davy_backend_name(known[j]);
	return NULL;
}

static json_t *lemonade_defaults(const struct davy_output_settings *s, const char *args)
{
	json_t *all = json_object(), *llama = json_object();
	const char *backend = lemonade_backend_of(&s->effective);

	json_object_set_new(llama, "args", json_string(args));
	if (backend)
		json_object_set_new(llama, "backend", json_string(backend));
	if (s->settings.context)
		json_object_set_new(all, "ctx_size", json_integer(s->settings.context));
	json_object_set_new(all, "llamacpp", llama);
	return all;
}

static int lemonade_write(const struct davy_output_request *r, FILE *out,
			  struct davy_output_result *result)
{
	struct davy_output_options options;
	struct davy_output_settings s;
	char *args, *text = NULL;
	json_t *all;

	davy_output_settle(r, DAVY_ENGINE_LEMONADE, DAVY_ENGINE_LLAMA_SERVER, NULL, &s);
	davy_output_llama_options(&s, r->subject.available, &options, result);
	davy_output_note_environment(&s.effective, result);
	args = lemonade_arguments(&options, result);
	all = args ? lemonade_defaults(&s, args) : NULL;
	if (all)
		text = davy_json_text(all, JSON_INDENT(2) | JSON_SORT_KEYS);
	if (text)
		fprintf(out, "%s\n", text + 2); /* skips "{\n": the first line is already written */
	json_decref(all);
	free(args);
	free(text);
	return text ? 0 : -ENOMEM;
}

const struct davy_output_format davy_output_lemonade = {
	.name = "lemonade",
	.what = "defaults of lemonade, JSON",
	.style = DAVY_GENERATED_JSON,
	.no_model = true,
	.write = lemonade_write,
};
