/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/message.h"
#include "cli/verbs.h"

#define PATIENCE_MS 10000

static int client_say(const char *socket_path, int err)
{
	if (dl_message_nobody(err)) {
		dl_log("no agent answers on '%s' (%s); start it with 'davylamp run' as root",
		       socket_path, strerror(-err));
		return DL_EXIT_NOTHING;
	}
	if (err == -EAGAIN)
		dl_log("the agent on '%s' is busy: its queue stayed full for %d s; nothing was "
		       "asked, try again",
		       socket_path, DL_CONNECT_MS / 1000);
	else
		dl_log("the agent on '%s' cannot be reached: %s", socket_path, strerror(-err));
	return err == -EACCES || err == -EPERM ? DL_EXIT_NOT_PERMITTED : DL_EXIT_FAILED;
}

int dl_client_find(const char *socket_path)
{
	int fd = dl_message_connect(socket_path, DL_CONNECT_MS);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || dl_message_nobody(fd))
		return fd >= 0 ? DL_EXIT_DONE : DL_EXIT_NOTHING;
	return client_say(socket_path, fd);
}

/* What an answer is worth; the caller keeps it for DL_EXIT_DONE only. */
static int client_judge(const json_t *answer)
{
	const char *op = dl_message_text(answer, "op");

	if (!strcmp(op, "error")) {
		dl_log("the agent refused: %s", dl_message_text(answer, "why"));
		return DL_EXIT_NOT_PERMITTED;
	}
	if (strcmp(op, "busy") != 0)
		return DL_EXIT_DONE;
	dl_log("the agent is busy: %s", dl_message_text(answer, "why"));
	return DL_EXIT_FAILED;
}

int dl_client_ask(const char *socket_path, json_t *question, json_t **ret_answer)
{
	return dl_client_ask_for(socket_path, question, PATIENCE_MS, ret_answer);
}

int dl_client_ask_for(const char *socket_path, json_t *question, int patience_ms,
		      json_t **ret_answer)
{
	DL_FD fd = dl_message_connect(socket_path, DL_CONNECT_MS);
	struct pollfd wait = { .events = POLLIN };
	json_t *answer = NULL;
	int err, status;

	if (fd < 0) {
		json_decref(question);
		return client_say(socket_path, fd);
	}
	err = dl_message_send(fd, question);
	wait.fd = fd;
	if (err == -EPIPE)
		err = 0; /* refused at once: why is there to be read */
	if (!err && poll(&wait, 1, patience_ms) != 1)
		err = -ETIMEDOUT;
	if (!err)
		err = dl_message_receive(fd, &answer);
	if (err) {
		dl_log("the agent on '%s' did not answer: %s", socket_path, strerror(-err));
		return DL_EXIT_FAILED;
	}
	status = client_judge(answer);
	if (status)
		json_decref(answer);
	else
		*ret_answer = answer;
	return status;
}
