/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapper FILE COUNT: takes as many uprobes as it can. COUNT processes that look like llama-server
 * map a copy of FILE each, which has a C++ library's name: FILE.COUNT. Prints a line when
 * all are mapped, and ends them when its input ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The engine: maps its library, reports it, and sleeps. */
static int engine(const char *library, int ready)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "+", 1) != 1)
		return 1;
	for (;;)
		pause();
}

static int start(const char *file, int number, int ready)
{
	char library[4096], fd[16];
	pid_t pid;

	snprintf(library, sizeof(library), "%s.%d", file, number);
	snprintf(fd, sizeof(fd), "%d", ready);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "llama-server", "-m", "x.gguf", library, fd, NULL);
		_exit(127);
	}
	return pid < 0;
}

int main(int argc, char **argv)
{
	char c;
	int ready[2], count = argc == 3 ? atoi(argv[2]) : 0;

	if (argc == 5)
		return engine(argv[3], atoi(argv[4]));
	if (count <= 0 || pipe(ready))
		return 2;
	for (int i = 0; i < count; i++)
		if (start(argv[1], i, ready[1]) || read(ready[0], &c, 1) != 1)
			return 1;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM); /* it leads its group: setsid */
	while (wait(NULL) > 0)
		;
	return 0;
}
