/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exec/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/probe_run.h"
#include "act/watch.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/message.h"
#include "lib/text.h"
#include "exec/supervisor.h"

/* After the engine's end: how long to wait for the agent's order. */
#define VERDICT_MS 10000
#define RETRY_MS   2000 /* interval of attempts to reach an agent */
#define REFUSED_MS 5000 /* an engine that rejects our additions ends within this time */
#define US_PER_MS  1000ULL

bool davy_supervisor_without_additions(struct davy_supervisor *s)
{
	struct davy_launch *l = s->launch;
	struct davy_engine_override override = s->engine.override;

	if (s->engine.pid || s->ending || l->count != 1 || !WIFEXITED(s->status) ||
	    !WEXITSTATUS(s->status) || (!l->shares_port && !l->slot_dir[0]) ||
	    s->ended_ms - s->started_ms > REFUSED_MS)
		return false;
	l->shares_port = false;
	l->slot_dir[0] = 0;
	if (davy_launch_start(l, &override, &s->engine))
		return false;
	davy_log("the engine ended at once (status %d); restarting without the settings that a "
		 "planned migration needs",
		 WEXITSTATUS(s->status));
	davy_supervisor_hang_up(s);
	davy_supervisor_look_for_agent(s);
	return true;
}

/* A shell, timeout and sudo exit with 128 + N after signal N ended their command. */
static int status_of_inner(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	return code > 128 && code < 128 + NSIG ? W_EXITCODE(0, code - 128) : status;
}

static void supervise_reap(struct davy_supervisor *s)
{
	pid_t pid = davy_launched_engine(&s->engine);
	pid_t child = s->engine.pid;
	int status;

	if (davy_launched_reap(&s->handover.other, &status))
		davy_handover_other_gone(s);
	if (!davy_launched_reap(&s->engine, &s->status))
		return;
	if (pid != child)
		s->status = status_of_inner(s->status);
	s->previous_pid = pid;
	s->ended_ms = davy_now_ms();
	if (s->agent_fd < 0 && davy_supervisor_without_additions(s))
		return;
	if (s->handover.stage)
		davy_handover_engine_gone(s);
	else
		davy_supervisor_say(s, json_pack("{s:s, s:i, s:i}", "op", "exited", "pid", (int)pid,
						 "status", s->status));
}

static void pass_on(const struct davy_launched *child, const struct signalfd_siginfo *info)
{
	/* A terminal signals the whole group. A second signal would end the engine at once. */
	if (child->pid && info->ssi_code != SI_KERNEL)
		kill(child->pid, (int)info->ssi_signo);
}

/*
 * If a terminal (or another process, with SIGTSTP) stops the engine, the supervisor stops too, so
 * that the shell sees a stopped job. SIGSTOP is how the agent pauses it. SIGCONT wakes both.
 */
static void stop_with(const struct davy_launched *child)
{
	siginfo_t info = { 0 };

	if (!child->pid || waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WNOHANG) ||
	    info.si_pid != child->pid)
		return;
	if (info.si_status == SIGTSTP || info.si_status == SIGTTIN || info.si_status == SIGTTOU)
		raise(SIGSTOP);
}

static int supervise_on_signal(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_supervisor *s = arg;
	struct signalfd_siginfo info;

	(void)source;
	(void)events;
	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo == SIGCHLD) {
		supervise_reap(s);
		stop_with(&s->engine);
		return 0;
	}
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
		s->ending = true;
	pass_on(&s->engine, &info);
	pass_on(&s->handover.other, &info);
	return 0;
}

/* The engine runs, or the agent may still order a restart. */
static bool supervise_goes_on(const struct davy_supervisor *s)
{
	return s->engine.pid || s->handover.other.pid ||
	       (s->agent_fd >= 0 && !s->ending && !s->released);
}

static int on_patience(sd_event_source *source, uint64_t usec, void *arg)
{
	struct davy_supervisor *s = arg;

	(void)source;
	(void)usec;
	if (!s->engine.pid && !s->handover.stage) {
		if (!davy_supervisor_without_additions(s))
			sd_event_exit(s->loop, 0); /* no order: end */
	} else if (s->agent_fd < 0 && s->engine.pid && s->handover.stage < DAVY_HANDOVER_LISTEN) {
		davy_supervisor_look_for_agent(s);
	}
	return 0;
}

