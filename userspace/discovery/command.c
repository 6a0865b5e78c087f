/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_EXEC 126
#define NOT_FOUND   127

static void run(char *const argv[], const sigset_t *mask, int go, int failed)
{
	char word;
	int err;

	if (read(go, &word, 1) != 1)
		_exit(CANNOT_EXEC); /* the tracer is gone */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	(void)!write(failed, &err, sizeof(err));
	_exit(err == ENOENT ? NOT_FOUND : CANNOT_EXEC);
}

int dl_command_prepare(char *const argv[], const sigset_t *mask, struct dl_command_start *ret_start)
{
	int go[2], failed[2], err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	pid = fork();
	err = -errno;
	if (!pid) {
		close(go[1]);
		run(argv, mask, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	if (pid < 0) {
		close(go[1]);
		close(failed[0]);
		return err;
	}
	ret_start->pid = pid;
	ret_start->go = go[1];
	ret_start->failed = failed[0];
	return 0;
}

int dl_command_go(struct dl_command_start *start)
{
	int err = 0;
	ssize_t n = write(start->go, "g", 1);

	close(start->go);
	if (n == 1)
		n = read(start->failed, &err, sizeof(err));
	close(start->failed);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}
