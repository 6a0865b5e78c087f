/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "../lib/file.h"
#include "../lib/message.h"
#include "verbs.h"

#define PATIENCE_MS 10000

int dl_client_ask(const char *socket_path, json_t *question, json_t **ret_answer)
{
	return dl_client_ask_for(socket_path, question, PATIENCE_MS, ret_answer);
}

int dl_client_ask_for(const char *socket_path, json_t *question, int patience_ms,
		      json_t **ret_answer)
{
	DL_FD fd = dl_message_connect(socket_path);
	struct pollfd wait = { .events = POLLIN };
	json_t *answer = NULL;
	int err;

	if (fd < 0) {
		json_decref(question);
		dl_log("no agent answers on '%s' (%s); start it with 'davylamp run' as root",
		       socket_path, strerror(-fd));
		return DL_EXIT_NOTHING;
	}
	err = dl_message_send(fd, question);
	wait.fd = fd;
	if (!err && poll(&wait, 1, patience_ms) != 1)
		err = -ETIMEDOUT;
	if (!err)
		err = dl_message_receive(fd, &answer);
	if (err) {
		dl_log("the agent on '%s' did not answer: %s", socket_path, strerror(-err));
		return DL_EXIT_FAILED;
	}
	if (!strcmp(dl_message_text(answer, "op"), "error")) {
		dl_log("the agent refused: %s", dl_message_text(answer, "why"));
		json_decref(answer);
		return DL_EXIT_NOT_PERMITTED;
	}
	*ret_answer = answer;
	return DL_EXIT_DONE;
}
