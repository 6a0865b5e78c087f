/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameters of an Ollama model, as a Modelfile: 'ollama create NAME -f FILE' (parser/parser.go and
 * api/types.go at fb307609: num_batch, num_ctx, num_gpu). Ollama's context is per slot; that of the
 * rules is the sum of all slots. The other settings are variables of the daemon.
 */
#include <string.h>

#include "output/settings.h"

/* model[:tag], host/space/model, or a file. */
static bool output_ollama_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.:/@-";

	return name[0] && name[0] != '-' && !name[strspn(name, letters)];
}

static void output_ollama_put(FILE *out, const char *name, uint32_t value,
			      const struct davy_policy_value *v)
{
	davy_output_origin(out, name, &v->origin);
	fprintf(out, "PARAMETER %s %u\n", name, value);
}

static void output_ollama_note(const struct davy_output_settings *s,
			       struct davy_output_result *result)
{
	const struct davy_effective *e = &s->effective;

	if (s->settings.parallel)
		davy_output_note(result,
				 "parallel = %u: a setting of the daemon, see 'davylamp policy "
				 "write env --engine ollama'",
				 s->settings.parallel);
	if (e->value[DAVY_POLICY_CACHE_TYPE].number)
		davy_output_note(result,
				 "cache_type = %s: a setting of the daemon, see 'davylamp policy "
				 "write env --engine ollama'",
				 e->value[DAVY_POLICY_CACHE_TYPE].text);
	if (s->settings.gpu_layers_off)
		davy_output_note(result,
				 "gpu_layers_off = %u: the number of layers on the GPU is "
				 "unknown here",
				 s->settings.gpu_layers_off);
	for (size_t i = 0; i < e->argument_count; i++)
		davy_output_note(result, "argument %s: Ollama's runner accepts no arguments",
				 e->argument[i].name);
	if (e->backend !=
	    DAVY_BACKEND_CPU) /* keeps all models on the CPU, so it does not belong to the daemon */
		davy_output_note_environment(e, result);
}

static int output_ollama_write(const struct davy_output_request *r, FILE *out,
			       struct davy_output_result *result)
{
	const struct davy_output_model *m = &r->models[0];
	const char *from = m->path ? m->path : m->name;
	const struct davy_policy_value *v;
	struct davy_output_settings s;
	uint32_t slots, context;

	if (!output_ollama_is_name(from))
		return davy_output_refuse(result, "'%s' is not the name of an Ollama model", from);
	davy_output_settle(r, DAVY_ENGINE_OLLAMA, DAVY_ENGINE_OLLAMA, m, &s);
	v = s.effective.value;
	slots = s.settings.parallel ? s.settings.parallel : 1;
	context = s.settings.context / slots;
	fprintf(out, "# ollama create NAME -f FILE\nFROM %s\n", from);
	if (s.settings.ubatch)
		output_ollama_put(out, "num_batch", s.settings.ubatch, &v[DAVY_POLICY_UBATCH]);
	if (context)
		output_ollama_put(out, "num_ctx", context, &v[DAVY_POLICY_CONTEXT]);
	if (davy_policy_backend(&s.effective, r->subject.available) == DAVY_BACKEND_CPU)
		output_ollama_put(out, "num_gpu", 0, &v[DAVY_POLICY_BACKENDS]);
	output_ollama_note(&s, result);
	return 0;
}

const struct davy_output_format davy_output_ollama = {
	.name = "ollama",
	.what = "a Modelfile with a model's parameters",
	.one_model = true,
	.write = output_ollama_write,
};
