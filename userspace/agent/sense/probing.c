/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs davylamp-probe in the agent for root ('davylamp probe --agent'): with the environment,
 * limits and mounts of the service, which differ from those of a shell.
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/probe_run.h"
#include "lib/message.h"
#include "agent/sense/tracker.h"

#define ARGUMENTS_MAX 16
#define ARGUMENT_LEN  128
#define RUNNING_MAX   4
#define LIMIT_MS_MAX  300000

/* The client. The descriptor is a copy, since the link may be closed before the reply. */
struct asker {
	struct davy_agent *agent;
	int fd;
};

static void probing_on_finding(void *arg, const struct davy_probe_finding *finding)
{
	struct asker *asker = arg;
	json_t *message = davy_probe_finding_json(finding);

	json_object_set_new(message, "op", json_string("finding"));
	if (davy_message_send(asker->fd, json_incref(message)) == -EMSGSIZE) {
		json_object_del(message, "answer");
		davy_message_send(asker->fd, json_incref(message));
	}
	json_decref(message);
	asker->agent->probes_running--;
	close(asker->fd);
	free(asker);
}

static const char *take_arguments(const json_t *list, const char **arguments)
{
	size_t count = json_array_size(list);

	if (!count || count > ARGUMENTS_MAX)
		return "no probe was named";
	for (size_t i = 0; i < count; i++) {
		arguments[i] = json_string_value(json_array_get(list, i));
		if (!arguments[i] || strlen(arguments[i]) > ARGUMENT_LEN)
			return "an argument is not a text, or is too long";
	}
	arguments[count] = NULL;
	if (strcmp(arguments[0], "vulkan") != 0 && strcmp(arguments[0], "engine") != 0)
		return "the agent can only run the probes 'vulkan' and 'engine'";
	return NULL;
}

const char *davy_agent_probe(struct davy_link *link, const json_t *message)
{
	const char *arguments[ARGUMENTS_MAX + 1], *why;
	struct davy_agent *a = link->agent;
	json_int_t limit_ms = davy_message_number(message, "limit_ms", 0);
	struct davy_probe_request request = { .program = a->probe_path,
					      .arguments = arguments,
					      .done = probing_on_finding };
	struct davy_probe_finding finding;
	struct asker *asker;
	int err;

	why = take_arguments(json_object_get(message, "arguments"), arguments);
	if (why)
		return why;
	if (limit_ms <= 0 || limit_ms > LIMIT_MS_MAX)
		return "the time limit of a probe must be 1 to 300000 ms";
	if (a->probes_running >= RUNNING_MAX)
		return "too many probes are running; try again later";
	asker = calloc(1, sizeof(*asker));
	if (!asker)
		return "out of memory";
	asker->agent = a;
	asker->fd = fcntl(link->fd, F_DUPFD_CLOEXEC, 3);
	request.limit_ms = (uint32_t)limit_ms;
	request.arg = asker;
	a->probes_running++;
	err = davy_probe_start(a->loop, &request);
	if (!err)
		return NULL;
	davy_probe_not_started(err, &finding);
	probing_on_finding(asker, &finding);
	return NULL;
}
