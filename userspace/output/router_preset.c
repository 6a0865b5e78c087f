/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Presets of llama-server in router mode, --models-preset (llama.cpp common/preset.cpp, 2026): one
 * section per model, "*" for all; keys are options without dashes. A key is
 * [a-zA-Z_][a-zA-Z0-9_.-]*. A value ends at ';', '#' or the end of the line, a section name at ']'.
 * There is no quoting. An option without a value is written as true.
 */
#include <string.h>

#include "output/settings.h"

static bool router_preset_is_key(const char *key)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char more[] = "0123456789.-";

	if (!key[0] || !strchr(letters, key[0]))
		return false;
	for (; *key; key++)
		if (!strchr(letters, *key) && !strchr(more, *key))
			return false;
	return true;
}

static void router_preset_put(FILE *out, const struct davy_output_pair *p,
			      struct davy_output_result *result)
{
	const char *key = p->name + strspn(p->name, "-");

	if (!router_preset_is_key(key) || (p->value[0] && !davy_output_writable(p->value, ";#"))) {
		davy_output_note(result, "%s %s: a preset cannot hold it", p->name, p->value);
		return;
	}
	davy_output_origin(out, key, p->origin);
	fprintf(out, "%s = %s\n", key, p->value[0] ? p->value : "true");
}

static void router_preset_put_section(const struct davy_output_request *r,
				      const struct davy_output_model *m, FILE *out,
				      struct davy_output_result *result)
{
	struct davy_output_options options;
	struct davy_output_settings s;

	davy_output_settle(r, DAVY_ENGINE_LLAMA_SERVER, DAVY_ENGINE_LLAMA_SERVER, m, &s);
	davy_output_llama_options(&s, r->subject.available, &options, result);
	davy_output_note_environment(&s.effective, result);
	fprintf(out, "\n[%s]\n", m ? m->name : "*");
	if (m && m->path)
		fprintf(out, "model = %s\n", m->path);
	for (size_t i = 0; i < options.count; i++)
		router_preset_put(out, &options.at[i], result);
}

static int router_preset_check(const struct davy_output_model *m, struct davy_output_result *result)
{
	if (!davy_output_writable(m->name, "]") || !strcmp(m->name, "*"))
		return davy_output_refuse(result,
					  "model '%s': a preset cannot hold a name with ']' or a "
					  "control character, or the name '*'",
					  m->name);
	if (m->path && !davy_output_writable(m->path, ";#"))
		return davy_output_refuse(result,
					  "path '%s': a preset cannot hold a path with ';', '#' "
					  "or a control character",
					  m->path);
	return 0;
}

static int router_preset_write(const struct davy_output_request *r, FILE *out,
			       struct davy_output_result *result)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->model_count; i++)
		err = router_preset_check(&r->models[i], result);
	if (err)
		return err;
	fputs("# llama-server --models-preset FILE\nversion = 1\n", out);
	if (!r->model_count)
		router_preset_put_section(r, NULL, out, result);
	for (size_t i = 0; i < r->model_count; i++)
		router_preset_put_section(r, &r->models[i], out, result);
	return 0;
}

const struct davy_output_format davy_output_router_preset = {
	.name = "router-preset",
	.what = "presets of llama-server's router, INI",
	.write = router_preset_write,
};
