/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine.h"

#include <string.h>

#include "lib/text.h"
#include "engines/command.h"
#include "engines/table.h"

/* The first match counts: specific rows come before general ones. */
/* clang-format off */
static const struct davy_engine_ops *const engines[] = {
	&davy_engine_llama_server,
	&davy_engine_ollama,
	&davy_engine_ollama_runner,
	&davy_engine_llama_swap,
	&davy_engine_lemonade,
	&davy_engine_localai,
	&davy_engine_koboldcpp,
	&davy_engine_vllm,
	&davy_engine_sglang,
	&davy_engine_tgi,
	&davy_engine_whisper_cpp,
	&davy_engine_sd_cpp,
	&davy_engine_comfyui,
	&davy_engine_llama_python,
	&davy_engine_llama_tool,
	&davy_engine_lm_studio,
	&davy_engine_generic,
};
/* clang-format on */

/* Whatever their arguments and titles say: the engine is the process that a script starts. */
static const char shells[] = "sh bash dash ash ksh ksh93 mksh zsh fish busybox csh tcsh perl ruby";

#define ENGINE_COUNT (sizeof(engines) / sizeof(engines[0]))

/* "vllm" also matches the module vllm.entrypoints.openai.api_server. */
static bool engine_module_in(const char *list, const char *module)
{
	char first[64];
	size_t len = strcspn(module, ".");

	if (!module[0] || len >= sizeof(first))
		return false;
	memcpy(first, module, len);
	first[len] = 0;
	return davy_word_in(list, module) || davy_word_in(list, first);
}

static bool engine_part_in(const char *list, const char *path)
{
	char part[64];

	while (list && *list) {
		size_t len = strcspn(list, " ");

		if (len && len < sizeof(part)) {
			memcpy(part, list, len);
			part[len] = 0;
			if (strcasestr(path, part))
				return true;
		}
		list += len + (list[len] == ' ');
	}
	return false;
}

/* File name of the executable. After a package upgrade, the kernel appends " (deleted)". */
static const char *engine_exe_name(const struct davy_engine_look *look, char *buf, size_t size)
{
	size_t len;

	davy_copy_name(buf, size, davy_base_name(look->exe));
	len = strlen(buf);
	if (len > 10 && !strcmp(buf + len - 10, " (deleted)"))
		buf[len - 10] = 0;
	return buf;
}

static bool engine_matches(const struct davy_engine_marks *m, const struct davy_engine_look *look,
			   const struct davy_command *c)
{
	bool script = c->python && !m->python;
	char name[256];

	engine_exe_name(look, name, sizeof(name));
	if (davy_word_in(shells, name))
		return false;
	if (c->module[0])
		return engine_module_in(m->modules, c->module);
	return (!script && davy_word_in(m->programs, c->program)) ||
	       davy_word_in(m->programs, name) || davy_word_in(m->titles, c->title) ||
	       engine_part_in(m->paths, look->exe) || engine_part_in(m->paths, c->title) ||
	       engine_part_in(m->paths, c->path);
}

void davy_engine_identify(const struct davy_engine_look *look, struct davy_engine_facts *ret_facts)
{
	struct davy_command command;

	davy_command_of(look, &command);
	for (size_t i = 0; i < ENGINE_COUNT; i++) {
		const struct davy_engine_ops *ops = engines[i];

		memset(ret_facts, 0, sizeof(*ret_facts));
		ret_facts->engine = ops->engine;
		ret_facts->gpu_layers = DAVY_LAYERS_AUTO;
		if (ops->read && engine_matches(&ops->marks, look, &command) &&
		    ops->read(look, &command, ret_facts))
			return;
	}
	memset(ret_facts, 0, sizeof(*ret_facts));
	ret_facts->gpu_layers = DAVY_LAYERS_AUTO;
}

/* The kernel keeps DAVY_COMM_LEN - 1 bytes of a program's name. */
static bool engine_comm_in(const char *list, const char *comm)
{
	while (list && *list) {
		size_t len = strcspn(list, " ");
		bool open = len > 1 && list[len - 1] == '*';
		size_t kept = len - open < DAVY_COMM_LEN - 1 ? len - open : DAVY_COMM_LEN - 1;

		if (kept && !strncmp(comm, list, kept) && (open || !comm[kept]))
			return true;
		list += len + (list[len] == ' ');
	}
	return false;
}

enum davy_engine davy_engine_of_comm(const char *comm)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		if (engine_comm_in(engines[i]->marks.programs, comm) ||
		    engine_comm_in(engines[i]->marks.titles, comm))
			return engines[i]->engine;
	return DAVY_ENGINE_NONE;
}

enum davy_engine davy_engine_of_library(const char *name)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		if (davy_word_in(engines[i]->marks.libraries, name))
			return engines[i]->engine;
	return DAVY_ENGINE_NONE;
}

/* The role of a service is unknown until its process was read. */
const struct davy_engine_api *davy_engine_api(enum davy_engine engine, enum davy_role role)
{
	static const struct davy_engine_api none = { .name = "none" };
	const struct davy_engine_ops *ops;
	const struct davy_engine_api *api;

	ops = davy_engine_ops_of(engine);
	if (!ops || role >= DAVY_ROLE_COUNT)
		return &none;
	api = ops->api[role == DAVY_ROLE_UNKNOWN ? DAVY_ROLE_SERVER : role];
	if (!api && (role == DAVY_ROLE_UNKNOWN || role == DAVY_ROLE_SERVER))
		api = ops->api[DAVY_ROLE_MANAGER];
	return api ? api : &none;
}

uint32_t davy_engine_backends(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops ? ops->backends : DAVY_BACKENDS_GGML;
}

enum davy_engine davy_engine_configured_by(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops ? ops->configured_by : DAVY_ENGINE_NONE;
}

const char *const *davy_engine_places(enum davy_engine engine)
{
	const struct davy_engine_ops *ops = davy_engine_ops_of(engine);

	return ops ? ops->places : NULL;
}

const struct davy_engine_ops *davy_engine_ops_of(enum davy_engine engine)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		if (engines[i]->engine == engine)
			return engines[i];
	return NULL;
}
