/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verb/start_finding.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"

#define ANSWER_MS 2000

static const char *or_none(const char *text)
{
	return text ? text : "";
}

bool davy_finding_tell(const char *socket_path, const struct davy_start_finding *f)
{
	json_t *answer = NULL;
	bool noted = false;
	int fd = davy_message_connect(socket_path, DAVY_CONNECT_MS);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return false;
	if (!davy_message_send(fd,
			       json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "op",
					 "finding", "backend", davy_backend_name(f->backend),
					 "engine", or_none(f->engine), "device", or_none(f->device),
					 "model", or_none(f->model), "unit", or_none(f->unit),
					 "where", or_none(f->where), "status", f->status)) &&
	    poll(&wait, 1, ANSWER_MS) == 1 && !davy_message_receive(fd, &answer))
		noted = !strcmp(davy_message_text(answer, "op"), "noted");
	json_decref(answer);
	close(fd);
	return noted;
}
