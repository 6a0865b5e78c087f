/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/start_command.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/child.h"

#define CANNOT_EXEC 126
#define NOT_FOUND   127

struct waiting {
	char *const *argv;
	int go[2], failed[2];
};

static int command_run(void *arg)
{
	const struct waiting *w = arg;
	char word;
	int err;

	close(w->go[1]);
	if (read(w->go[0], &word, 1) != 1)
		return CANNOT_EXEC; /* the tracer has ended */
	execvp(w->argv[0], w->argv);
	err = errno;
	(void)!write(w->failed[1], &err, sizeof(err));
	return err == ENOENT ? NOT_FOUND : CANNOT_EXEC;
}

static int command_start(struct waiting *w, const sigset_t *mask,
			 struct davy_command_start *ret_start)
{
	const struct davy_child_spec spec = { .run = command_run,
					      .arg = w,
					      .stdio = { DAVY_CHILD_KEEP, DAVY_CHILD_KEEP,
							 DAVY_CHILD_KEEP },
					      .inherit_fds = true,
					      .mask = mask,
					      .keep_ignored = true };
	struct davy_child child;
	int err = davy_child_start(&spec, &child);

	close(w->go[0]);
	close(w->failed[1]);
	if (err) {
		close(w->go[1]);
		close(w->failed[0]);
		return err;
	}
	close(davy_child_take_pidfd(&child)); /* the tracer waits for SIGCHLD */
	*ret_start = (struct davy_command_start){ child.pid, w->go[1], w->failed[0] };
	return 0;
}

int davy_command_prepare(char *const argv[], const sigset_t *mask,
			 struct davy_command_start *ret_start)
{
	struct waiting w = { .argv = argv };
	int err;

	if (pipe2(w.go, O_CLOEXEC))
		return -errno;
	if (!pipe2(w.failed, O_CLOEXEC))
		return command_start(&w, mask, ret_start);
	err = -errno;
	close(w.go[0]);
	close(w.go[1]);
	return err;
}

int davy_command_go(struct davy_command_start *start)
{
	int err = 0;
	ssize_t n = write(start->go, "g", 1);

	close(start->go);
	if (n == 1)
		n = read(start->failed, &err, sizeof(err));
	close(start->failed);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}
