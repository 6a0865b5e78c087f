/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into an engine: its Vulkan backend behaves as with llama.cpp's pull request 27183. From
 * the loss of the device on, each graph returns GGML_STATUS_FAILED at once and nothing is thrown.
 * The file DAVYLAMP_FAILGRAPH holds "lost" (for ever), "failed" or "memory" (one graph); it is read
 * once. Other backends of the process are not touched.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum ggml_status { /* ggml.h of 0.27 */
	GGML_STATUS_ALLOC_FAILED = -2,
	GGML_STATUS_FAILED = -1,
	GGML_STATUS_SUCCESS = 0,
};

struct ggml_backend;
struct ggml_cgraph;

const char *ggml_backend_name(struct ggml_backend *backend);
enum ggml_status ggml_backend_graph_compute_async(struct ggml_backend *backend,
						  struct ggml_cgraph *graph);

static atomic_bool lost;

static enum ggml_status failgraph_order(void)
{
	const char *path = getenv("DAVYLAMP_FAILGRAPH");
	FILE *file = path ? fopen(path, "re") : NULL;
	char word[16] = "";

	if (!file)
		return GGML_STATUS_SUCCESS;
	if (fscanf(file, "%15s", word) == 1)
		unlink(path);
	fclose(file);
	if (!strcmp(word, "lost"))
		atomic_store(&lost, true);
	return !strcmp(word, "memory")	 ? GGML_STATUS_ALLOC_FAILED
	       : !strcmp(word, "failed") ? GGML_STATUS_FAILED
					 : GGML_STATUS_SUCCESS;
}

enum ggml_status ggml_backend_graph_compute_async(struct ggml_backend *backend,
						  struct ggml_cgraph *graph)
{
	enum ggml_status (*next)(struct ggml_backend *, struct ggml_cgraph *);
	enum ggml_status status = GGML_STATUS_SUCCESS;

	if (!strncmp(ggml_backend_name(backend), "Vulkan", 6)) {
		status = failgraph_order();
		if (atomic_load(&lost))
			status = GGML_STATUS_FAILED;
	}
	if (status != GGML_STATUS_SUCCESS)
		return status;
	*(void **)&next = dlsym(RTLD_NEXT, "ggml_backend_graph_compute_async");
	return next(backend, graph);
}
