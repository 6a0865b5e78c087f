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
#include "lib/resident.h"
#include "agent/agent_confine.h"
#include "agent/agent_pace.h"
#include "agent/control/control.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"
#include "agent/policy/agent_policy.h"
#include "agent/sense/tracker.h"

#define FLUSH_NS DAVY_NS_PER_S
#define SCAN_MS	 5000

static void on_judged(struct davy_agent *a, const struct davy_event *ev)
{
	if (ev->kind == DAVY_EV_JOB_TIMES)
		davy_agent_ledger_job(a, ev);
	if (ev->kind == DAVY_EV_PROCESS_EXIT)
		davy_tracker_gone(a, ev->pid);
	if (ev->kind == DAVY_EV_WORKLOAD)
		a->vram.next_ns = 0; /* its quota */
	if (ev->kind == DAVY_EV_ACT) {
		davy_agent_intents_acted(a, &ev->act);
		davy_agent_order_ended(a, &ev->act);
	}
}

const struct davy_agent_hooks davy_agent_hooks = {
	.process_named = davy_tracker_know,
	.plan_made = davy_agent_act,
	.event_judged = on_judged,
	.link_message = davy_control_take,
	.link_gone = davy_control_gone,
	.workload_of_cgroup = davy_units_workload_of,
	.port_of_workload = davy_units_port_of,
	.image_of_workload = davy_units_image_of,
	.rules_changed = davy_units_tell_rules,
};

static void on_event(void *arg, const struct davy_event *ev)
{
	davy_agent_feed(arg, ev);
}

static void on_exec(void *arg, uint32_t pid, uint64_t at_ns)
{
	(void)at_ns;
	davy_tracker_exec(arg, pid);
}

static void on_fork(void *arg, uint32_t parent, uint32_t child, uint64_t at_ns)
{
	(void)parent;
	(void)at_ns;
	davy_tracker_exec(arg, child);
}

static void on_ring_seen(void *arg, const char *device, const char *ring, uint64_t timeout_ns)
{
	davy_agent_lockups_ring(arg, device, ring, timeout_ns);
}

static int agent_on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct davy_agent *a = arg;
	struct davy_event ev = davy_agent_event(DAVY_EV_TICK, 0);

	(void)usec;
	davy_readers_tick(a, ev.at_ns);
	davy_tracker_tick(a, ev.at_ns);
	if (a->bpf)
		davy_bpf_tick(a->bpf, ev.at_ns);
	davy_tracked_tick(a, ev.at_ns);
	davy_agent_gpus_tick(a, ev.at_ns);
	davy_agent_kernel_log_tick(a, ev.at_ns);
	davy_agent_kfd_tick(a, ev.at_ns);
	davy_agent_lockups_tick(a, ev.at_ns);
	davy_agent_versions_tick(a, ev.at_ns);
	davy_agent_dmem_tick(a, ev.at_ns);
	davy_agent_feed(a, &ev);
	davy_agent_counts_tick(a, ev.at_ns);
	davy_agent_thresholds_tick(a);
	davy_agent_learned_tick(a, ev.at_ns);
	davy_agent_ledger_tick(a, ev.at_ns);
	davy_agent_tuning_tick(a, ev.at_ns);
	davy_links_tick(a, ev.at_ns);
	davy_control_tick(a);
	davy_child_reap_left();
	davy_groups_tick(a, ev.at_ns);
	davy_units_tick(a, ev.at_ns);
	davy_agent_orders_tick(a, ev.at_ns);
	davy_agent_vram_tick(a, ev.at_ns);
	davy_output_tick(a);
	if (a->trace && ev.at_ns - a->flushed_ns >= FLUSH_NS) {
		a->flushed_ns = ev.at_ns;
		davy_trace_flush(a->trace); /* the next write returns the error again */
	}
	sd_event_source_set_time_relative(source, davy_agent_pace_us(a, ev.at_ns));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* Runs before each wait of the loop: an event that was just handled may end a rest. */
static int agent_before_wait(sd_event_source *source, void *arg)
{
	uint64_t us;

	if (davy_agent_pace_wakes(arg, davy_boot_ns(), &us))
		sd_event_source_set_time_relative(source, us);
	return 0;
}

static int open_tick(struct davy_agent *a)
{
	int err = sd_event_add_time_relative(a->loop, &a->tick, CLOCK_MONOTONIC, 0, 1000,
					     agent_on_tick, a);

	return err < 0 ? err : sd_event_source_set_prepare(a->tick, agent_before_wait);
}

static int on_ring(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	(void)source;
	(void)fd;
	(void)events;
	davy_bpf_read(a->bpf);
	return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *arg)
{
	char error[DAVY_CONFIG_ERROR_LEN];

	(void)source;
	(void)info;
	davy_policy_reload(arg, error); /* it logs its result */
	return 0;
}

static int add_signals(struct davy_agent *a)
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
		/* The terminal is closed; without a terminal: hazards.conf has changed. */
		err = sd_event_add_signal(a->loop, NULL, SIGHUP, a->terminal ? NULL : on_hangup, a);
	return err < 0 ? err : 0;
}

