/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct davy_output_format *const formats[] = {
	&davy_output_env,	 &davy_output_router_preset, &davy_output_ollama,
	&davy_output_llama_swap, &davy_output_lemonade,	     &davy_output_compose,
	&davy_output_quadlet,	 &davy_output_k8s,
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

static int formats_check(const struct davy_output_format *f, const struct davy_output_request *r,
			 struct davy_output_result *result)
{
	if (f->one_model && r->model_count != 1)
		return davy_output_refuse(result, "'%s' needs one model: use --model NAME",
					  f->name);
	if (f->no_model && r->model_count)
		return davy_output_refuse(result, "'%s' is for all models: omit --model", f->name);
	for (size_t i = 0; i < r->model_count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(r->models[i].name, r->models[j].name))
				return davy_output_refuse(result, "the model '%s' is given twice",
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
	err = formats_check(f, request, ret_result);
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
