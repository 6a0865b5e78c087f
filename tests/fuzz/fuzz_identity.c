/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inputs that a process controls: arguments, environment, cgroup names, manifests. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"
#include "sensors/proc/cgroup_name.h"
#include "sensors/proc/ollama_name.h"

#define LIST_MAX 64

/* Consecutive strings, as in /proc; returns the text behind an empty one. */
static char *list_of(char *at, const char *end, char **list)
{
	size_t count = 0;

	while (at < end && *at && count < LIST_MAX) {
		list[count++] = at;
		at += strlen(at) + 1;
	}
	list[count] = NULL;
	return at < end ? at + 1 : at;
}

static void must_end(const char *text, size_t size)
{
	if (!memchr(text, 0, size))
		abort();
}

static void identify(char *text, const char *end)
{
	char *argv[LIST_MAX + 1], *envp[LIST_MAX + 1], *rest[LIST_MAX + 1];
	struct davy_engine_look look = { .argv = argv, .envp = envp, .exe = "", .parent = "" };
	struct davy_engine_facts f;

	list_of(list_of(list_of(text, end, argv), end, envp), end, rest);
	if (rest[0])
		look.exe = rest[0];
	if (rest[0] && rest[1])
		look.parent = rest[1];
	davy_engine_identify(&look, &f);
	must_end(f.model, sizeof(f.model));
	must_end(f.cache_k, sizeof(f.cache_k));
	if (f.engine >= DAVY_ENGINE_COUNT || f.role >= DAVY_ROLE_COUNT ||
	    f.backend >= DAVY_BACKEND_COUNT || f.gpu_layers < DAVY_LAYERS_ALL ||
	    (f.ubatch > f.batch && f.llama_cpp))
		abort();
	davy_engine_of_library(look.exe);
}

static void name_cgroup(const char *text)
{
	struct davy_cgroup_name n;

	davy_cgroup_name_read(text, &n);
	must_end(n.unit, sizeof(n.unit));
	must_end(n.container, sizeof(n.container));
	must_end(n.pod, sizeof(n.pod));
	if (n.runtime >= DAVY_RUNTIME_COUNT || (n.container[0] && n.runtime == DAVY_RUNTIME_NONE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] % 3 == 0)
		identify(text, text + size - 1);
	else if (data[0] % 3 == 1)
		name_cgroup(text);
	else
		davy_ollama_manifest_has(text, size - 1, "00");
	free(text);
	return 0;
}
