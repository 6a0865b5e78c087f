/* SPDX-License-Identifier: GPL-2.0-or-later */
/* KoboldCpp 1.123: a program or a Python script, with ggml inside koboldcpp_*.so. */
#include "engines/table.h"

#include <errno.h>
#include <stdlib.h>

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

static const char gpu_lists[] = "--usecuda --usecublas --usehipblas --usevulkan --useclblast "
				"--tensor_split --tensorsplit --tensor-split -ts";

static bool koboldcpp_is_number(const char *word)
{
	char *end;

	strtod(word, &end);
	return word[0] && !*end;
}

/*
 * Only one of --usecuda, --usevulkan and --usecpu is accepted. The first two are followed by any
 * number of device numbers and words. A settings file overrides all arguments.
 */
static int koboldcpp_to_cpu(char *const argv[], struct davy_args *args)
{
	static const char words[] = "all mmq nommq normal lowvram rowsplit";
	struct davy_args kept = { 0 };
	bool list = false;
	int err = davy_has_option(argv, "--config *.kcpps *.kcppt") ? -EOPNOTSUPP : 0;

	for (size_t i = 0; argv[i] && !err; i++) {
		list = davy_word_in(gpu_lists, argv[i]) ||
		       (list && (koboldcpp_is_number(argv[i]) || davy_word_in(words, argv[i])));
		if (!list)
			err = davy_args_add(&kept, argv[i]);
	}
	if (!err)
		err = davy_args_without(
			kept.at,
			"--gpulayers --gpu-layers --n-gpu-layers -ngl --device -dev "
			"--maingpu --main-gpu -mg",
			"--usecpu", args);
	davy_args_done(&kept);
	return err ? err : davy_args_add(args, "--usecpu");
}

static const struct davy_engine_api koboldcpp_api = { "openai", "/api/extra/perf", "/v1/models" };

const struct davy_engine_ops davy_engine_koboldcpp = {
	.engine = DAVY_ENGINE_KOBOLDCPP,
	.marks = { .programs = "koboldcpp koboldcpp-* koboldcpp_* koboldcpp.py",
		   .libraries = "koboldcpp_*",
		   .python = true },
	.read = koboldcpp_read,
	.to_cpu = koboldcpp_to_cpu,
	.api[DAVY_ROLE_SERVER] = &koboldcpp_api,
	.backends = DAVY_BACKENDS_GGML,
	.settings = { .ubatch = "-b --batch-size --batchsize --blasbatchsize",
		      .context = "-c --ctx-size --contextsize" },
};
