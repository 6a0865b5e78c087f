/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * llama.cpp's llama-server. Flags as of 0.7.0 (b11669); a flag on the command line beats its
 * LLAMA_ARG_* variable, so strict CPU is made of arguments (measured): "-ngl 0" alone
 * keeps a Vulkan context and runs large batches on it, "--device none" does not.
 */
#include "table.h"

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

/* Who starts llama-servers of their own; Ollama is told by more than its name. */
static const char managers[] = "lemond llama-swap local-ai";

static enum dl_role role_of(const struct dl_engine_look *look, const struct dl_command *c,
			    const struct dl_engine_facts *facts)
{
	if (dl_has_option(c->args, "--list-devices"))
		return DL_ROLE_DISCOVERY;
	if (dl_has_option(c->args, "--version -h --help --usage -cl --cache-list "
				   "--completion-bash"))
		return DL_ROLE_TOOL;
	if (dl_env(look, "LLAMA_SERVER_ROUTER_PORT") || dl_word_in(managers, look->parent))
		return DL_ROLE_RUNNER;
	return facts->loads_model ? DL_ROLE_SERVER : DL_ROLE_MANAGER;
}

static bool read(const struct dl_engine_look *look, const struct dl_command *c,
		 struct dl_engine_facts *facts)
{
	dl_llama_read(look, c, facts);
	/* 9931 since b11669 or so, 8080 before: who listens knows better, see process_info.c */
	dl_set_port(facts, dl_setting(look, c, "--port", "LLAMA_ARG_PORT"), 8080);
	facts->role = role_of(look, c, facts);
	facts->models_dir = dl_env(look, "OLLAMA_MODELS");
	if (!dl_is_ollama_child(look, c, facts))
		return true;
	facts->engine = DL_ENGINE_OLLAMA_RUNNER;
	facts->role = facts->loads_model ? DL_ROLE_RUNNER : DL_ROLE_DISCOVERY;
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
	.marks = { .programs = "llama-server llama-server-* .llama-server-wrapped" },
	.read = read,
	.to_cpu = to_cpu,
	.cpu_unset = cpu_unset,
};
