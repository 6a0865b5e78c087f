/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/clock.h"

#define ARGUMENTS_MAX 32
#define NOISE_MAX     4096
#define DRAIN_READS   64      /* of at least NOISE_MAX / 2: a pipe of the usual 64 KiB is emptied */
#define KILL_US	      1000000 /* what SIGKILL has not ended by then sits in the kernel */
#define ACCURACY_US   50000

extern char **environ;

struct run {
	struct dl_probe_request request;
	struct dl_probe_end end;
	sd_event_source *output;
	sd_event_source *noise;
	sd_event_source *exited;
	sd_event_source *limit;
	int output_fd;
	int noise_fd;
	int pidfd;
	pid_t pid;
	bool told;
	uint64_t began_ms;
	size_t used;
	size_t noise_used;
	char noise_text[NOISE_MAX];
	char text[DL_PROBE_OUTPUT_MAX];
};

int dl_probe_path(char *buf, size_t size)
{
	static const char name[] = "davylamp-probe";
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = 0;
	if ((size_t)snprintf(buf, size, "%s%s", path, name) >= size)
		return -ENAMETOOLONG;
	return access(buf, X_OK) ? -errno : 0;
}

static void close_sources(struct run *r)
{
	r->output = sd_event_source_disable_unref(r->output);
	r->noise = sd_event_source_disable_unref(r->noise);
	r->limit = sd_event_source_disable_unref(r->limit);
}

static void run_free(struct run *r)
{
	close_sources(r);
	sd_event_source_disable_unref(r->exited);
	if (r->output_fd >= 0)
		close(r->output_fd);
	if (r->noise_fd >= 0)
		close(r->noise_fd);
	if (r->pidfd >= 0)
		close(r->pidfd);
	free(r);
}

static void tell(struct run *r)
{
	struct dl_probe_finding finding;

	if (r->told)
		return;
	r->told = true;
	r->end.ms = (uint32_t)(dl_now_ms() - r->began_ms);
	r->noise_text[r->noise_used] = 0;
	dl_probe_judge(&r->end, r->text, r->used, r->noise_text, &finding);
	r->request.done(r->request.arg, &finding);
}

/* Our own child, not yet waited for: pid and group are its. */
static void kill_group(struct run *r)
{
	kill(-r->pid, SIGKILL);
	kill(r->pid, SIGKILL);
}

/* > 0 when there may be more to read. */
static int read_output(struct run *r)
{
	ssize_t n = read(r->output_fd, r->text + r->used, sizeof(r->text) - r->used);

	if (n < 0)
		return errno == EINTR;
	r->used += (size_t)n;
	if (r->used == sizeof(r->text)) {
		r->end.overflow = true;
		return 0;
	}
	return n > 0;
}

/* The end of what it says matters, so the older half makes room. */
static int read_noise(struct run *r)
{
	size_t room = sizeof(r->noise_text) - 1 - r->noise_used;
	ssize_t n;

	if (!room) {
		r->noise_used /= 2;
		memmove(r->noise_text, r->noise_text + sizeof(r->noise_text) - 1 - r->noise_used,
			r->noise_used);
		room = sizeof(r->noise_text) - 1 - r->noise_used;
	}
	n = read(r->noise_fd, r->noise_text + r->noise_used, room);
	if (n > 0)
		r->noise_used += (size_t)n;
	return n > 0 || (n < 0 && errno == EINTR);
}

static int on_output(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct run *r = arg;

	(void)fd;
	(void)events;
	errno = 0;
	if (read_output(r) <= 0 && (r->end.overflow || errno != EAGAIN))
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (r->end.overflow)
		kill_group(r);
	return 0;
}

static int on_noise(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)fd;
	(void)events;
	errno = 0;
	if (read_noise(arg) <= 0 && errno != EAGAIN)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

