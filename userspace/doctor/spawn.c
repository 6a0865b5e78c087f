/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/text.h"

#define TICK_MS	    20
#define STUCK_MS    1000 /* a process that outlives SIGKILL this long is blocked in the kernel */
#define DRAIN_READS 64

static __attribute__((noreturn)) void say_and_end(const char *what, int error)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s: %s\n", what, strerror(error));

	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		errno = 0;
	_exit(DAVY_CHILD_FAILED);
}

struct starting {
	const struct davy_spawn *spawn;
	int program; /* open: the user may not see its folder */
	int release;
};

static int spawn_run(void *arg)
{
	const struct starting *s = arg;
	char byte;
	int err;

	if (s->release >= 0)
		while (read(s->release, &byte, 1) < 0 && errno == EINTR)
			;
	err = davy_who_become(s->spawn->who);
	if (err)
		say_and_end("it cannot change to that user", -err);
	execve(s->spawn->program, s->spawn->argv, s->spawn->envp);
	if (s->program >= 0 && (errno == EACCES || errno == ENOENT))
		fexecve(s->program, s->spawn->argv, s->spawn->envp);
	say_and_end("it cannot be started", errno);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int spawn_child(const struct davy_spawn *spawn, int release, int output, int noise,
		       pid_t *ret_pid)
{
	struct starting starting = { spawn, open(spawn->program, O_RDONLY | O_CLOEXEC), release };
	int fds[DAVY_WHO_FDS_MAX + 2], err;
	struct davy_child_spec spec = { .run = spawn_run,
					.arg = &starting,
					.stdio = { DAVY_CHILD_NULL, output, noise },
					.fds = fds,
					.fd_count = davy_who_fds(spawn->who, fds),
					.own_group = true };
	struct davy_child child;

	if (starting.program >= 0)
		fds[spec.fd_count++] = starting.program;
	if (release >= 0)
		fds[spec.fd_count++] = release;
	err = davy_child_start(&spec, &child);
	close_one(&starting.program);
	if (err)
		return err;
	*ret_pid = child.pid; /* if traced, davy_traced_run() waits for it */
	close(davy_child_take_pidfd(&child));
	return 0;
}

int davy_spawn_start(const struct davy_spawn *spawn, struct davy_spawned *ret_spawned)
{
	struct davy_spawned *s = ret_spawned;
	int output[2] = { -1, -1 }, noise[2] = { -1, -1 }, release[2] = { -1, -1 };
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->spawn = spawn;
	if ((!spawn->joined && pipe2(output, O_CLOEXEC)) || pipe2(noise, O_CLOEXEC) ||
	    (spawn->starts_blocked && pipe2(release, O_CLOEXEC)))
		err = -errno;
	s->began_ms = davy_now_ms();
	if (!err)
		err = spawn_child(spawn, release[0], spawn->joined ? noise[1] : output[1], noise[1],
				  &s->pid);
	close_one(&output[1]);
	close_one(&noise[1]);
	close_one(&release[0]);
	s->output = output[0];
	s->noise = noise[0];
	s->release = release[1];
	if (err) {
		davy_spawn_done(s);
		return err;
	}
	if (s->output >= 0)
		fcntl(s->output, F_SETFL, O_NONBLOCK);
	fcntl(s->noise, F_SETFL, O_NONBLOCK);
	return 0;
}

void davy_spawn_release(struct davy_spawned *s)
{
	close_one(&s->release);
}

/* False at the end of file, or if nothing can be read now. */
static bool spawn_read_output(struct davy_spawned *s)
{
	ssize_t n = 0;

	if (s->output < 0)
		return false;
	if (s->output_size < sizeof(s->output_text))
		n = read(s->output, s->output_text + s->output_size,
			 sizeof(s->output_text) - s->output_size);
	else
		s->end.overflow = true;
	if (n < 0)
		return errno == EINTR;
	if (!n)
		close_one(&s->output);
	s->output_size += (size_t)n;
	return n > 0;
}

/* Keeps the end of the output: a full buffer loses its older half. */
static bool spawn_read_noise(struct davy_spawned *s)
{
	size_t room = sizeof(s->noise_text) - 1 - s->noise_size;
	ssize_t n;

	if (s->noise < 0)
		return false;
	if (!room) {
		s->noise_size /= 2;
		memmove(s->noise_text, s->noise_text + sizeof(s->noise_text) - 1 - s->noise_size,
			s->noise_size);
		room = sizeof(s->noise_text) - 1 - s->noise_size;
	}
	n = read(s->noise, s->noise_text + s->noise_size, room);
	if (n < 0)
		return errno == EINTR;
	if (!n)
		close_one(&s->noise);
	s->noise_size += (size_t)n;
	s->noise_text[s->noise_size] = 0;
	return n > 0;
}

void davy_spawn_listen(struct davy_spawned *s, int wait_ms)
{
	struct pollfd fds[2] = { { .fd = s->output, .events = POLLIN },
				 { .fd = s->noise, .events = POLLIN } };
	char what[128];

	poll(fds, 2, wait_ms);
	for (int i = 0; i < DRAIN_READS && spawn_read_output(s); i++)
		;
	for (int i = 0; i < DRAIN_READS && spawn_read_noise(s); i++)
		;
	if (s->reported || davy_now_ms() - s->began_ms < DAVY_SPAWN_REPORT_MS)
		return;
	s->reported = true;
	davy_log("doctor: waiting for %s, at most %u s",
		 davy_text_safe(what, sizeof(what), s->spawn->what), s->spawn->limit_ms / 1000);
}

bool davy_spawn_over(struct davy_spawned *s)
{
	if (davy_now_ms() - s->began_ms < s->spawn->limit_ms && !s->end.overflow)
		return false;
	s->end.timed_out = !s->end.overflow;
	kill(-s->pid, SIGKILL);
	kill(s->pid, SIGKILL);
	return true;
}

void davy_spawn_ended(struct davy_spawned *s, int status)
{
	kill(-s->pid, SIGKILL); /* its remaining children */
	s->end.ms = (uint32_t)(davy_now_ms() - s->began_ms);
	if (WIFSIGNALED(status))
		s->end.signal = WTERMSIG(status);
	else
		s->end.exit = WEXITSTATUS(status);
	davy_spawn_listen(s, 0);
}

void davy_spawn_wait(struct davy_spawned *s)
{
	uint64_t killed_ms = 0;
	int status;

	while (waitpid(s->pid, &status, WNOHANG) != s->pid) {
		davy_spawn_listen(s, TICK_MS);
		if (s->output < 0 && s->noise < 0)
			usleep(TICK_MS * 1000);
		if (!killed_ms && davy_spawn_over(s))
			killed_ms = davy_now_ms();
		if (killed_ms && davy_now_ms() - killed_ms > STUCK_MS) {
			s->end.stuck = true;
			s->end.ms = (uint32_t)(davy_now_ms() - s->began_ms);
			return;
		}
	}
	davy_spawn_ended(s, status);
}

void davy_spawn_done(struct davy_spawned *s)
{
	close_one(&s->output);
	close_one(&s->noise);
	close_one(&s->release);
}
