/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/engine_parts.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/engine.h"

#define FOUND_MAX 512

static uint32_t engine_parts_backend_of(const char *path)
{
	static const struct {
		const char *begin;
		enum davy_backend backend;
	} rows[] = {
		{ "libggml-vulkan.", DAVY_BACKEND_VULKAN }, { "libggml-hip.", DAVY_BACKEND_ROCM },
		{ "libggml-cuda.", DAVY_BACKEND_CUDA },	    { "libggml-sycl.", DAVY_BACKEND_SYCL },
		{ "libggml-cpu", DAVY_BACKEND_CPU },	    { "libggml-base.", DAVY_BACKEND_CPU },
	};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(name, rows[i].begin, strlen(rows[i].begin)))
			return 1u << rows[i].backend;
	return 0;
}

/* Pattern characters are not escaped: a directory whose name contains them is not searched. */
static uint32_t engine_parts_at(const char *dir, const char *place)
{
	char pattern[PATH_MAX];
	uint32_t parts = 0;
	glob_t found;

	if (strpbrk(dir, "*?[\\") ||
	    snprintf(pattern, sizeof(pattern), "%s/%s", dir, place) >= (int)sizeof(pattern))
		return 0;
	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && i < FOUND_MAX; i++)
			parts |= engine_parts_backend_of(found.gl_pathv[i]);
	globfree(&found);
	return parts;
}

/* The program's directory, with links resolved. */
static bool engine_parts_directory(const char *path, char dir[PATH_MAX])
{
	char *slash;

	if (access(path, X_OK) || !realpath(path, dir))
		return false;
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	return slash != NULL;
}

static bool engine_parts_find(const char *program, char dir[PATH_MAX])
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(program, '/'))
		return engine_parts_directory(program, dir);
	while (at && *at) {
		size_t len = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, program) <
			    (int)sizeof(path) &&
		    len && engine_parts_directory(path, dir))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

uint32_t davy_engine_parts(enum davy_engine engine, const char *program)
{
	const char *const *places = davy_engine_places(engine);
	uint32_t parts = 0;
	char dir[PATH_MAX];

	if (!places || !engine_parts_find(program, dir))
		return 0;
	for (size_t i = 0; places[i]; i++)
		parts |= engine_parts_at(dir, places[i]);
	return parts ? parts | 1u << DAVY_BACKEND_CPU : 0;
}
