/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model file of a process: what its head says, and its name among Ollama's manifests. The path
 * is looked up inside the process's own root and mount namespace, and never beyond. The file is
 * somebody else's: only regular files are read, none of a file system that a user serves (FUSE:
 * it might never answer), and as little as possible. What was read is remembered by inode.
 */
#ifndef DL_SENSORS_MODEL_FILE_H
#define DL_SENSORS_MODEL_FILE_H

#include "../core/types.h"

struct dl_model_facts {
	uint64_t bytes;
	uint32_t layer_count;
	uint32_t trained_context;
	char architecture[DL_ARCH_LEN]; /* made printable */
	char quantisation[DL_QUANT_LEN];
	char name[DL_MODEL_LEN]; /* Ollama's of a blob, "llama3.2:1b"; or "" */
};

struct dl_model_where {
	uint32_t pid;
	const char *path;	/* as the process named it; NULL: unknown */
	const char *mapped;	/* /proc/PID/map_files/..., "" when it is not mapped */
	const char *models_dir; /* Ollama's, NULL: unknown */
};

/*
 * 0 and what is known; -ENOENT, -EACCES: it cannot be opened; -EAGAIN: not without waiting for a
 * file system; or what dl_gguf_read said.
 */
int dl_model_file_read(const struct dl_model_where *where, struct dl_model_facts *ret_facts);

/*
 * Whether the open file lies on a file system that a user serves, as process "pid" has mounted it;
 * true when that cannot be told.
 */
bool dl_file_may_wait(uint32_t pid, int fd);

/* O_PATH, inside of the process's root; a relative path from its current directory. -errno. */
int dl_open_in_root(uint32_t pid, const char *path);

#endif
