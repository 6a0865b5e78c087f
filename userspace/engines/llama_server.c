/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama.cpp's llama-server. Flags as of 0.7.0 (b11669); a flag on the command line beats its
 * LLAMA_ARG_* variable, so strict CPU is made of arguments (measured): "-ngl 0" alone
 * keeps a Vulkan context and runs large batches on it, "--device none" does not.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct flag {
	const char *name;
	bool has_value;
};

/*
 * Flags that place work on a device. Most are overridden by a later one, but a -dev, -devd or -ot
 * that names a device is still parsed, and -ot survives everything, so all of them are taken out.
 */
static const struct flag device_flags[] = {
	{ "-dev", true },
	{ "--device", true },
	{ "-devd", true },
	{ "--device-draft", true },
	{ "--spec-draft-device", true },
	{ "-ot", true },
	{ "--override-tensor", true },
	{ "-otd", true },
	{ "--override-tensor-draft", true },
	{ "-ngl", true },
	{ "--gpu-layers", true },
	{ "--n-gpu-layers", true },
	{ "-ngld", true },
	{ "--gpu-layers-draft", true },
	{ "--n-gpu-layers-draft", true },
	{ "--spec-draft-ngl", true },
	{ "-sm", true },
	{ "--split-mode", true },
	{ "-ts", true },
	{ "--tensor-split", true },
	{ "-mg", true },
	{ "--main-gpu", true },
	{ "-mmdev", true },
	{ "-kvo", false },
	{ "--kv-offload", false },
	{ "--op-offload", false },
	{ "--mmproj-offload", false },
};

/* Beats every LLAMA_ARG_* variable; measured: no Vulkan buffer, no worker thread is left. */
static const char *const cpu_flags[] = {
	"--device",	      "none",  "--device-draft",  "none",
	"--split-mode",	      "layer", "--gpu-layers",	  "0",
	"--gpu-layers-draft", "0",     "--no-op-offload", "--no-mmproj-offload",
	"--no-kv-offload",
};

/* Variables no argument overrides. */
static const char *const cpu_unset[] = { "LLAMA_ARG_OVERRIDE_TENSOR", NULL };

static const char *value_of(char *const argv[], const char *const *names)
{
	const char *found = NULL;

	for (size_t i = 1; i < DL_ARGS_MAX && argv[i]; i++)
		for (size_t n = 0; names[n]; n++)
			if (!strcmp(argv[i], names[n]) && argv[i + 1])
				found = argv[i + 1]; /* the last one counts */
	return found;
}

static uint16_t port_of(char *const argv[])
{
	static const char *const names[] = { "--port", NULL };
	const char *text = value_of(argv, names);
	long port = text ? strtol(text, NULL, 10) : 8080;

	return port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
}

static void model_of(char *const argv[], struct dl_engine_facts *facts)
{
	static const char *const alias[] = { "-a", "--alias", NULL };
	static const char *const file[] = { "-m", "--model", NULL };
	static const char *const repo[] = { "-hf", "-hfr", "--hf-repo", NULL };
	const char *text = value_of(argv, file);

	facts->loads_model = text || value_of(argv, repo);
	if (!text)
		text = value_of(argv, repo);
	else
		text = dl_base_name(text);
	if (value_of(argv, alias))
		text = value_of(argv, alias);
	if (text)
		dl_engine_set_model(facts, text);
}

static bool recognise(char *const argv[], struct dl_engine_facts *facts)
{
	static const char *const device[] = { "-dev", "--device", NULL };
	const char *name = value_of(argv, device);

	if (strcmp(dl_base_name(argv[0]), "llama-server") != 0)
		return false;
	facts->port = port_of(argv);
	model_of(argv, facts);
	if (name && !strcmp(name, "none"))
		facts->backend = DL_BACKEND_CPU;
	else if (name && !strncmp(name, "Vulkan", 6))
		facts->backend = DL_BACKEND_VULKAN;
	return true;
}

static const struct flag *device_flag(const char *arg)
{
	for (size_t i = 0; i < sizeof(device_flags) / sizeof(device_flags[0]); i++)
		if (!strcmp(arg, device_flags[i].name))
			return &device_flags[i];
	return NULL;
}

static int to_cpu(char *const argv[], struct dl_args *args)
{
	int err = 0;

	for (size_t i = 0; argv[i] && !err; i++) {
		const struct flag *flag = i ? device_flag(argv[i]) : NULL;

		if (!flag)
			err = dl_args_add(args, argv[i]);
		else if (flag->has_value && argv[i + 1])
			i++;
	}
	for (size_t i = 0; i < sizeof(cpu_flags) / sizeof(cpu_flags[0]) && !err; i++)
		err = dl_args_add(args, cpu_flags[i]);
	return err;
}

const struct dl_engine_ops dl_engine_llama_server = {
	.engine = DL_ENGINE_LLAMA_SERVER,
	.recognise = recognise,
	.to_cpu = to_cpu,
	.cpu_unset = cpu_unset,
};
