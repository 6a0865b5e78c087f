/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KoboldCpp 1.123: a program or a Python script, with ggml inside koboldcpp_*.so. */
#include "engines/table.h"

static bool koboldcpp_read(const struct davy_engine_look *look, const struct davy_command *c,
			   struct davy_engine_facts *facts)
{
	const char *layers = davy_option(c->args, "--gpulayers --gpu-layers --n-gpu-layers -ngl");
	const char *model = davy_option(c->args, "--model -m");

	(void)look;
	facts->role = DAVY_ROLE_SERVER;
	if (!model && c->args[0] && c->args[0][0] != '-')
		model = c->args[0];
	davy_set_model_file(facts, model);
	davy_set_port(facts, davy_option(c->args, "--port"), 5001);
	facts->context_size = davy_token_count(davy_option(c->args, "--contextsize --ctx-size -c"));
	facts->batch = davy_token_count(
		davy_option(c->args, "--blasbatchsize --batchsize --batch-size -b"));
	facts->ubatch = facts->batch;
	if (layers && layers[0] != '-')
		facts->gpu_layers = (int32_t)davy_token_count(layers);
	if (davy_has_option(c->args, "--usevulkan"))
		facts->backend = DAVY_BACKEND_VULKAN;
	else if (davy_has_option(c->args, "--usecpu"))
		facts->backend = DAVY_BACKEND_CPU;
	return true;
}

static const struct davy_engine_api koboldcpp_api = { "openai", "/api/extra/perf", "/v1/models" };

const struct davy_engine_ops davy_engine_koboldcpp = {
	.engine = DAVY_ENGINE_KOBOLDCPP,
	.marks = { .programs = "koboldcpp koboldcpp-* koboldcpp_* koboldcpp.py",
		   .libraries = "koboldcpp_*",
		   .python = true },
	.read = koboldcpp_read,
	.api[DAVY_ROLE_SERVER] = &koboldcpp_api,
	.backends = DAVY_BACKENDS_GGML,
	.settings = { .ubatch = "-b --batch-size --batchsize --blasbatchsize",
		      .context = "-c --ctx-size --contextsize" },
};
