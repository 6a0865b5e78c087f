/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sensors/proc/engine_version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/engine.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "sensors/proc/build_id.h"
#include "sensors/proc/container_path.h"

#define VERSION_LEN 20 /* all parts fit together */

/* The build being computed. */
struct build {
	uint64_t sum;
	size_t file_count;
};

static bool engine_version_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static void engine_version_add_id(struct build *b, int path_fd)
{
	struct davy_build_id id;
	DAVY_FD fd = davy_reopen(path_fd);

	if (fd < 0 || davy_build_id_read(fd, &id))
		return;
	b->sum = davy_fnv(b->sum, id.bytes, id.size);
	b->file_count++;
}

/* Calls no file system: the attributes of a mapped file are cached. */
static void engine_version_add_times(struct build *b, int path_fd)
{
	struct statx st;

	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MTIME, &st))
		return;
	b->sum = davy_fnv(b->sum, &st.stx_size, sizeof(st.stx_size));
	b->sum = davy_fnv(b->sum, &st.stx_mtime.tv_sec, sizeof(st.stx_mtime.tv_sec));
	b->sum = davy_fnv(b->sum, &st.stx_mtime.tv_nsec, sizeof(st.stx_mtime.tv_nsec));
	b->file_count++;
}

static void engine_version_add_file(struct build *b, uint32_t pid, int path_fd)
{
	size_t before = b->file_count;

	if (!davy_local_file(pid, path_fd))
		engine_version_add_id(b, path_fd);
	if (b->file_count == before && davy_is_regular(path_fd))
		engine_version_add_times(b, path_fd);
}

/* The version in "libllama.so.0.0.8681"; "" for other names. */
static void engine_version_of_name(const char *name, char ret_version[VERSION_LEN])
{
	const char *at = strstr(name, ".so.");
	size_t len = at ? strspn(at + 4, "0123456789.") : 0;

	ret_version[0] = 0;
	if (!len || len >= VERSION_LEN || (at[4 + len] && at[4 + len] != ' '))
		return;
	memcpy(ret_version, at + 4, len);
	ret_version[len] = 0;
}

/* "path" is as in davy_process_traces: a link in map_files, or the file's name. */
static void engine_version_add_library(struct build *b, uint32_t pid, const char *path,
				       char ret_version[VERSION_LEN])
{
	char target[PATH_MAX];
	DAVY_FD fd = -1;
	ssize_t n;

	ret_version[0] = 0;
	if (!path[0])
		return;
	n = strstr(path, "/map_files/") ? readlink(path, target, sizeof(target) - 1) : 0;
	target[n > 0 ? n : 0] = 0;
	engine_version_of_name(davy_base_name(n > 0 ? target : path), ret_version);
	fd = davy_open_mapped(pid, path);
	if (fd >= 0)
		engine_version_add_file(b, pid, fd);
}

/* The loader and interpreters do not identify the engine that they run. */
static bool engine_version_is_carrier(const char *name)
{
	return engine_version_begins(name, "ld-") || engine_version_begins(name, "ld.so") ||
	       engine_version_begins(name, "python") || engine_version_begins(name, "pypy");
}

static void engine_version_add_executable(struct build *b, uint32_t pid)
{
	char path[PATH_MAX], target[PATH_MAX];
	DAVY_FD fd = -1;
	ssize_t n;

	if (davy_root_path(path, sizeof(path), "/proc/%u/exe", pid))
		return;
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	if (n <= 0 || engine_version_is_carrier(davy_base_name(target)))
		return;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		engine_version_add_file(b, pid, fd);
}

void davy_engine_version_read(const struct davy_process_info *info,
			      char ret_text[DAVY_VERSION_TEXT_LEN])
{
	char llama[VERSION_LEN], ggml[VERSION_LEN];
	struct build b = { DAVY_FNV_START, 0 };

	ret_text[0] = 0;
	engine_version_add_executable(&b, info->pid);
	engine_version_add_library(&b, info->pid, info->llama_library, llama);
	engine_version_add_library(&b, info->pid, info->ggml_library, ggml);
	if (!b.file_count)
		return;
	snprintf(ret_text, DAVY_VERSION_TEXT_LEN, "%s%s%s%s%s, build %016" PRIx64,
		 davy_engine_name(info->ev.engine), llama[0] ? ", llama " : "", llama,
		 ggml[0] ? ", ggml " : "", ggml, b.sum);
}
