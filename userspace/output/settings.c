/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/settings.h"

#include <string.h>

void dl_output_settle(const struct dl_output_request *r, enum dl_engine engine, enum dl_engine as,
		      const struct dl_output_model *model, struct dl_output_settings *ret_settings)
{
	static char *const ollama[] = { "ollama", "serve", NULL };
	static char *const llama[] = { "llama-server", NULL };
	const struct dl_engine_look look = { .argv = as == DL_ENGINE_OLLAMA ? ollama : llama,
					     .exe = "",
					     .parent = "" };
	struct dl_output_settings *s = ret_settings;
	struct dl_policy_subject subject = r->subject;

	subject.engine = engine;
	if (model)
		dl_copy_name(subject.model, sizeof(subject.model), model->name);
	if (subject.backend == DL_BACKEND_UNKNOWN)
		subject.backend = dl_subject_default_backend(&subject);
	dl_policy_effective(&r->set, &subject, &s->effective);
	dl_engine_identify(&look, &s->facts);
	if (r->subject.context)
		s->facts.context_size = r->subject.context;
	dl_policy_limits(&s->effective, &s->facts, &s->knobs);
}

static void add(struct dl_output_options *list, const char *name, const char *value,
		const struct dl_policy_origin *origin)
{
	struct dl_output_pair *p = &list->at[list->count];

	if (list->count == DL_OUTPUT_OPTIONS_MAX)
		return;
	dl_copy_name(p->name, sizeof(p->name), name);
	dl_copy_name(p->value, sizeof(p->value), value);
	p->origin = origin;
	list->count++;
}

static void add_number(struct dl_output_options *list, const char *name, uint32_t value,
		       const struct dl_policy_origin *origin)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	if (value)
		add(list, name, text, origin);
}

static void add_backend(const struct dl_effective *e, uint32_t available,
			struct dl_output_options *list)
{
	static const char *const devices[DL_BACKEND_COUNT] = {
		[DL_BACKEND_CPU] = "none",   [DL_BACKEND_VULKAN] = "Vulkan0",
		[DL_BACKEND_ROCM] = "ROCm0", [DL_BACKEND_CUDA] = "CUDA0",
		[DL_BACKEND_SYCL] = "SYCL0",
	};
	const struct dl_policy_origin *origin = &e->value[DL_POLICY_BACKENDS].origin;
	enum dl_backend backend = dl_policy_backend(e, available);

	if (backend == DL_BACKEND_UNKNOWN)
		return;
	add(list, "--device", devices[backend], origin);
	if (backend == DL_BACKEND_CPU)
		add(list, "--gpu-layers", "0", origin);
}

void dl_output_llama_options(const struct dl_output_settings *s, uint32_t available,
			     struct dl_output_options *ret_options, struct dl_output_result *result)
{
	const struct dl_effective *e = &s->effective;
	const struct dl_policy_value *v = e->value, *cache = &v[DL_POLICY_CACHE_TYPE];

	memset(ret_options, 0, sizeof(*ret_options));
	add_backend(e, available, ret_options);
	add_number(ret_options, "--ubatch-size", s->knobs.ubatch, &v[DL_POLICY_UBATCH].origin);
	add_number(ret_options, "--ctx-size", s->knobs.context, &v[DL_POLICY_CONTEXT].origin);
	add_number(ret_options, "--parallel", s->knobs.parallel, &v[DL_POLICY_PARALLEL].origin);
	if (cache->number) {
		add(ret_options, "--cache-type-k", cache->text, &cache->origin);
		add(ret_options, "--cache-type-v", cache->text, &cache->origin);
	}
	for (size_t i = 0; i < e->argument_count; i++)
		add(ret_options, e->argument[i].name, e->argument[i].text, &e->argument[i].origin);
	if (s->knobs.gpu_layers_off)
		dl_output_note(result,
			       "gpu_layers_off = %u: how many layers are on the GPU is "
			       "not known here",
			       s->knobs.gpu_layers_off);
}

void dl_output_note_environment(const struct dl_effective *e, struct dl_output_result *result)
{
	for (size_t i = 0; i < e->environment_count; i++)
		dl_output_note(result,
			       "environment %s = %s: belongs into the unit that starts it, see "
			       "'davylamp policy write env'",
			       e->environment[i].name, e->environment[i].text);
}
