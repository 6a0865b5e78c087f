/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/settings.h"

#include <string.h>

#include "engines/tell.h"

void davy_output_settle(const struct davy_output_request *r, enum davy_engine engine,
			enum davy_engine as, const struct davy_output_model *model,
			struct davy_output_settings *ret_settings)
{
	static char *const ollama[] = { "ollama", "serve", NULL };
	static char *const llama[] = { "llama-server", NULL };
	const struct davy_engine_look look = { .argv = as == DAVY_ENGINE_OLLAMA ? ollama : llama,
					       .exe = "",
					       .parent = "" };
	struct davy_output_settings *s = ret_settings;
	struct davy_policy_subject subject = r->subject;

	subject.engine = engine;
	if (model)
		davy_copy_name(subject.model, sizeof(subject.model), model->name);
	if (subject.backend == DAVY_BACKEND_UNKNOWN)
		subject.backend =
			davy_subject_default_backend(&subject, davy_engine_backends(engine));
	davy_policy_effective(&r->set, &subject, &s->effective);
	davy_engine_identify(&look, &s->facts);
	if (r->subject.context)
		s->facts.context_size = r->subject.context;
	davy_policy_limits(&s->effective, &s->facts, &s->settings);
}

static void settings_add(struct davy_output_options *list, const char *name, const char *value,
			 const struct davy_policy_origin *origin)
{
	struct davy_output_pair *p = &list->at[list->count];

	if (list->count == DAVY_OUTPUT_OPTIONS_MAX)
		return;
	davy_copy_name(p->name, sizeof(p->name), name);
	davy_copy_name(p->value, sizeof(p->value), value);
	p->origin = origin;
	list->count++;
}

static void settings_add_number(struct davy_output_options *list, const char *name, uint32_t value,
				const struct davy_policy_origin *origin)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	if (value)
		settings_add(list, name, text, origin);
}

static void settings_add_backend(const struct davy_effective *e, uint32_t available,
				 struct davy_output_options *list)
{
	static const char *const devices[DAVY_BACKEND_COUNT] = {
		[DAVY_BACKEND_CPU] = "none",   [DAVY_BACKEND_VULKAN] = "Vulkan0",
		[DAVY_BACKEND_ROCM] = "ROCm0", [DAVY_BACKEND_CUDA] = "CUDA0",
		[DAVY_BACKEND_SYCL] = "SYCL0",
	};
	const struct davy_policy_origin *origin = &e->value[DAVY_POLICY_BACKENDS].origin;
	enum davy_backend backend = davy_policy_backend(e, available);

	if (backend == DAVY_BACKEND_UNKNOWN)
		return;
	settings_add(list, "--device", devices[backend], origin);
	if (backend == DAVY_BACKEND_CPU)
		settings_add(list, "--gpu-layers", "0", origin);
}

void davy_output_llama_options(const struct davy_output_settings *s, uint32_t available,
			       struct davy_output_options *ret_options,
			       struct davy_output_result *result)
{
	const struct davy_effective *e = &s->effective;
	const struct davy_policy_value *v = e->value, *cache = &v[DAVY_POLICY_CACHE_TYPE];

	memset(ret_options, 0, sizeof(*ret_options));
	settings_add_backend(e, available, ret_options);
	settings_add_number(ret_options, "--ubatch-size", s->settings.ubatch,
			    &v[DAVY_POLICY_UBATCH].origin);
	settings_add_number(ret_options, "--ctx-size", s->settings.context,
			    &v[DAVY_POLICY_CONTEXT].origin);
	settings_add_number(ret_options, "--parallel", s->settings.parallel,
			    &v[DAVY_POLICY_PARALLEL].origin);
	if (cache->number) {
		settings_add(ret_options, "--cache-type-k", cache->text, &cache->origin);
		settings_add(ret_options, "--cache-type-v", cache->text, &cache->origin);
	}
	for (size_t i = 0; i < e->argument_count; i++)
		settings_add(ret_options, e->argument[i].name, e->argument[i].text,
			     &e->argument[i].origin);
	if (s->settings.gpu_layers_off)
		davy_output_note(result,
				 "gpu_layers_off = %u: the number of layers on the GPU is "
				 "unknown here",
				 s->settings.gpu_layers_off);
}

void davy_output_note_environment(const struct davy_effective *e, struct davy_output_result *result)
{
	for (size_t i = 0; i < e->environment_count; i++)
		davy_output_note(result,
				 "environment %s = %s: belongs in the unit that starts the engine, "
				 "see 'davylamp policy write env'",
				 e->environment[i].name, e->environment[i].text);
}
