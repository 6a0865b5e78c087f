/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: its program, its library folders, the backends they contain, and the GPUs for which
 * its rocBLAS has kernels. Tensile names its files after the GPUs ("..._lazy_gfx1100.dat").
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines/engine.h"
#include "doctor/read.h"
#include "lib/text.h"

#define ENTRIES_MAX 20000
#define DIRS_MAX    48

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Folders that may contain the engine's libraries, the nearest first. */
struct dirs {
	size_t count;
	char at[DIRS_MAX][DAVY_DOCTOR_PATH];
};

static const struct {
	enum davy_backend backend;
	const char *name;
} libraries[] = {
	{ DAVY_BACKEND_VULKAN, "libggml-vulkan.so" },
	{ DAVY_BACKEND_ROCM, "libggml-hip.so" },
	{ DAVY_BACKEND_CUDA, "libggml-cuda.so" },
	{ DAVY_BACKEND_SYCL, "libggml-sycl.so" },
};

static void add_dir(struct dirs *dirs, const char *above, const char *below)
{
	char path[PATH_MAX];
	struct stat st;

	if (dirs->count == DIRS_MAX || !above[0] ||
	    snprintf(path, sizeof(path), "%s%s", above, below) >= DAVY_DOCTOR_PATH ||
	    stat(path, &st) || !S_ISDIR(st.st_mode))
		return;
	davy_copy_name(dirs->at[dirs->count++], DAVY_DOCTOR_PATH, path);
}

/* Adds a folder and its subfolders by name: Ollama has one for each backend. */
static void add_with_children(struct dirs *dirs, const char *above, const char *below)
{
	struct dirent **list = NULL;
	char path[PATH_MAX];
	int count;

	add_dir(dirs, above, below);
	snprintf(path, sizeof(path), "%s%s", above, below);
	count = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char child[300];

		snprintf(child, sizeof(child), "/%s", list[i]->d_name);
		if (list[i]->d_name[0] != '.' && list[i]->d_type != DT_REG)
			add_dir(dirs, path, child);
		free(list[i]);
	}
	free(list);
}

static void list_dirs(const struct davy_doctor_facts *facts, const struct davy_who *who,
		      struct dirs *ret_dirs)
{
	const char *path = facts->engine.path, *slash = strrchr(path, '/');
	const char *own = davy_who_variable(who, "LD_LIBRARY_PATH");
	char dir[DAVY_DOCTOR_PATH] = "", entry[DAVY_DOCTOR_PATH];

	ret_dirs->count = 0;
	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	add_dir(ret_dirs, dir, "");
	if (dir[0]) {
		add_with_children(ret_dirs, dir, "/../lib/ollama");
		add_with_children(ret_dirs, dir, "/lib");
	}
	for (const char *at = own ? own : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
		snprintf(entry, sizeof(entry), "%.*s", (int)strcspn(at, ":"), at);
		add_dir(ret_dirs, entry, "");
	}
	if (facts->engine.engine == DAVY_ENGINE_OLLAMA && !ret_dirs->count)
		add_with_children(ret_dirs, "/usr/local/lib/ollama", "");
	if (dir[0])
		add_dir(ret_dirs, dir, "/../lib");
	add_dir(ret_dirs, "/opt/rocm/lib", "");
	add_with_children(ret_dirs, "/usr/lib/x86_64-linux-gnu", "/ggml");
	add_dir(ret_dirs, "/usr/lib/x86_64-linux-gnu", "");
}

static bool engine_find(const struct dirs *dirs, const char *name, char *ret_path, size_t size)
{
	for (size_t i = 0; i < dirs->count; i++)
		if (snprintf(ret_path, size, "%s/%s", dirs->at[i], name) < (int)size &&
		    !access(ret_path, F_OK))
			return true;
	return false;
}

static void add_target(char *list, size_t size, const char *target, size_t len)
{
	size_t used = strlen(list);

	for (const char *at = strstr(list, target); at; at = strstr(at + 1, target)) {
		if (!strncmp(at, target, len) && (at[len] == ' ' || !at[len]) &&
		    (at == list || at[-1] == ' '))
			return;
	}
	if (used + len + 2 < size)
		snprintf(list + used, size - used, "%s%.*s", used ? " " : "", (int)len, target);
}

/* Takes "gfx90a" from a file name. */
static void engine_take_name(struct davy_doctor_engine *e, const char *name)
{
	const char *at = strstr(name, "gfx");
	char target[16];
	size_t len = 3;

	if (!at)
		return;
	while (len < sizeof(target) - 1 && isxdigit((unsigned char)at[len]))
		len++;
	if (len < 6)
		return;
	snprintf(target, sizeof(target), "%.*s", (int)len, at);
	add_target(e->targets, sizeof(e->targets), target, len);
}