static int on_exit_seen(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct run *r = arg;
	siginfo_t info = { 0 };

	(void)source;
	(void)fd;
	(void)events;
	kill(-r->pid, SIGKILL); /* whom it left behind, while the number is still its own */
	if (!waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG)) {
		if (!info.si_pid)
			return 0;
		if (info.si_code == CLD_EXITED)
			r->end.exit = info.si_status;
		else
			r->end.signal = info.si_status;
	}
	for (int i = 0; !r->told && i < DRAIN_READS && read_output(r) > 0; i++)
		;
	for (int i = 0; !r->told && i < DRAIN_READS && read_noise(r) > 0; i++)
		;
	tell(r);
	run_free(r);
	return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	struct run *r = arg;

	(void)usec;
	if (r->end.timed_out) {
		r->end.stuck = true;
		tell(r);
		close_sources(r); /* the rest comes when the kernel lets it go */
		return 0;
	}
	r->end.timed_out = true;
	kill_group(r);
	sd_event_source_set_time_relative(source, KILL_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static int spawn_with(struct run *r, char **argv, int output, int noise)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int err;

	sigemptyset(&set);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &set); /* the agent's own blocks what its loop takes */
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, noise, STDERR_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	if (!err)
		err = posix_spawn(&r->pid, r->request.program, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -err;
}

/* Above 2, so that the duplicates of the child cannot meet them. */
static int make_pipe(int *ret_read, int *ret_write)
{
	int fd[2], moved;

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	moved = fcntl(fd[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd[1]);
	if (moved < 0 || fcntl(fd[0], F_SETFL, O_NONBLOCK)) {
		close(fd[0]);
		if (moved >= 0)
			close(moved);
		return -EMFILE;
	}
	*ret_read = fd[0];
	*ret_write = moved;
	return 0;
}

static int spawn(struct run *r)
{
	char *argv[ARGUMENTS_MAX + 3] = { (char *)"davylamp-probe", (char *)"--stages" };
	int output = -1, noise = -1, err;

	for (size_t i = 0; r->request.arguments[i]; i++) {
		if (i >= ARGUMENTS_MAX)
			return -E2BIG;
		argv[i + 2] = (char *)r->request.arguments[i];
	}
	err = make_pipe(&r->output_fd, &output);
	if (!err)
		err = make_pipe(&r->noise_fd, &noise);
	if (!err)
		err = spawn_with(r, argv, output, noise);
	if (output >= 0)
		close(output);
	if (noise >= 0)
		close(noise);
	if (err)
		return err;
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	return r->pidfd < 0 ? -errno : 0;
}

static int watch(struct run *r, sd_event *loop)
{
	uint64_t limit_us = (uint64_t)r->request.limit_ms * 1000;
	int err = sd_event_add_io(loop, &r->output, r->output_fd, EPOLLIN, on_output, r);

	if (err >= 0)
		err = sd_event_add_io(loop, &r->noise, r->noise_fd, EPOLLIN, on_noise, r);
	if (err >= 0)
		err = sd_event_add_io(loop, &r->exited, r->pidfd, EPOLLIN, on_exit_seen, r);
	if (err >= 0)
		err = sd_event_add_time_relative(loop, &r->limit, CLOCK_MONOTONIC, limit_us,
						 ACCURACY_US, on_limit, r);
	return err < 0 ? err : 0;
}

int dl_probe_start(sd_event *loop, const struct dl_probe_request *request)
{
	struct run *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->request = *request;
	r->output_fd = r->noise_fd = r->pidfd = -1;
	r->began_ms = dl_now_ms();
	err = spawn(r);
	if (!err)
		err = watch(r, loop);
	if (!err)
		return 0;
	if (r->pid) { /* it has only just begun: SIGKILL ends it at once */
		kill_group(r);
		waitid(P_PID, (id_t)r->pid, &(siginfo_t){ 0 }, WEXITED);
	}
	run_free(r);
	return err;
}

void dl_probe_not_started(int error, struct dl_probe_finding *ret_finding)
{
	const struct dl_probe_end end = { .error = error };

	dl_probe_judge(&end, "", 0, "", ret_finding);
}
