/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between the supervisor and the agent. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "act/watch.h"
#include "lib/log.h"
#include "lib/message.h"
#include "exec/supervisor.h"

#define REGISTER_MS 2000

bool davy_supervisor_say(struct davy_supervisor *s, json_t *message)
{
	int err;

	if (s->agent_fd < 0) {
		json_decref(message);
		return false;
	}
	err = davy_message_send(s->agent_fd, message);
	if (!err)
		return true;
	if (err == -ENOMEM) {
		davy_log("no message to the agent: out of memory");
		return false;
	}
	davy_debug("the agent accepts no more messages");
	return false; /* keep the socket: an order may be unread */
}

json_t *davy_supervisor_engine(const struct davy_supervisor *s, const char *op)
{
	static const struct davy_engine_override cpu = { .backend = DAVY_BACKEND_CPU };
	const struct davy_launch *l = s->launch;
	enum davy_backend backend =
		s->engine.override.backend ? s->engine.override.backend : l->asked;

	return json_pack("{s:s, s:i, s:i, s:i, s:s, s:i, s:s, s:s, s:s, s:b, s:b, s:b}", "op", op,
			 "pid", (int)davy_launched_engine(&s->engine), "engine",
			 (int)l->facts.engine, "role", (int)l->facts.role, "backend",
			 davy_backend_name(backend), "port", (int)l->facts.port, "model",
			 l->facts.model, "api_key", l->facts.api_key, "cgroup", l->cgroup.path,
			 "keeps", l->shares_port, "variables", l->look != NULL, "movable",
			 l->look && !davy_launch_possible(l, &cpu, NULL));
}

void davy_supervisor_failed(struct davy_supervisor *s, int err)
{
	davy_supervisor_say(s, json_pack("{s:s, s:i}", "op", "failed", "error", -err));
}

void davy_supervisor_hang_up(struct davy_supervisor *s)
{
	s->agent = sd_event_source_disable_unref(s->agent); /* closes agent_fd */
	s->agent_fd = -1;
}

static void agent_registered(const json_t *answer)
{
	davy_log("watched by the agent as workload %lld, mode %s",
		 (long long)davy_message_number(answer, "workload", 0),
		 davy_message_text(answer, "mode"));
}

static void supervise_agent_on_order(struct davy_supervisor *s, const json_t *order)
{
	const char *op = davy_message_text(order, "op");

	if (!strcmp(op, "replace"))
		davy_supervisor_replace(s, order);
	else if (!strcmp(op, "stop"))
		davy_supervisor_stop(s, order);
	else if (!strcmp(op, "hold"))
		s->awaits_order = true;
	else if (!strcmp(op, "let_go"))
		s->released = !davy_supervisor_without_additions(s) && !s->engine.pid;
	else if (!strcmp(op, "confirm"))
		davy_supervisor_confirm(s);
	else if (!strcmp(op, "registered"))
		agent_registered(order);
	else if (!strcmp(op, "error"))
		davy_log("the agent refused: %s", davy_message_text(order, "why"));
}

static int on_agent(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_supervisor *s = arg;
	json_t *order = NULL;
	int err = davy_message_receive(fd, &order);

	(void)source;
	(void)events;
	if (err == -ECONNRESET) {
		davy_log("the agent has ended; the engine continues unwatched");
		davy_supervisor_hang_up(s);
	} else if (!err) {
		supervise_agent_on_order(s, order);
	}
	json_decref(order);
	return 0;
}

static void refused_registration(struct davy_supervisor *s, const json_t *answer)
{
	bool busy = !strcmp(davy_message_text(answer, "op"), "busy");

	if (!busy || !s->started_ms)
		davy_log("the agent refused the workload%s%s; it runs unwatched%s",
			 answer ? ": " : "", davy_message_text(answer, "why"),
			 busy ? " until the agent has room for it" : "");
	if (busy)
		davy_supervisor_hang_up(s); /* try again later */
}

/* on_agent handles a late answer. */
static void register_workload(struct davy_supervisor *s)
{
	struct pollfd wait = { .fd = s->agent_fd, .events = POLLIN };
	json_t *answer = NULL, *message;

	message = davy_supervisor_engine(s, "register");
	json_object_set_new(message, "left", davy_supervisor_effects(s));
	json_object_set_new(message, "vram_max", json_integer((json_int_t)s->options.vram_max));
	davy_supervisor_say(s, message); /* on failure the answer has the reason */
	if (poll(&wait, 1, REGISTER_MS) != 1)
		davy_log("the agent has not answered within %d s; the engine runs and is watched "
			 "as soon as it answers",
			 REGISTER_MS / 1000);
	else if (!davy_message_receive(s->agent_fd, &answer) &&
		 !strcmp(davy_message_text(answer, "op"), "registered"))
		agent_registered(answer);
	else
		refused_registration(s, answer);
	json_decref(answer);
}

/* Only the first attempt blocks; the loop tries again every RETRY_MS. */
void davy_supervisor_look_for_agent(struct davy_supervisor *s)
{
	int fd = davy_message_connect(s->options.socket_path, s->started_ms ? 0 : DAVY_CONNECT_MS);

	if (fd < 0) {
		if (!s->started_ms && davy_message_no_agent(fd))
			davy_log("no agent on '%s' (%s): the engine runs unwatched; start "
				 "'davylamp run' as root",
				 s->options.socket_path, strerror(-fd));
		else if (!s->started_ms)
			davy_log("the agent on '%s' cannot be reached (%s): the engine runs "
				 "unwatched until the agent can be reached",
				 s->options.socket_path,
				 fd == -EAGAIN ? "it is busy" : strerror(-fd));
		return;
	}
	if (davy_watch(s->loop, &s->agent, fd, on_agent, s) < 0)
		return;
	s->agent_fd = fd;
	register_workload(s);
}
