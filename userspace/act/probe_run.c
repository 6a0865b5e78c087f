/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/probe_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/api_key.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "act/watch.h"

#define ARGUMENTS_MAX 32
#define NOISE_MAX     4096
#define DRAIN_READS   64      /* of at least NOISE_MAX / 2: empties a 64 KiB pipe */
#define KILL_US	      1000000 /* later than this, SIGKILL is blocked in the kernel */
#define ACCURACY_US   50000

struct run {
	struct davy_probe_request request;
	struct davy_probe_end end;
	sd_event_source *output;
	sd_event_source *noise;
	sd_event_source *exited;
	sd_event_source *limit;
	int output_fd; /* owned by its event source, like the others; -1: not watched */
	int noise_fd;
	struct davy_child child;
	bool reported;
	uint64_t began_ms;
	size_t used;
	size_t noise_used;
	char noise_text[NOISE_MAX];
	char text[DAVY_PROBE_OUTPUT_MAX];
};

int davy_probe_path(char *buf, size_t size)
{
	return davy_program_path("davylamp-probe", buf, size);
}

static void close_sources(struct run *r)
{
	r->output = sd_event_source_disable_unref(r->output);
	r->noise = sd_event_source_disable_unref(r->noise);
	r->limit = sd_event_source_disable_unref(r->limit);
	r->output_fd = r->noise_fd = -1;
}

static void run_free(struct run *r)
{
	close_sources(r);
	sd_event_source_disable_unref(r->exited);
	free(r);
}

static void probe_run_tell(struct run *r)
{
	struct davy_probe_finding finding;

	if (r->reported)
		return;
	r->reported = true;
	r->end.ms = (uint32_t)(davy_now_ms() - r->began_ms);
	r->noise_text[r->noise_used] = 0;
	davy_probe_judge(&r->end, r->text, r->used, r->noise_text, &finding);
	r->request.done(r->request.arg, &finding);
}

/* > 0: more may be readable. */
static int probe_run_read_output(struct run *r)
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

/* Keeps the end of the output: a full buffer loses its older half. */
static int probe_run_read_noise(struct run *r)
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
	if (probe_run_read_output(r) <= 0 && (r->end.overflow || errno != EAGAIN))
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (r->end.overflow)
		davy_child_kill(&r->child, SIGKILL);
	return 0;
}

static int on_noise(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)fd;
	(void)events;
	errno = 0;
	if (probe_run_read_noise(arg) <= 0 && errno != EAGAIN)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

static int on_exit_seen(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct run *r = arg;
	int status;

	(void)source;
	(void)fd;
	(void)events;
	davy_child_kill(&r->child, SIGKILL); /* its remaining children */
	if (!davy_child_reap(&r->child, &status))
		return 0;
	if (WIFSIGNALED(status))
		r->end.signal = WTERMSIG(status);
	else
		r->end.exit = WEXITSTATUS(status);
	for (int i = 0; !r->reported && i < DRAIN_READS && probe_run_read_output(r) > 0; i++)
		;
	for (int i = 0; !r->reported && i < DRAIN_READS && probe_run_read_noise(r) > 0; i++)
		;
	probe_run_tell(r);
	run_free(r);
	return 0;
}

static int probe_run_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	struct run *r = arg;

	(void)usec;
	if (r->end.timed_out) {
		r->end.stuck = true;
		probe_run_tell(r);
		close_sources(r); /* the rest follows when the process ends */
		return 0;
	}
	r->end.timed_out = true;
	davy_child_kill(&r->child, SIGKILL);
	sd_event_source_set_time_relative(source, KILL_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* In the environment, which other users cannot read. */
static int probe_run_give_key(void *arg)
{
	const struct run *r = arg;
	const char *key = r->request.api_key;

	if (key && key[0])
		return setenv(DAVY_API_KEY_ENV, key, 1) ? -errno : 0;
	return unsetenv(DAVY_API_KEY_ENV) ? -errno : 0;
}

/* The child's stdout; its stderr is "noise". */
static int probe_spawn(struct run *r, int noise)
{
	char *argv[ARGUMENTS_MAX + 3] = { (char *)"davylamp-probe", (char *)"--stages" };
	const struct davy_child_spec spec = { .path = r->request.program,
					      .argv = argv,
					      .run = probe_run_give_key,
					      .arg = r,
					      .stdio = { DAVY_CHILD_NULL, 0, noise },
					      .own_group = true };

	for (size_t i = 0; r->request.arguments[i]; i++) {
		if (i >= ARGUMENTS_MAX)
			return -E2BIG;
		argv[i + 2] = (char *)r->request.arguments[i];
	}
	return davy_child_start_piped(&spec, O_NONBLOCK, &r->child);
}

/* The loop owns the descriptors, also after a failure. */
static int probe_watch(struct run *r, sd_event *loop, int output, int noise)
{
	uint64_t limit_us = (uint64_t)r->request.limit_ms * 1000;
	int err = davy_watch(loop, &r->output, output, on_output, r), noise_err;

	noise_err = davy_watch(loop, &r->noise, noise, on_noise, r);
	r->output_fd = err < 0 ? -1 : output;
	r->noise_fd = noise_err < 0 ? -1 : noise;
	err = err < 0 ? err : noise_err;
	if (err >= 0)
		err = davy_watch(loop, &r->exited, davy_child_take_pidfd(&r->child), on_exit_seen,
				 r);
	if (err >= 0)
		err = sd_event_add_time_relative(loop, &r->limit, CLOCK_MONOTONIC, limit_us,
						 ACCURACY_US, probe_run_on_limit, r);
	return err < 0 ? err : 0;
}

static int probe_begin(struct run *r, sd_event *loop)
{
	int noise[2], output;

	if (pipe2(noise, O_CLOEXEC))
		return -errno;
	fcntl(noise[0], F_SETFL, O_NONBLOCK);
	output = probe_spawn(r, noise[1]);
	close(noise[1]);
	if (output < 0) {
		close(noise[0]);
		return output;
	}
	return probe_watch(r, loop, output, noise[0]);
}

int davy_probe_start(sd_event *loop, const struct davy_probe_request *request)
{
	struct run *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->request = *request;
	r->output_fd = r->noise_fd = -1;
	r->began_ms = davy_now_ms();
	err = probe_begin(r, loop);
	if (!err)
		return 0; /* NOLINT: the sources have it */
	davy_child_end(&r->child, KILL_US / 1000);
	run_free(r);
	return err;
}

void davy_probe_not_started(int error, struct davy_probe_finding *ret_finding)
{
	const struct davy_probe_end end = { .error = error };

	davy_probe_judge(&end, "", 0, "", ret_finding);
}
