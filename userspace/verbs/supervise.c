/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/log.h"
#include "../lib/message.h"

/* How long a dead engine's supervisor waits for the agent to say what follows. */
#define VERDICT_MS  10000
#define REGISTER_MS 2000
#define RETRY_MS    2000 /* an agent that came later, or came back, is found within this */

struct supervisor {
	struct dl_launch *launch;
	const char *socket_path;
	int agent_fd; /* -1: none */
	int signal_fd;
	pid_t previous_pid; /* the child before this one */
	int status;	    /* wait status of the engine that ended last */
	bool ending;	    /* we were told to end: no replacement any more */
	bool held;	    /* the agent has something to come: wait for it as long as it lives */
	bool let_go;
};

static bool say(struct supervisor *s, json_t *message)
{
	int err;

	if (s->agent_fd < 0) {
		json_decref(message);
		return false;
	}
	err = dl_message_send(s->agent_fd, message);
	if (!err)
		return true;
	if (err == -ENOMEM) {
		dl_log("a message to the agent could not be made: out of memory");
		return false;
	}
	dl_debug("the agent does not take messages any more");
	return false; /* its last order may wait to be read; the end of the socket comes after it */
}

static json_t *engine_message(const struct supervisor *s, const char *op)
{
	const struct dl_launch *l = s->launch;

	return json_pack("{s:s, s:i, s:i, s:s, s:i, s:s, s:s}", "op", op, "pid", (int)l->pid,
			 "engine", (int)l->facts.engine, "backend", dl_backend_name(l->backend),
			 "port", (int)l->facts.port, "model", l->facts.model, "cgroup",
			 l->cgroup.path);
}

static void register_workload(struct supervisor *s)
{
	struct pollfd wait = { .fd = s->agent_fd, .events = POLLIN };
	json_t *answer = NULL;

	if (!say(s, engine_message(s, "register")))
		return;
	if (poll(&wait, 1, REGISTER_MS) == 1 && !dl_message_receive(s->agent_fd, &answer) &&
	    !strcmp(dl_message_text(answer, "op"), "registered"))
		dl_log("watched by the agent as workload %lld, mode %s",
		       (long long)dl_message_number(answer, "workload", 0),
		       dl_message_text(answer, "mode"));
	else
		dl_log("the agent did not take the workload%s%s; it runs unwatched",
		       answer ? ": " : "", answer ? dl_message_text(answer, "why") : "");
	json_decref(answer);
}

static void failed(struct supervisor *s, int err)
{
	say(s, json_pack("{s:s, s:i}", "op", "failed", "error", -err));
}

/* Whether the order can be carried out, before anything is stopped for it. */
static int may_replace(const struct supervisor *s, const json_t *order, enum dl_backend backend)
{
	json_int_t pid = dl_message_number(order, "pid", 0);

	if (s->ending)
		return -ECANCELED;
	if (s->launch->pid && pid && pid == s->previous_pid)
		return -ESTALE; /* about an engine that is gone already */
	return dl_launch_possible(s->launch, backend);
}

static int stop_and_start(struct supervisor *s, enum dl_backend backend)
{
	struct dl_launch *l = s->launch;
	pid_t pid = l->pid;
	int err = dl_launch_stop(l, &s->status);

	if (err) {
		dl_log("the engine (pid %d) does not end, not even by SIGKILL: its driver holds it",
		       l->pid);
		return err;
	}
	s->previous_pid = pid ? pid : s->previous_pid;
	say(s, json_pack("{s:s}", "op", "stopped"));
	l->backend = backend;
	err = dl_launch_start(l);
	if (err)
		dl_log("the engine cannot be started again: %s", strerror(-err));
	return err;
}

static void replace(struct supervisor *s, const json_t *order)
{
	bool to_cpu = !strcmp(dl_message_text(order, "backend"), "cpu");
	enum dl_backend backend = to_cpu ? DL_BACKEND_CPU : s->launch->backend;
	int err = may_replace(s, order, backend);

	s->held = false;
	if (!err) {
		dl_log("%s: %s; %s", dl_message_text(order, "hazard"),
		       dl_message_text(order, "because"),
		       to_cpu ? "moving the engine to the CPU" : "restarting the engine");
		err = stop_and_start(s, backend);
	}
	if (err)
		failed(s, err);
	else
		say(s, engine_message(s, "started"));
}

