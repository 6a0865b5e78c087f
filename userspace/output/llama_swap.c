/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models of llama-swap's configuration, YAML (internal/config at v250). "cmd" is split like POSIX
 * shell words, after ${MACRO} is replaced everywhere, also in names and quotes. Therefore text is
 * double-quoted for YAML, a path is single-quoted for the shell, and "${" is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "output/settings.h"

/* A YAML string: its characters are printable, so only two need a backslash. */
static void llama_swap_put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* True if the text fits into one word of a command line. */
static bool llama_swap_is_word(const char *text)
{
	return davy_output_writable(text, "'") && !strstr(text, "${");
}

static bool llama_swap_is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789,.:/_+=@%-";

	return text[0] && !text[strspn(text, plain)];
}

static void llama_swap_put_word(FILE *out, const char *text)
{
	fprintf(out, llama_swap_is_plain(text) ? " %s" : " '%s'", text);
}

static void llama_swap_put_command(const struct davy_output_request *r,
				   const struct davy_output_model *m,
				   const struct davy_output_options *options, FILE *out,
				   struct davy_output_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *words = open_memstream(&text, &size);

	if (!words)
		return; /* "out" is a memory stream too and reports the failure */
	fputs(llama_swap_is_plain(r->server) ? "" : "'", words);
	fprintf(words, "%s%s --port ${PORT} -m", r->server,
		llama_swap_is_plain(r->server) ? "" : "'");
	llama_swap_put_word(words, m->path);
	for (size_t i = 0; i < options->count; i++) {
		const struct davy_output_pair *p = &options->at[i];

		if (p->value[0] && !llama_swap_is_word(p->value)) {
			davy_output_note(result, "%s %s: cannot be written", p->name, p->value);
			continue;
		}
		llama_swap_put_word(words, p->name);
		if (p->value[0])
			llama_swap_put_word(words, p->value);
	}
	if (!fclose(words)) {
		fputs("    cmd: ", out);
		llama_swap_put_quoted(out, text);
		fputc('\n', out);
	}
	free(text);
}

static void llama_swap_put_environment(const struct davy_effective *e, FILE *out)
{
	for (size_t i = 0; i < e->environment_count; i++) {
		fprintf(out, "%s      - \"%s=%s\"\n", i ? "" : "    env:\n", e->environment[i].name,
			e->environment[i].text);
	}
}

static void llama_swap_put_model(const struct davy_output_request *r,
				 const struct davy_output_model *m, FILE *out,
				 struct davy_output_result *result)
{
	struct davy_output_options options;
	struct davy_output_settings s;

	davy_output_settle(r, DAVY_ENGINE_LLAMA_SERVER, DAVY_ENGINE_LLAMA_SERVER, m, &s);
	davy_output_llama_options(&s, r->subject.available, &options, result);
	fputs("  ", out);
	llama_swap_put_quoted(out, m->name);
	fputs(":\n", out);
	for (size_t i = 0; i < options.count; i++) {
		fputs("    ", out);
		davy_output_origin(out, options.at[i].name, options.at[i].origin);
	}
	llama_swap_put_command(r, m, &options, out, result);
	llama_swap_put_environment(&s.effective, out);
}

static int llama_swap_check(const struct davy_output_model *m, struct davy_output_result *result)
{
	if (!m->path)
		return davy_output_refuse(result,
					  "no file for model '%s': use --model /PATH/NAME.gguf or "
					  "--models-dir DIR",
					  m->name);
	if (!llama_swap_is_word(m->name) || !llama_swap_is_word(m->path))
		return davy_output_refuse(
			result,
			"model '%s': llama-swap misreads a name or path with \"'\", \"${\" or a "
			"control character",
			llama_swap_is_word(m->name) ? m->path : m->name);
	return 0;
}

static int llama_swap_write(const struct davy_output_request *r, FILE *out,
			    struct davy_output_result *result)
{
	int err = 0;

	if (!r->model_count)
		return davy_output_refuse(result, "no models: use --models-dir DIR, or --model "
						  "/PATH/NAME.gguf for each");
	if (!llama_swap_is_word(r->server))
		return davy_output_refuse(result, "the program '%s' cannot be written there",
					  r->server);
	for (size_t i = 0; !err && i < r->model_count; i++)
		err = llama_swap_check(&r->models[i], result);
	if (err)
		return err;
	fputs("models:\n", out);
	for (size_t i = 0; i < r->model_count; i++)
		llama_swap_put_model(r, &r->models[i], out, result);
	return 0;
}

const struct davy_output_format davy_output_llama_swap = {
	.name = "llama-swap",
	.what = "models of llama-swap's configuration, YAML",
	.write = llama_swap_write,
};
