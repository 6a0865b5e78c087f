/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates the least memory that a model needs: the size of its files, and the cache by the GGUF
 * header. The estimate is unknown if the command's files are not visible from here: another root,
 * or a name that the engine resolves.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/gguf.h"
#include "lib/file.h"
#include "sensors/proc/ollama_name.h"
#include "exec/exec_case.h"

#define FILES_MAX   1024
#define FIT_CONTEXT 4096 /* llama.cpp's --fit-ctx: the smallest context that it chooses */

static uint64_t exec_model_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool exec_model_ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && !strcmp(name + len - end_len, end);
}

/* "x-00001-of-00003.gguf": the other parts are in the same folder. */
static uint64_t split_bytes(const char *path, uint32_t count)
{
	size_t len = strlen(path), stem = len - strlen("-00001-of-00003.gguf");
	char other[PATH_MAX];
	uint64_t bytes = 0;
	struct stat st;

	if (len < strlen("-00001-of-00003.gguf") || !exec_model_ends_with(path, ".gguf"))
		return 0;
	for (uint32_t i = 2; i <= count && i <= FILES_MAX; i++) {
		if (snprintf(other, sizeof(other), "%.*s-%05u-of-%05u.gguf", (int)stem, path, i,
			     count) >= (int)sizeof(other) ||
		    stat(other, &st) || !S_ISREG(st.st_mode))
			continue;
		bytes = exec_model_plus(bytes, (uint64_t)st.st_size);
	}
	return bytes;
}

static uint32_t exec_model_tokens_of(const struct davy_engine_facts *f, const struct davy_gguf *g)
{
	if (f->context_size)
		return f->context_size;
	if (!f->llama_cpp && f->engine != DAVY_ENGINE_OLLAMA)
		return 0;
	if (f->fixed_fit || g->context_length < FIT_CONTEXT)
		return g->context_length;
	return FIT_CONTEXT;
}

static void read_gguf(struct davy_exec_case *c, const char *path, int fd, uint64_t bytes)
{
	const struct davy_engine_facts *f = &c->launch.facts;
	struct davy_fit_question *q = &c->question.fit;
	struct davy_gguf g;

	q->weight_bytes = bytes;
	if (davy_gguf_read(fd, bytes, &g))
		return; /* the engine reports the error */
	q->layers = g.block_count;
	q->cache_bytes = davy_gguf_cache_bytes(&g, exec_model_tokens_of(f, &g),
					       f->cache_k[0] ? f->cache_k : "f16",
					       f->cache_v[0] ? f->cache_v : "f16");
	if (g.split_count > 1)
		q->weight_bytes = exec_model_plus(bytes, split_bytes(path, g.split_count));
}

static void exec_model_unknown(struct davy_exec_case *c, const char *what, const char *why)
{
	snprintf(c->fit_why, sizeof(c->fit_why), "%s%s%s", what, why ? ": " : "", why ? why : "");
	c->question.fit_unknown = c->fit_why;
}

/* Looks in Ollama's folders: of its environment, of the user, of the service. */
static bool find_blob(struct davy_exec_case *c)
{
	const char *own = getenv("OLLAMA_MODELS"), *home = getenv("HOME");
	char dirs[3][PATH_MAX] = { "", "", "/usr/share/ollama/.ollama/models" };
	char digest[DAVY_OLLAMA_DIGEST_LEN];

	snprintf(dirs[0], PATH_MAX, "%s", own ? own : "");
	if (home)
		snprintf(dirs[1], PATH_MAX, "%s/.ollama/models", home);
	for (size_t i = 0; i < 3; i++) {
		if (!dirs[i][0] || davy_ollama_blob(dirs[i], c->options.model, digest))
			continue;
		if (snprintf(c->blob, sizeof(c->blob), "%s/blobs/sha256-%s", dirs[i], digest) <
		    (int)sizeof(c->blob))
			return true;
	}
	return false;
}

void davy_exec_model(struct davy_exec_case *c)
{
	bool ollama = c->launch.facts.engine == DAVY_ENGINE_OLLAMA;
	const struct davy_engine_facts *f = &c->launch.facts;
	const char *path = f->model_path;
	struct davy_fit_question *q = &c->question.fit;
	char container_path[PATH_MAX];
	DAVY_FD fd = -1;
	struct stat st;

	q->gpu_layers = f->llama_cpp ? f->gpu_layers : ollama ? DAVY_LAYERS_AUTO : DAVY_LAYERS_ALL;
	q->sets_layers = f->llama_cpp;
	q->adapts = ollama || (f->llama_cpp && !f->fixed_fit);
	if (!path && ollama && c->options.model && find_blob(c))
		path = c->blob;
	if (!path) {
		exec_model_unknown(c, "the command names no model file", NULL);
		return;
	}
	path = davy_exec_path(c, path, container_path);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		exec_model_unknown(c, "the model file cannot be read", strerror(errno));
		return;
	}
	if (S_ISREG(st.st_mode))
		read_gguf(c, path, fd, (uint64_t)st.st_size);
	if (!q->weight_bytes)
		exec_model_unknown(c, "the engine decides how much of the model's folder it loads",
				   NULL);
}