static void on_agent(struct supervisor *s)
{
	json_t *order = NULL;
	int err = dl_message_receive(s->agent_fd, &order);
	const char *op;

	if (err == -ECONNRESET) {
		dl_log("the agent has ended; the engine runs on unwatched");
		close(s->agent_fd);
		s->agent_fd = -1;
		return;
	}
	if (err)
		return;
	op = dl_message_text(order, "op");
	if (!strcmp(op, "replace"))
		replace(s, order);
	else if (!strcmp(op, "hold"))
		s->held = true;
	else if (!strcmp(op, "let_go"))
		s->let_go = !s->launch->pid;
	else if (!strcmp(op, "error"))
		dl_log("the agent refused: %s", dl_message_text(order, "why"));
	json_decref(order);
}

static void reap(struct supervisor *s)
{
	struct dl_launch *l = s->launch;
	int status;

	if (!l->pid || waitpid(l->pid, &status, WNOHANG) != l->pid)
		return;
	s->status = status;
	s->previous_pid = l->pid;
	say(s, json_pack("{s:s, s:i, s:i}", "op", "exited", "pid", (int)l->pid, "status", status));
	l->pid = 0;
}

static void on_signal(struct supervisor *s)
{
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD) {
		reap(s);
		return;
	}
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
		s->ending = true;
	/* A terminal's signal has reached the engine by itself: a second one would kill it hard. */
	if (s->launch->pid && info.ssi_code != SI_KERNEL)
		kill(s->launch->pid, (int)info.ssi_signo);
}

/* An engine that runs unwatched is offered to the agent again and again. */
static void look_for_agent(struct supervisor *s)
{
	s->agent_fd = dl_message_connect(s->socket_path);
	if (s->agent_fd >= 0)
		register_workload(s);
	else
		s->agent_fd = -1;
}

static int patience_ms(const struct supervisor *s)
{
	if (!s->launch->pid)
		return s->held ? -1 : VERDICT_MS;
	return s->agent_fd < 0 ? RETRY_MS : -1;
}

/* Running, or waiting for what the agent makes of its end. */
static bool goes_on(const struct supervisor *s)
{
	return s->launch->pid || (s->agent_fd >= 0 && !s->ending && !s->let_go);
}

static void watch(struct supervisor *s)
{
	while (goes_on(s)) {
		struct pollfd waits[] = {
			{ .fd = s->signal_fd, .events = POLLIN },
			{ .fd = s->agent_fd, .events = POLLIN }, /* -1 is passed over */
		};
		int ready = poll(waits, 2, patience_ms(s));

		if (ready < 0 && errno != EINTR)
			break;
		if (ready == 0 && !s->launch->pid)
			break; /* the agent says nothing: end as the engine did */
		if (ready == 0)
			look_for_agent(s);
		if (ready <= 0)
			continue;
		if (waits[0].revents)
			on_signal(s);
		if (s->agent_fd >= 0 && waits[1].revents)
			on_agent(s);
		reap(s); /* a child that ended while another was being replaced */
	}
}

static int open_signals(void)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would take the exit status away */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int dl_supervise(struct dl_launch *launch, const char *socket_path)
{
	struct supervisor s = { .launch = launch, .socket_path = socket_path, .agent_fd = -1 };
	int err;

	s.signal_fd = open_signals();
	if (s.signal_fd < 0) {
		dl_log("signals: %s", strerror(errno));
		return DL_EXIT_FAILED;
	}
	err = dl_launch_start(launch);
	if (err) {
		dl_log("'%s' cannot be started: %s", launch->argv[0], strerror(-err));
		return err == -ENOENT ? 127 : 126;
	}
	s.agent_fd = dl_message_connect(socket_path);
	if (s.agent_fd < 0)
		dl_log("no agent on '%s' (%s): the engine runs unwatched; start 'davylamp run' as "
		       "root",
		       socket_path, strerror(-s.agent_fd));
	else
		register_workload(&s);
	watch(&s);
	if (s.agent_fd >= 0)
		close(s.agent_fd);
	close(s.signal_fd);
	return WIFSIGNALED(s.status) ? 128 + WTERMSIG(s.status) : WEXITSTATUS(s.status);
}
