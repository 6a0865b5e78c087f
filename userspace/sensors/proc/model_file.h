/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model file of a process: what its head says, and its name among Ollama's manifests. The path
 * is looked up inside the process's own root and mount namespace, and never beyond. The file is
 * somebody else's: only regular files of local file systems are read (mounts.h), and as little as
 * possible. What its head says is remembered by inode.
 */
#ifndef DAVY_MODEL_FILE_H
#define DAVY_MODEL_FILE_H

#include "core/event/types.h"

struct davy_model_facts {
	uint64_t bytes;
	uint32_t layer_count;
	uint32_t trained_context;
	char architecture[DAVY_ARCH_LEN]; /* made printable */
	char quantisation[DAVY_QUANT_LEN];
	char name[DAVY_MODEL_LEN]; /* Ollama's of a blob, "llama3.2:1b"; or "" */
};

struct davy_model_where {
	uint32_t pid;
	const char *path;	/* as the process named it; NULL: unknown */
	const char *mapped;	/* as davy_process_traces has it, "" when it is not mapped */
	const char *models_dir; /* Ollama's, NULL: unknown */
};

/*
 * 0 and what is known; -ENOENT, -EACCES: it cannot be opened; -EAGAIN: not without waiting for a
 * file system; or what davy_gguf_read said.
 */
int davy_model_file_read(const struct davy_model_where *where, struct davy_model_facts *ret_facts);

#endif
