/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "act/probe_run.h"
#include "act/watch.h"
#include "lib/child.h"
#include "lib/file.h"
#include "lib/log.h"
#include "agent/agent_confine.h"

#define TICK_US	     100000 /* idle: ten map reads a second are microseconds */
#define TICK_BUSY_US 50000  /* a job runs: a quarter of a 2 s timeout is 500 ms */
#define FLUSH_NS     DL_NS_PER_S
#define SCAN_MS	     5000

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

static void on_ring_seen(void *arg, const char *device, const char *ring, uint64_t timeout_ns)
{
	dl_agent_lockups_ring(arg, device, ring, timeout_ns);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct dl_agent *a = arg;
	struct dl_event ev = dl_agent_event(DL_EV_TICK, 0);
	bool busy = a->bpf && dl_bpf_jobs_running(a->bpf);

	(void)usec;
	dl_readers_tick(a, ev.at_ns);
	dl_tracker_tick(a, ev.at_ns);
	if (a->bpf)
		dl_bpf_tick(a->bpf, ev.at_ns);
	dl_tracked_tick(a, ev.at_ns);
	dl_agent_gpus_tick(a, ev.at_ns);
	dl_agent_kernel_log_tick(a, ev.at_ns);
	dl_agent_kfd_tick(a, ev.at_ns);
	dl_agent_lockups_tick(a, ev.at_ns);
	dl_agent_versions_tick(a, ev.at_ns);
	dl_agent_dmem_tick(a, ev.at_ns);
	dl_agent_feed(a, &ev);
	dl_agent_counts_tick(a, ev.at_ns);
	dl_agent_learned_tick(a, ev.at_ns);
	dl_agent_ledger_tick(a, ev.at_ns);
	dl_agent_tuning_tick(a, ev.at_ns);
	dl_links_tick(a, ev.at_ns);
	dl_control_tick(a);
	dl_child_reap_left();
	dl_groups_tick(a, ev.at_ns);
	dl_units_tick(a, ev.at_ns);
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
	char error[DL_CONFIG_ERROR_LEN];

	(void)source;
	(void)info;
	dl_policy_reload(arg, error); /* it has said how it went */
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
	struct dl_bpf_hooks hooks = { on_event, on_exec, on_fork, on_ring_seen, a };
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
	err = dl_watch_copy(a->loop, NULL, dl_bpf_fd(a->bpf), on_ring, a);
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
	char error[DL_CONFIG_ERROR_LEN];
	int err = sd_event_default(&a->loop);

	if (err < 0)
		return err;
	err = add_signals(a);
	if (!err)
		err = dl_links_lock(a);
	if (err)
		return err;
	err = dl_policy_read(a, error);
	if (err)
		dl_log("%s", error);
	else
		err = open_trace(a);
	if (err)
		return err;
	find_probe(a);
	dl_policy_feed(a);
	dl_agent_tuning_tick(a, 0); /* the time of day, before anything is dated */
	dl_agent_learned_open(a);
	err = dl_links_open(a);
	if (err == -EADDRINUSE)
		dl_log("'%s' is in use: another program answers there; stop it, or use --socket",
		       a->options.socket_path);
	else if (err < 0)
		dl_log("socket '%s': %s", a->options.socket_path, strerror(-err));
	if (err < 0)
		return err;
	dl_agent_intents_open(a);
	dl_agent_layer_open(a);
	dl_policy_rules_open(a); /* of a layer that is whole */
	dl_agent_holds_open(a);
	dl_agent_counts_open(a);
	dl_agent_gpus_open(a); /* it forks: before the agent grows */
	dl_readers_open(a);
	open_bpf(a);
	dl_agent_uevents_open(a);
	dl_agent_kernel_log_open(a);
	dl_readers_scan(a, SCAN_MS); /* engines that ran before the agent did */
	dl_units_open(a);
	return sd_event_add_time_relative(a->loop, &a->tick, CLOCK_MONOTONIC, TICK_US, 1000,
					  on_tick, a);
}

static int close_all(struct dl_agent *a)
{
	int err;

	dl_agent_counts_close(a);
	dl_agent_tuning_close(a);
	dl_links_close(a);
	dl_agent_holds_close(a);
	dl_agent_intents_close(a);
	dl_units_close(a);
	dl_readers_close(a);
	dl_agent_kfd_close(a);
	dl_agent_gpus_close(a);
	dl_agent_kernel_log_close(a);
	dl_agent_lockups_close(a);
	dl_agent_versions_close(a);
	dl_agent_dmem_close(a);
	dl_uevents_free(a->uevents);
	dl_bpf_free(a->bpf);
	free(a->rules);
	err = dl_trace_close(a->trace);
	if (err)
		dl_log("trace '%s': %s; its end is missing", a->options.record_path,
		       strerror(-err));
	sd_event_source_disable_unref(a->tick);
	sd_event_unref(a->loop);
	dl_links_unlock(a);
	return err;
}

static void confine(void)
{
	int err = dl_agent_confine();

	if (err)
		dl_log("cannot give up all rights that are not needed: %s; going on with them",
		       strerror(-err));
}

int dl_agent_run(const struct dl_agent_options *options)
{
	struct dl_agent *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->options = *options;
	dl_agent_hurry();
	a->started_ns = dl_boot_ns();
	a->sockets.lock_fd[0] = a->sockets.lock_fd[1] = -1;
	dl_output_open(a);
	dl_core_init(&a->core);
	err = open_all(a);
	if (err >= 0) {
		confine(); /* it needs more rights for opening than afterwards */
		sd_event_set_watchdog(a->loop, true);
		sd_notify(0, "READY=1");
		err = sd_event_loop(a->loop);
		sd_notify(0, "STOPPING=1");
	}
	if (close_all(a) && err >= 0)
		err = -EIO;
	dl_output_close(a);
	free(a);
	return err < 0 ? err : 0;
}
