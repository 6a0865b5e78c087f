/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/ollama_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/event/types.h"
#include "lib/file.h"
#include "sensors/proc/container_path.h"
#include "sensors/proc/mounts.h"

#define LEVELS	     4 /* registry, namespace, name, tag */
#define ENTRIES_MAX  1024
#define BYTES_MAX    ((size_t)1 << 20) /* of all manifests; a real one has about 1 kB */
#define MANIFEST_MAX ((size_t)64 * 1024)
#define NAME_LEN     256

static const char registry[] = "registry.ollama.ai";
static const char media_type[] = "application/vnd.ollama.image.model";

struct walk {
	DIR *dir[LEVELS];
	char part[LEVELS][NAME_LEN];
	size_t depth;
	int budget;
	size_t bytes;
};

int davy_ollama_manifest_has(const char *text, size_t size, const char *digest)
{
	json_t *manifest = json_loadb(text, size, 0, NULL), *layer;
	size_t i;
	int has = 0;

	json_array_foreach(json_object_get(manifest, "layers"), i, layer)
	{
		const char *type = json_string_value(json_object_get(layer, "mediaType"));
		const char *name = json_string_value(json_object_get(layer, "digest"));

		has |= type && name && !strcmp(type, media_type) && !strncmp(name, "sha256:", 7) &&
		       !strcmp(name + 7, digest);
	}
	json_decref(manifest);
	return has;
}

/* Opens below the models directory, on its file system and without following links. */
static int ollama_name_open_below(int dir, const char *name, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW,
				.resolve =
					RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV };

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

static int ollama_name_manifest_has(struct walk *w, const char *name, const char *digest)
{
	static char text[MANIFEST_MAX]; /* single-threaded */
	DAVY_FD path = ollama_name_open_below(dirfd(w->dir[w->depth - 1]), name, O_PATH);
	DAVY_FD fd = -1;
	ssize_t n;

	if (path < 0 || !davy_is_regular(path)) /* a directory, a pipe */
		return 0;
	fd = davy_reopen(path);
	n = fd < 0 ? fd : davy_read_fd(fd, text, sizeof(text));
	w->bytes += n > 0 ? (size_t)n : 0;
	return n > 0 && w->bytes <= BYTES_MAX && davy_ollama_manifest_has(text, (size_t)n, digest);
}

/* "library/llama3" of Ollama's own registry is "llama3". */
static void ollama_name_make(const struct walk *w, const char *tag, char *name, size_t size)
{
	size_t first = strcmp(w->part[0], registry) != 0 ? 0
		       : strcmp(w->part[1], "library")	 ? 1
							 : 2;

	snprintf(name, size, "%s%s%s%s%s:%s", first < 1 ? w->part[0] : "", first < 1 ? "/" : "",
		 first < 2 ? w->part[1] : "", first < 2 ? "/" : "", w->part[2], tag);
}

static int ollama_name_push(struct walk *w, int dir, const char *name)
{
	int fd = ollama_name_open_below(dir, name, O_DIRECTORY);

	if (fd < 0)
		return -errno;
	w->dir[w->depth] = fdopendir(fd);
	if (!w->dir[w->depth]) {
		close(fd);
		return -errno;
	}
	if (w->depth)
		snprintf(w->part[w->depth - 1], NAME_LEN, "%s", name);
	w->depth++;
	return 0;
}

static void ollama_name_see_tag(struct walk *w, const char *tag, const char *digest, char *best,
				size_t size)
{
	char name[4 * NAME_LEN + 8];

	if (!ollama_name_manifest_has(w, tag, digest))
		return;
	ollama_name_make(w, tag, name, sizeof(name));
	if (!best[0] || strcmp(name, best) < 0)
		davy_copy_name(best, size, name);
}

int davy_ollama_name(uint32_t pid, const char *dir, const char *digest, char *ret_name, size_t size)
{
	DAVY_FD models = davy_open_in_root(pid, dir);
	struct walk w = { .budget = ENTRIES_MAX };
	char best[NAME_LEN] = "";
	int err;

	if (models < 0)
		return models;
	if (!davy_file_is_local(pid, models))
		return -EAGAIN;
	err = ollama_name_push(&w, models, "manifests");
	while (w.depth) {
		struct dirent *entry = w.budget-- > 0 ? readdir(w.dir[w.depth - 1]) : NULL;

		if (!entry)
			closedir(w.dir[--w.depth]);
		else if (entry->d_name[0] == '.')
			continue;
		else if (w.depth == LEVELS)
			ollama_name_see_tag(&w, entry->d_name, digest, best, sizeof(best));
		else
			ollama_name_push(&w, dirfd(w.dir[w.depth - 1]),
					 /* a file at a directory level does not fit */
					 entry->d_name);
	}
	if (!best[0])
		return err ? err : -ENOENT;
	davy_copy_name(ret_name, size, best);
	return 0;
}
