/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about a process's model file: its GGUF header, and its name in Ollama's manifests. The path
 * is resolved inside the process's root and mount namespace only. The file is untrusted: only
 * regular files on local file systems are read (mounts.h), and as little as possible. Header facts
 * are cached by inode.
 */
#ifndef DAVY_MODEL_FILE_H
#define DAVY_MODEL_FILE_H

#include "core/event/types.h"

struct davy_model_facts {
	uint64_t bytes;
	uint32_t layer_count;
	uint32_t trained_context;
	char architecture[DAVY_ARCH_LEN]; /* sanitized */
	char quantisation[DAVY_QUANT_LEN];
	char name[DAVY_MODEL_LEN]; /* Ollama's name of a blob, "llama3.2:1b"; or "" */
};

struct davy_model_where {
	uint32_t pid;
	const char *path;	/* as the process named it; NULL: unknown */
	const char *mapped;	/* as in davy_process_traces, "": not mapped */
	const char *models_dir; /* Ollama's, NULL: unknown */
};

/*
 * 0 and the known facts; -ENOENT, -EACCES: cannot be opened; -EAGAIN: its file system could block;
 * or the error of davy_gguf_read.
 */
int davy_model_file_read(const struct davy_model_where *where, struct davy_model_facts *ret_facts);

#endif
