/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"
#include "exec/exec_case.h"
#include "verb/verb.h"

#define ANSWER_MS 2000

/* Gets the last valid rules from the agent. */
static bool exec_layers_ask_agent(const char *socket_path, struct davy_policy_layers *layers)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	json_t *answer = NULL;
	const char *text;
	bool good = false;
	int fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return false;
	if (!davy_message_send(fd, json_pack("{s:s}", "op", "administrator_rules")) &&
	    poll(&wait, 1, ANSWER_MS) == 1 && !davy_message_receive(fd, &answer)) {
		text = davy_message_text(answer, "text");
		good = text[0] &&
		       !davy_policy_text_read(text, strlen(text), "the agent", DAVY_LAYER_ADMIN,
					      &layers->at[DAVY_LAYER_ADMIN], error);
	}
	close(fd);
	json_decref(answer);
	return good;
}

/* Reads all layers except the administrator's, which is not valid. */
static bool read_others(const struct davy_exec_options *o, struct davy_policy_layers *layers)
{
	char error[DAVY_CONFIG_ERROR_LEN];

	return !davy_policy_dirs_read(o->data_dir, o->state_dir, NULL, layers, error) &&
	       exec_layers_ask_agent(o->socket_path, layers);
}

bool davy_exec_layers_read(const struct davy_exec_options *o, struct davy_policy_layers *layers)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	int err;

	davy_policy_layers_init(layers);
	err = davy_policy_dirs_read(o->data_dir, o->state_dir, o->config_dir, layers, error);
	if (err && read_others(o, layers)) {
		davy_log("policy: %s; starting with the previous rules",
			 error[0] ? error : strerror(-err));
		return true;
	}
	if (err)
		davy_log("policy: %s; starting without rules", error[0] ? error : strerror(-err));
	else if (error[0])
		davy_log("policy: %s; the rules of this file are ignored", error);
	return !err;
}
