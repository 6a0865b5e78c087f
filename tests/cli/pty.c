/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pty ACTION COMMAND...: a terminal, a shell's part on it, and the command as its foreground job.
 * ACTION follows when the command prints "ready". "tty": nothing; "int": type ^C; "stop": type ^Z,
 * print "stopped" when the job has stopped, and continue it; "winch": enlarge the window; "type":
 * type a line. Prints the terminal's output, and "status N" (128 + signal) at the end.
 */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_the_job(char **command)
{
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(0, getpid());
	signal(SIGTTOU, SIG_DFL);
	execvp(command[0], command);
	_exit(127);
}

/* Acts as the shell: otherwise the job's process group would be orphaned and could not stop. */
static int be_the_shell(char **command)
{
	pid_t job = fork();
	int status;

	if (!job)
		be_the_job(command);
	setpgid(job, job);
	signal(SIGTTOU, SIG_IGN);
	while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
		printf("\nstopped\n");
		fflush(stdout);
		kill(-job, SIGCONT);
	}
	printf("\nstatus %d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}

static void act(const char *action, int terminal)
{
	struct winsize size = { .ws_row = 50, .ws_col = 132 };

	if (!strcmp(action, "int"))
		(void)!write(terminal, "\x03", 1);
	else if (!strcmp(action, "stop"))
		(void)!write(terminal, "\x1a", 1);
	else if (!strcmp(action, "type"))
		(void)!write(terminal, "typed\n", 6);
	else if (!strcmp(action, "winch"))
		ioctl(terminal, TIOCSWINSZ, &size);
}

int main(int argc, char **argv)
{
	char text[65536];
	size_t used = 0;
	int terminal, acted = 0;
	ssize_t n;
	pid_t pid;

	if (argc < 3)
		return 2;
	alarm(60);
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (!pid)
		return be_the_shell(argv + 2);
	while (used < sizeof(text) - 1 &&
	       (n = read(terminal, text + used, sizeof(text) - 1 - used)) > 0) {
		fwrite(text + used, 1, (size_t)n, stdout);
		fflush(stdout);
		used += (size_t)n;
		text[used] = 0;
		if (!acted && strstr(text, "ready")) {
			acted = 1;
			act(argv[1], terminal);
		}
	}
	waitpid(pid, NULL, 0);
	return 0;
}
