// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * storm fork|exec|crash COUNT: one process with 4,000 descriptors starts COUNT children, eight at a
 * time. "fork" children end at once, "exec" children become /bin/true, "crash" children die of
 * SIGSEGV.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES	4000
#define ABREAST 8

static _Noreturn void live(const char *how)
{
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "crash")) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	struct rlimit files = { FILES + 64, FILES + 64 }, core = { 0, 0 };
	long count = argc == 3 ? atol(argv[2]) : 0;
	long begun = 0, running = 0;

	if (count <= 0)
		return 2;
	setrlimit(RLIMIT_CORE, &core);
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < FILES; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			break;
	while (begun < count || running) {
		pid_t pid = -1;

		if (begun < count && running < ABREAST) {
			pid = fork();
			if (!pid)
				live(argv[1]);
		}
		if (pid > 0) {
			begun++;
			running++;
		} else if (wait(NULL) > 0) {
			running--;
		} else if (begun < count) {
			return 1;
		}
	}
	return 0;
}
