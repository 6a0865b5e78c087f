/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KoboldCpp 1.123: one program or a Python script, ggml inside of koboldcpp_*.so. */
#include "engines/table.h"

static bool read(const struct dl_engine_look *look, const struct dl_command *c,
		 struct dl_engine_facts *facts)
{
	const char *layers = dl_option(c->args, "--gpulayers --gpu-layers --n-gpu-layers -ngl");
	const char *model = dl_option(c->args, "--model -m");

	(void)look;
	facts->role = DL_ROLE_SERVER;
	if (!model && c->args[0] && c->args[0][0] != '-')
		model = c->args[0];
	dl_set_model_file(facts, model);
	dl_set_port(facts, dl_option(c->args, "--port"), 5001);
	facts->context_size = dl_token_count(dl_option(c->args, "--contextsize --ctx-size -c"));
	facts->batch =
		dl_token_count(dl_option(c->args, "--blasbatchsize --batchsize --batch-size -b"));
	facts->ubatch = facts->batch;
	if (layers && layers[0] != '-')
		facts->gpu_layers = (int32_t)dl_token_count(layers);
	if (dl_has_option(c->args, "--usevulkan"))
		facts->backend = DL_BACKEND_VULKAN;
	else if (dl_has_option(c->args, "--usecpu"))
		facts->backend = DL_BACKEND_CPU;
	return true;
}

const struct dl_engine_ops dl_engine_koboldcpp = {
	.engine = DL_ENGINE_KOBOLDCPP,
	.marks = { .programs = "koboldcpp koboldcpp-* koboldcpp_* koboldcpp.py",
		   .libraries = "koboldcpp_*" },
	.read = read,
	.knobs = { .ubatch = "-b --batch-size --batchsize --blasbatchsize",
		   .context = "-c --ctx-size --contextsize" },
};