/* After each event: end the loop, or set its next timeout. */
static int supervise_settle(sd_event_source *source, void *arg)
{
	struct davy_supervisor *s = arg;
	uint64_t ms = 0;

	(void)source;
	supervise_reap(s); /* a child may end during a replacement */
	davy_became_follow(s);
	if (!supervise_goes_on(s))
		return sd_event_exit(s->loop, 0);
	if (!s->engine.pid && !s->handover.stage)
		ms = s->awaits_order ? 0 : VERDICT_MS;
	else if (s->agent_fd < 0)
		ms = RETRY_MS;
	sd_event_source_set_enabled(s->patience, ms ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	if (ms)
		sd_event_source_set_time_relative(s->patience, ms * US_PER_MS);
	return 0;
}

static int supervise_open_signals(void)
{
	static const int passed[] = { SIGTERM, SIGINT,	SIGHUP,	 SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };
	sigset_t set;
	int fd;

	signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, the exit status would be lost */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_loop(struct davy_supervisor *s, int signal_fd)
{
	int err = sd_event_new(&s->loop);

	if (err < 0)
		close(signal_fd);
	else
		err = davy_watch(s->loop, NULL, signal_fd, supervise_on_signal, s);
	if (err >= 0)
		err = sd_event_add_time_relative(s->loop, &s->patience, CLOCK_BOOTTIME,
						 RETRY_MS * US_PER_MS, 0, on_patience, s);
	if (err >= 0)
		err = davy_became_open(s);
	if (err >= 0)
		err = sd_event_add_post(s->loop, NULL, supervise_settle, s);
	return err < 0 ? err : 0;
}

static void close_loop(struct davy_supervisor *s)
{
	davy_supervisor_hang_up(s);
	davy_slots_done(&s->handover.slots);
	if (s->handover.from_fd >= 0)
		close(s->handover.from_fd);
	sd_event_source_disable_unref(s->patience);
	sd_event_source_disable_unref(s->tree);
	s->launch->look = NULL;
	free(s->start);
	sd_event_source_disable_unref(s->handover.tick);
	sd_event_unref(s->loop);
}

/* A crash, after which nothing starts the engine again. */
static void supervise_say_end(const struct davy_supervisor *s)
{
	if (s->ending || !s->status)
		return;
	if (WIFSIGNALED(s->status))
		davy_log("signal %d ended the engine; davylamp exec ends with status %d, so that a "
			 "service manager with Restart=on-failure starts the engine again",
			 WTERMSIG(s->status), 128 + WTERMSIG(s->status));
	else
		davy_log("the engine exited with %d; davylamp exec ends with the same status, so "
			 "that a service manager with Restart=on-failure starts the engine again",
			 WEXITSTATUS(s->status));
}

/* Before the engine runs: its quota is in force, and its end is not missed. */
static void supervise_announce(void *arg, const struct davy_launched *child)
{
	struct davy_supervisor *s = arg;

	s->engine = *child;
	davy_supervisor_look_for_agent(s);
}

static int supervise_run(struct davy_supervisor *s, const struct davy_engine_override *override)
{
	char name[512];
	int err;

	s->launch->before_exec = supervise_announce;
	s->launch->arg = s;
	err = davy_launch_start(s->launch, override, &s->engine);
	s->launch->before_exec = NULL;
	if (err) {
		davy_log("'%s' cannot be started: %s",
			 davy_text_safe(name, sizeof(name), s->launch->argv[0]), strerror(-err));
		return err == -ENOENT ? 127 : 126;
	}
	s->started_ms = davy_now_ms();
	davy_became_follow(s); /* the loop's first event may be seconds away */
	sd_event_loop(s->loop);
	supervise_say_end(s);
	return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}

int davy_supervise(struct davy_launch *launch, const struct davy_engine_override *override,
		   const struct davy_supervise_options *options)
{
	struct davy_supervisor s = { .launch = launch, .options = *options, .agent_fd = -1 };
	int err;

	s.handover.from_fd = s.handover.slots.dir = -1;
	if (options->tuned_for)
		davy_copy_name(s.shrunk.hazard, sizeof(s.shrunk.hazard), options->tuned_for);
	if (davy_probe_path(s.probe_path, sizeof(s.probe_path)))
		launch->shares_port = false;
	err = supervise_open_signals();
	if (err >= 0)
		err = open_loop(&s, err);
	if (err) {
		davy_log("the supervisor's event loop failed: %s", strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	err = supervise_run(&s, override);
	close_loop(&s);
	return err;
}
