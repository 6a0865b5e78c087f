/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX 4096
#define SPARE_MS   3000 /* the probe's own limits come first; this one is for a probe that hangs */

extern char **environ;

struct check {
	struct dl_check_request request;
	sd_event_source *output;
	sd_event_source *limit;
	pid_t pid;
	int fd;
	size_t used;
	char answer[ANSWER_MAX];
};

static int number(const json_t *object, const char *key, json_int_t max, json_int_t *ret_value)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > max)
		return -EBADMSG;
	*ret_value = json_integer_value(value);
	return 0;
}

int dl_check_parse(const char *text, size_t size, struct dl_check_result *ret_result)
{
	json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	json_int_t health, completion, tokens, ms;
	int err = 0;

	if (number(object, "health", 999, &health) ||
	    number(object, "completion", 999, &completion) ||
	    number(object, "tokens", UINT32_MAX, &tokens) || number(object, "ms", UINT32_MAX, &ms))
		err = -EBADMSG;
	json_decref(object);
	if (err)
		return err;
	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->health_status = (uint16_t)health;
	ret_result->completion_status = (uint16_t)completion;
	ret_result->token_count = (uint32_t)tokens;
	ret_result->completion_ms = (uint32_t)ms;
	return 0;
}

static void finish(struct check *c, int error)
{
	struct dl_check_result result = { .error = error };
	siginfo_t info = { 0 };

	/* Our own child, not yet waited for: the pid is its. It has said all, or shall say no more.
	 */
	kill(c->pid, SIGKILL);
	waitid(P_PID, (id_t)c->pid, &info, WEXITED);
	if (!error && dl_check_parse(c->answer, c->used, &result))
		result.error = -EBADMSG;
	sd_event_source_disable_unref(c->output);
	sd_event_source_disable_unref(c->limit);
	close(c->fd);
	c->request.done(c->request.arg, &result);
	free(c);
}

static int on_output(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct check *c = arg;
	ssize_t n = read(fd, c->answer + c->used, sizeof(c->answer) - c->used);

	(void)source;
	(void)events;
	if (n > 0)
		c->used += (size_t)n;
	if (n > 0 && c->used < sizeof(c->answer))
		return 0;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	finish(c, n == 0 ? 0 : -EBADMSG);
	return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	finish(arg, -ETIMEDOUT);
	return 0;
}

static int spawn(struct check *c, const char *program)
{
	char port[16], wait_ms[16], timeout_ms[16];
	char *argv[] = { (char *)"davylamp-probe",
			 (char *)"engine",
			 (char *)"--port",
			 port,
			 (char *)"--wait-ms",
			 wait_ms,
			 (char *)"--timeout-ms",
			 timeout_ms,
			 NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int pipe_fd[2], err;
	sigset_t none;

	snprintf(port, sizeof(port), "%u", c->request.port);
	snprintf(wait_ms, sizeof(wait_ms), "%u", c->request.wait_ms);
	snprintf(timeout_ms, sizeof(timeout_ms), "%u", c->request.timeout_ms);
	if (pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr,
				   &none); /* the agent's own mask blocks what its loop takes */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	err = posix_spawn_file_actions_adddup2(&files, pipe_fd[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawn(&c->pid, program, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(pipe_fd[1]);
	c->fd = pipe_fd[0];
	if (err)
		close(c->fd);
	return -err;
}

int dl_check_start(sd_event *loop, const char *program, const struct dl_check_request *request)
{
	uint64_t limit_us = ((uint64_t)request->wait_ms + request->timeout_ms + SPARE_MS) * 1000;
	struct check *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->request = *request;
	err = spawn(c, program);
	if (err) {
		free(c);
		return err;
	}
	err = sd_event_add_io(loop, &c->output, c->fd, EPOLLIN, on_output, c);
	if (err >= 0)
		err = sd_event_add_time_relative(loop, &c->limit, CLOCK_MONOTONIC, limit_us, 100000,
						 on_limit, c);
	if (err >= 0)
		return 0;
	sd_event_source_disable_unref(c->output);
	kill(c->pid, SIGKILL);
	waitid(P_PID, (id_t)c->pid, &(siginfo_t){ 0 }, WEXITED);
	close(c->fd);
	free(c);
	return err;
}
