/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine whose runner searches for devices, like Ollama before 0.30: "manager fork|thread
 * LIBRARY" has a child, or a thread of that child, load ggml's backend, and reports its death in
 * Ollama's format.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *look(void *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *(*init)(void) = library ? (void *(*)(void))dlsym(library, "ggml_backend_init") : NULL;

	return init ? init() : NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		if (!strcmp(argv[1], "thread") && !pthread_create(&thread, NULL, look, argv[2]))
			pthread_join(thread, NULL);
		else
			look(argv[2]);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("msg=\"failure during GPU discovery\" error=\"%s\"\n",
	       WIFSIGNALED(status) ? "runner crashed" : "none");
	return 0;
}