static void open_bpf(struct davy_agent *a)
{
	struct davy_bpf_hooks hooks = { on_event, on_exec, on_fork, on_ring_seen, a };
	struct davy_ev_sensor process = { .reason = "out of memory" };
	int err = davy_bpf_new(&hooks, &a->bpf);

	if (err && a->bpf)
		davy_bpf_sensor(a->bpf, 0, &process);
	if (err)
		davy_log("no kernel events: %s. The agent still watches workloads of 'davylamp "
			 "exec' by their exits and checks%s",
			 process.reason,
			 err == -ENOTSUP
				 ? "; for kernel events, use a kernel with CONFIG_DEBUG_INFO_BTF, "
				   "such as Debian's"
				 : "");
	if (!a->bpf || davy_bpf_fd(a->bpf) < 0)
		return;
	err = davy_watch_copy(a->loop, NULL, davy_bpf_fd(a->bpf), on_ring, a);
	if (err < 0)
		davy_log("event ring: %s; the agent reads it on each tick only", strerror(-err));
}

static int open_trace(struct davy_agent *a)
{
	int err;

	if (!a->options.record_path)
		return 0;
	err = davy_trace_create(a->options.record_path, &a->trace);
	if (err)
		davy_log("trace '%s': cannot create: %s", a->options.record_path, strerror(-err));
	return err;
}

static void find_probe(struct davy_agent *a)
{
	int err = davy_probe_path(a->probe_path, sizeof(a->probe_path));

	if (err)
		davy_log("'%s' is missing (%s): the agent cannot check engines with a token; "
			 "install it beside davylamp",
			 a->probe_path, strerror(-err));
}

static int agent_open_all(struct davy_agent *a)
{
	char error[DAVY_CONFIG_ERROR_LEN];
	int err = sd_event_default(&a->loop);

	if (err < 0)
		return err;
	err = add_signals(a);
	if (!err)
		err = davy_links_lock(a);
	if (err)
		return err;
	err = davy_policy_read(a, error);
	if (err)
		davy_log("%s", error);
	else
		err = open_trace(a);
	if (err)
		return err;
	find_probe(a);
	davy_policy_feed(a);
	davy_agent_tuning_tick(a, 0); /* the wall clock first: later records contain a date */
	davy_agent_learned_open(a);
	err = davy_links_open(a);
	if (err == -EADDRINUSE)
		davy_log("'%s' is in use by another program; stop that program, or use --socket",
			 a->options.socket_path);
	else if (err < 0)
		davy_log("socket '%s': %s", a->options.socket_path, strerror(-err));
	if (err < 0)
		return err;
	davy_agent_intents_open(a);
	davy_agent_layer_open(a);
	davy_policy_rules_open(a); /* after the layer was checked */
	davy_agent_freezes_open(a);
	davy_agent_counts_open(a);
	davy_agent_gpus_open(a); /* before the agent's memory grows: this call forks */
	davy_readers_open(a);
	open_bpf(a);
	davy_agent_uevents_open(a);
	davy_agent_kernel_log_open(a);
	davy_readers_scan(a, SCAN_MS); /* finds engines that started before the agent */
	davy_units_open(a);
	return open_tick(a);
}

static int close_all(struct davy_agent *a)
{
	int err;

	davy_agent_counts_close(a);
	davy_agent_tuning_close(a);
	davy_links_close(a);
	davy_agent_freezes_close(a);
	davy_agent_intents_close(a);
	davy_units_close(a);
	davy_readers_close(a);
	davy_agent_kfd_close(a);
	davy_agent_gpus_close(a);
	davy_agent_nvml_close(a);
	davy_agent_kernel_log_close(a);
	davy_agent_lockups_close(a);
	davy_agent_versions_close(a);
	davy_agent_dmem_close(a);
	davy_uevents_free(a->uevents);
	davy_bpf_free(a->bpf);
	free(a->rules);
	err = davy_trace_close(a->trace);
	if (err)
		davy_log("trace '%s': %s; the end of the trace is missing", a->options.record_path,
			 strerror(-err));
	sd_event_source_disable_unref(a->tick);
	sd_event_unref(a->loop);
	davy_links_unlock(a);
	return err;
}

static void confine(void)
{
	int err = davy_agent_confine();

	if (err)
		davy_log("cannot drop all unneeded privileges: %s; the agent continues with them",
			 strerror(-err));
}

int davy_agent_run(const struct davy_agent_options *options)
{
	struct davy_agent *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->options = *options;
	a->hooks = &davy_agent_hooks;
	davy_agent_hurry();
	err = davy_spare_fd_keep();
	if (err)
		davy_log("no spare descriptor can be kept: %s", strerror(-err));
	a->started_ns = davy_boot_ns();
	a->sockets.lock_fd[0] = a->sockets.lock_fd[1] = -1;
	davy_output_open(a);
	davy_core_init_zeroed(&a->core);
	err = agent_open_all(a);
	if (err >= 0) {
		confine(); /* only the steps above need more privileges */
		davy_resident_shed();
		sd_event_set_watchdog(a->loop, true);
		sd_notify(0, "READY=1");
		err = sd_event_loop(a->loop);
		sd_notify(0, "STOPPING=1");
	}
	if (close_all(a) && err >= 0)
		err = -EIO;
	davy_output_close(a);
	free(a);
	return err < 0 ? err : 0;
}
