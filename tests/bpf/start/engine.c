/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small engine for 'davylamp trace discovery': as "ollama" it asks NVML and starts "llama-
 * server" beside it; as "llama-server" it loads ggml's backend and computes a graph. Environment
 * variables select its faults. Linking and loading are real; the computation is
 * empty.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*count_fn)(unsigned int *count);
typedef int (*init_fn)(void);

void *ggml_backend_load(const char *path);
void *ggml_backend_buft_alloc_buffer(void *type, size_t size);
int ggml_backend_sched_graph_compute_async(void *sched, void *graph);

static int ask_nvml(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	unsigned int count = 0;
	count_fn get_count;
	init_fn init;

	if (!library)
		return -1;
	init = (init_fn)dlsym(library, "nvmlInit_v2");
	get_count = (count_fn)dlsym(library, "nvmlDeviceGetCount_v2");
	if (!init || !get_count || init() || get_count(&count))
		return -1;
	return (int)count;
}

static int llama_server(void)
{
	const char *backend = getenv("STAND_IN_BACKEND");

	if (getenv("STAND_IN_CHILD_NVML"))
		ask_nvml();
	if (backend && !ggml_backend_load(backend))
		fprintf(stderr, "no backend: %s\n", dlerror());
	if (getenv("STAND_IN_WAITS"))
		pause();
	if (getenv("STAND_IN_NO_GRAPH"))
		return 0;
	ggml_backend_buft_alloc_buffer(NULL, 1 << 20);
	return ggml_backend_sched_graph_compute_async(NULL, NULL);
}

static int start_child(const char *self)
{
	char path[4096];
	int status = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "%.*s/llama-server", (int)(strrchr(self, '/') - self), self);
	pid = fork();
	if (!pid) {
		if (getenv("STAND_IN_CHILD_BARE"))
			unsetenv("LD_LIBRARY_PATH");
		execl(path, "llama-server", "-m", "m.gguf", NULL);
		_exit(126);
	}
	if (getenv("STAND_IN_WAITS")) { /* as Ollama ends a runner that it no longer needs */
		usleep(300000);
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/'), *until = getenv("STAND_IN_UNTIL");

	(void)argc;
	name = name ? name + 1 : argv[0];
	if (!strcmp(name, "llama-server"))
		return llama_server();
	for (int i = 0; until && access(until, F_OK) && i < 120000; i++)
		usleep(1000);
	if (!getenv("STAND_IN_NO_NVML") && ask_nvml() <= 0)
		return 0; /* continues without a GPU */
	return getenv("STAND_IN_ALONE") ? 0 : start_child(argv[0]);
}
