/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "../act/probe_run.h"
#include "../lib/file.h"
#include "../lib/log.h"

#define TICK_US	     100000 /* idle: ten map reads a second are microseconds */
#define TICK_BUSY_US 50000  /* a job runs: a quarter of a 2 s timeout is 500 ms */
#define FLUSH_NS     DL_NS_PER_S

static int read_config_file(const char *dir, struct dl_config *config)
{
	char path[PATH_MAX], error[DL_CONFIG_ERROR_LEN];
	int err;

	if (snprintf(path, sizeof(path), "%s/hazards.conf", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = dl_config_file_read(path, config, error);
	if (err == -EBADMSG)
		dl_log("%s; nothing of the file is taken", error);
	else if (err && err != -ENOENT)
		dl_log("'%s': %s; nothing of it is taken", path, strerror(-err));
	return err == -ENOENT ? 0 : err;
}

int dl_agent_read_config(struct dl_agent *a)
{
	struct dl_config config;
	int err;

	dl_config_defaults(&config);
	err = read_config_file(a->options.data_dir, &config);
	if (!err)
		err = read_config_file(a->options.config_dir, &config);
	if (err)
		return err;
	if (a->options.mode >= 0)
		config.value[DL_CFG_MODE] = a->options.mode;
	a->config = config;
	return 0;
}

/*
 * The core, and the trace, learn all values at the start, so that a later build's other defaults do
 * not change an old trace's decisions; then what has changed.
 */
static void feed_config(struct dl_agent *a, bool all)
{
	for (int i = 0; i < DL_CFG_COUNT; i++) {
		struct dl_event ev = dl_agent_event(DL_EV_CONFIG, 0);

		if (!all && a->config.value[i] == a->core.config.value[i])
			continue;
		dl_copy_name(ev.config.key, sizeof(ev.config.key), dl_config_rows[i].name);
		ev.config.value = a->config.value[i];
		dl_agent_feed(a, &ev);
	}
}

static void on_event(void *arg, const struct dl_event *ev)
{
	dl_agent_feed(arg, ev);
}

static void on_exec(void *arg, uint32_t pid, uint64_t at_ns)
{
	(void)at_ns;
	dl_tracker_exec(arg, pid);
}

static void on_fork(void *arg, uint32_t parent, uint32_t child, uint64_t at_ns)
{
	(void)parent;
	(void)at_ns;
	dl_tracker_exec(arg, child);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct dl_agent *a = arg;
	struct dl_event ev = dl_agent_event(DL_EV_TICK, 0);
	bool busy = a->bpf && dl_bpf_jobs_running(a->bpf);

	(void)usec;
	dl_tracker_tick(a, ev.at_ns);
	if (a->bpf)
		dl_bpf_tick(a->bpf, ev.at_ns);
	dl_agent_gpus_tick(a, ev.at_ns);
	dl_agent_feed(a, &ev);
	dl_control_tick(a);
	dl_output_tick(a, ev.at_ns);
	if (a->trace && ev.at_ns - a->flushed_ns >= FLUSH_NS) {
		a->flushed_ns = ev.at_ns;
		dl_trace_flush(a->trace); /* an error comes back with the next write */
	}
	sd_event_source_set_time_relative(source, busy ? TICK_BUSY_US : TICK_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_ring(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct dl_agent *a = arg;

	(void)source;
	(void)fd;
	(void)events;
	dl_bpf_read(a->bpf);
	return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	struct dl_agent *a = arg;

	(void)source;
	(void)info;
	if (!dl_agent_read_config(a)) {
		feed_config(a, false);
		dl_log("configuration read again");
	} else {
		dl_log("keeping the last good configuration");
	}
	return 0;
}

static int add_signals(struct dl_agent *a)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	err = sd_event_add_signal(a->loop, NULL, SIGTERM, NULL, NULL);
	if (err >= 0)
		err = sd_event_add_signal(a->loop, NULL, SIGINT, NULL, NULL);
	if (err >= 0)
		/* The terminal is gone, or, without one, hazards.conf is new. */
		err = sd_event_add_signal(a->loop, NULL, SIGHUP, a->terminal ? NULL : on_hangup, a);
	return err < 0 ? err : 0;
}

static void open_bpf(struct dl_agent *a)
{
	struct dl_bpf_hooks hooks = { on_event, on_exec, on_fork, a };
	struct dl_ev_sensor process = { .reason = "out of memory" };
	int err = dl_bpf_new(&hooks, &a->bpf);

	if (err && a->bpf)
		dl_bpf_sensor(a->bpf, 0, &process);
	if (err)
		dl_log("no kernel events: %s. Workloads under 'davylamp exec' are still watched by "
		       "their exits and checks%s",
		       process.reason,
		       err == -ENOTSUP ? "; for more, use a kernel with CONFIG_DEBUG_INFO_BTF, "
					 "as Debian's are"
				       : "");
	if (!a->bpf || dl_bpf_fd(a->bpf) < 0)
		return;
	err = sd_event_add_io(a->loop, NULL, dl_bpf_fd(a->bpf), EPOLLIN, on_ring, a);
	if (err < 0)
		dl_log("event ring: %s; read on the tick only", strerror(-err));
}

static int open_trace(struct dl_agent *a)
{
	int err;

	if (!a->options.record_path)
		return 0;
	err = dl_trace_create(a->options.record_path, &a->trace);
	if (err)
		dl_log("trace '%s': cannot be made: %s", a->options.record_path, strerror(-err));
	return err;
}

static void find_probe(struct dl_agent *a)
{
	int err = dl_probe_path(a->probe_path, sizeof(a->probe_path));

	if (err)
		dl_log("'%s' is missing (%s): no engine can be asked for a token; install it "
		       "beside davylamp",
		       a->probe_path, strerror(-err));
}

static int open_all(struct dl_agent *a)
{
	int err = sd_event_default(&a->loop);

	if (err < 0)
		return err;
	err = add_signals(a);
	if (!err)
		err = dl_agent_read_config(a);
	if (!err)
		err = open_trace(a);
	if (err)
		return err;
	find_probe(a);
	feed_config(a, true);
	dl_agent_restore_learned(a);
	err = dl_control_open(a);
	if (err == -EADDRINUSE)
		dl_log("another agent answers on '%s'; stop it first", a->options.socket_path);
	else if (err)
		dl_log("socket '%s': %s", a->options.socket_path, strerror(-err));
	if (err)
		return err;
	dl_agent_gpus_open(a); /* it forks: before the agent grows */
	open_bpf(a);
	dl_agent_uevents_open(a);
	dl_tracker_scan(a);
	return sd_event_add_time_relative(a->loop, &a->tick, CLOCK_MONOTONIC, TICK_US, 1000,
					  on_tick, a);
}

static int close_all(struct dl_agent *a)
{
	int err;

	dl_control_close(a);
	dl_agent_gpus_close(a);
	dl_uevents_free(a->uevents);
	dl_bpf_free(a->bpf);
	err = dl_trace_close(a->trace);
	if (err)
		dl_log("trace '%s': %s; its end is missing", a->options.record_path,
		       strerror(-err));
	sd_event_source_disable_unref(a->tick);
	sd_event_unref(a->loop);
	return err;
}

int dl_agent_run(const struct dl_agent_options *options)
{
	struct dl_agent *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->options = *options;
	a->listen_fd = -1;
	a->terminal = !options->json && isatty(STDOUT_FILENO);
	dl_core_init(&a->core);
	err = open_all(a);
	if (err >= 0) {
		sd_event_set_watchdog(a->loop, true);
		sd_notify(0, "READY=1");
		err = sd_event_loop(a->loop);
		sd_notify(0, "STOPPING=1");
	}
	if (close_all(a) && err >= 0)
		err = -EIO;
	free(a);
	return err < 0 ? err : 0;
}