static bool read_rocblas(struct davy_doctor_engine *e, const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return false;
	e->has_rocblas = true;
	davy_copy_name(e->rocblas, sizeof(e->rocblas), dir);
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(d)); i++)
		engine_take_name(e, entry->d_name);
	closedir(d);
	return true;
}

/* rocblas/library, or rocblas/VERSION/library on Debian. */
static bool look_below(struct davy_doctor_engine *e, const char *dir)
{
	struct dirent *entry;
	char path[PATH_MAX];
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "%s/rocblas/library", dir);
	if (read_rocblas(e, path))
		return true;
	snprintf(path, sizeof(path), "%s/rocblas", dir);
	d = opendir(path);
	while (d && !found && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/rocblas/%s/library", dir, entry->d_name);
		found = read_rocblas(e, path);
	}
	if (d)
		closedir(d);
	return found;
}

static void engine_take_facts(struct davy_doctor_engine *e, const struct davy_engine_look *look)
{
	struct davy_engine_facts f;

	davy_engine_identify(look, &f);
	e->engine = f.engine;
	e->ubatch = f.ubatch;
	e->context = f.context_size;
	/* A program without arguments is known by its name only. */
	if (e->engine == DAVY_ENGINE_NONE && e->path[0])
		e->engine = davy_engine_of_comm(davy_base_name(e->path));
	if (e->engine != DAVY_ENGINE_NONE)
		davy_copy_name(e->name, sizeof(e->name), davy_engine_name(e->engine));
}

static bool take_engine_name(struct davy_doctor_engine *e, const char *name)
{
	for (int i = 1; i < DAVY_ENGINE_COUNT; i++)
		if (davy_same_name(name, davy_engine_name((enum davy_engine)i))) {
			e->engine = (enum davy_engine)i;
			davy_copy_name(e->name, sizeof(e->name), name);
			return true;
		}
	return false;
}

/* The first program "name" of the user's PATH; false: none. */
static bool engine_in_path(const struct davy_who *who, const char *name, char *ret_path)
{
	const char *list = davy_who_variable(who, "PATH");

	for (const char *at = list ? list : DEFAULT_PATH; *at;
	     at += strcspn(at, ":"), at += *at == ':')
		if (snprintf(ret_path, DAVY_DOCTOR_PATH, "%.*s/%s", (int)strcspn(at, ":"), at,
			     name) < DAVY_DOCTOR_PATH &&
		    !access(ret_path, X_OK))
			return true;
	ret_path[0] = 0;
	return false;
}

static void engine_identify(struct davy_doctor_engine *e, const struct davy_who *who,
			    const char *asked)
{
	char *argv[] = { e->path, NULL };
	struct davy_engine_look look = { .argv = argv, .exe = e->path, .parent = "" };

	if (asked && strchr(asked, '/')) {
		davy_copy_name(e->path, sizeof(e->path), asked);
		engine_take_facts(e, &look);
		return;
	}
	if (who->start) {
		davy_copy_name(e->path, sizeof(e->path), who->start->exe);
		look = davy_process_start_look(who->start);
		engine_take_facts(e, &look);
	} else if (who->exec[0]) {
		davy_copy_name(e->path, sizeof(e->path), who->exec);
		engine_take_facts(e, &look);
	}
	if (asked)
		take_engine_name(e, asked);
	if (asked && !e->path[0] && engine_in_path(who, asked, e->path))
		engine_take_facts(e, &look);
}

/* Runs in a child like "who". */
static void look_for_libraries(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	static struct dirs dirs;
	struct davy_doctor_engine *e = &facts->engine;

	list_dirs(facts, who, &dirs);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		char *path = e->library[libraries[i].backend];

		if (engine_find(&dirs, libraries[i].name, path, DAVY_DOCTOR_PATH))
			e->backends |= 1u << libraries[i].backend;
		else
			path[0] = 0;
	}
	for (size_t i = 0; i < dirs.count && !look_below(e, dirs.at[i]); i++)
		;
	/* Ollama since 0.30 runs llama-server for the discovery; before, itself. */
	if (e->engine == DAVY_ENGINE_OLLAMA &&
	    !engine_find(&dirs, "llama-server", e->runner, sizeof(e->runner)))
		e->runner[0] = 0;
	else if (e->engine == DAVY_ENGINE_LLAMA_SERVER)
		davy_copy_name(e->runner, sizeof(e->runner), e->path);
}

void davy_read_engine(struct davy_doctor_facts *facts, const struct davy_who *who,
		      const char *asked)
{
	engine_identify(&facts->engine, who, asked);
	davy_who_do(who, facts, "the engine's folders", look_for_libraries);
}
