/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer that is killed in the midst of its work, on a machine of any speed. */
#ifndef TESTS_KILLED_H
#define TESTS_KILLED_H

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* What "work" writes to its descriptor: a byte for each thing done. */
static inline void report_done(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(2);
}

/*
 * Runs "work", which must not return, in a process, waits until it has reported "most" things, and
 * kills it "us" microseconds later. Returns the number of things that it reported in all.
 */
static inline uint64_t kill_at_work(void (*work)(int fd), uint64_t most, unsigned int us)
{
	int pipe_fds[2], status;
	char reported[4096];
	uint64_t count = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		work(pipe_fds[1]);
		_exit(3);
	}
	close(pipe_fds[1]);
	while (count < most && read(pipe_fds[0], reported, 1) == 1)
		count++;
	usleep(us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	while ((n = read(pipe_fds[0], reported, sizeof(reported))) > 0)
		count += (uint64_t)n;
	close(pipe_fds[0]);
	return count;
}

#endif
