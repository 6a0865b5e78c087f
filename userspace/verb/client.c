/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/message.h"
#include "verb/verb.h"

#define PATIENCE_MS 10000

static int client_say(const char *socket_path, int err)
{
	if (davy_message_no_agent(err)) {
		davy_log("no agent answers on '%s' (%s); start it with 'davylamp run' as root",
			 socket_path, strerror(-err));
		return DAVY_EXIT_NOTHING;
	}
	if (err == -EAGAIN)
		davy_log("the agent on '%s' is busy: its queue was full for %d s; the request was "
			 "not sent, try again",
			 socket_path, DAVY_CONNECT_MS / 1000);
	else
		davy_log("the agent on '%s' cannot be reached: %s", socket_path, strerror(-err));
	return err == -EACCES || err == -EPERM ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
}

int davy_client_find(const char *socket_path)
{
	int fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || davy_message_no_agent(fd))
		return fd >= 0 ? DAVY_EXIT_DONE : DAVY_EXIT_NOTHING;
	return client_say(socket_path, fd);
}

/* Logs a refusal. Returns the exit status; the answer is of use only with DAVY_EXIT_DONE. */
static int client_judge(const json_t *answer)
{
	const char *op = davy_message_text(answer, "op");

	if (!strcmp(op, "error")) {
		davy_log("the agent refused: %s", davy_message_text(answer, "why"));
		return DAVY_EXIT_NOT_PERMITTED;
	}
	if (strcmp(op, "busy") != 0)
		return DAVY_EXIT_DONE;
	davy_log("the agent is busy: %s", davy_message_text(answer, "why"));
	return DAVY_EXIT_FAILED;
}

int davy_client_ask(const char *socket_path, json_t *question, json_t **ret_answer)
{
	return davy_client_ask_for(socket_path, question, PATIENCE_MS, ret_answer);
}

int davy_client_ask_for(const char *socket_path, json_t *question, int patience_ms,
			json_t **ret_answer)
{
	DAVY_FD fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);
	struct pollfd wait = { .events = POLLIN };
	json_t *answer = NULL;
	int err, status;

	if (fd < 0) {
		json_decref(question);
		return client_say(socket_path, fd);
	}
	err = davy_message_send(fd, question);
	wait.fd = fd;
	if (err == -EPIPE)
		err = 0; /* a refusal may be waiting to be read */
	if (!err && poll(&wait, 1, patience_ms) != 1)
		err = -ETIMEDOUT;
	if (!err)
		err = davy_message_receive(fd, &answer);
	if (err) {
		davy_log("the agent on '%s' did not answer: %s", socket_path, strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	status = client_judge(answer);
	if (status)
		json_decref(answer);
	else
		*ret_answer = answer;
	return status;
}
