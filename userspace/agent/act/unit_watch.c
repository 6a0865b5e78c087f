/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopted services as workloads. systemd reports that a service has changed, the agent then reads
 * its state. The engine is its main process, or the first process in its cgroup that is an engine.
 */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "act/container_unit.h"
#include "engines/engine.h"
#include "lib/file.h"
#include "lib/log.h"
#include "agent/act/units.h"
#include "agent/act/acting.h"
#include "agent/sense/tracker.h"

#define LOOKS 50 /* one a tick; after the last, the process is accepted as it is */

static void unit_watch_feed_workload(struct davy_service *u, enum davy_workload_op op)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_WORKLOAD, u->pid);

	ev.workload.workload = u->workload;
	ev.workload.op = (uint8_t)op;
	ev.workload.adopted = 1;
	ev.workload.movable = davy_engine_service_movable(u->engine);
	ev.workload.can = DAVY_CAN_FREEZE | davy_engine_service_can(u->engine, u->role);
	if (!davy_container_unit(u->name)) /* its runtime has no limit like memory.high */
		ev.workload.can |= DAVY_CAN_CAP;
	ev.workload.engine = (uint8_t)u->engine;
	ev.workload.backend = (uint8_t)u->backend;
	ev.workload.port = u->port;
	davy_copy_name(ev.workload.model, sizeof(ev.workload.model), u->model);
	davy_agent_feed(u->agent, &ev);
}

/*
 * Reads the start of the process, without the variables of the agent. -EAGAIN: the reply of the
 * reader is late.
 */
static int keep_start(struct davy_service *u, uint32_t pid)
{
	const struct davy_adopted_unit *of = davy_unit_adopted(u);
	struct davy_engine_override override = { 0 };
	struct davy_process_start *start;
	struct davy_environment reported;
	struct davy_engine_facts facts;
	struct davy_engine_look look;
	int err;

	if (of)
		override = (struct davy_engine_override){ .backend = of->backend,
							  .settings = of->settings };
	if (u->start && !davy_engine_override_empty(&override))
		return 0; /* that start is closer to the unit's own settings */
	err = davy_reader_start(u->agent, pid, &start);
	if (err)
		return err;
	look = davy_process_start_look(start);
	davy_engine_identify(&look, &facts);
	davy_engine_environment(&look, &facts, &override, &reported);
	for (size_t i = 0; i < reported.count; i++)
		davy_process_start_unset(start, reported.at[i].name);
	davy_unit_files_unset(u->agent, u->name, start);
	free(u->start);
	u->start = start;
	return 0;
}

/* Reads cgroup.procs. On hybrid hosts the v2 hierarchy has another mount point. */
static ssize_t read_members(const char *cgroup, char *text, size_t size)
{
	static const char *const trees[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[PATH_MAX];
	ssize_t n = -ENOENT;

	for (size_t i = 0; n < 0 && i < sizeof(trees) / sizeof(trees[0]); i++)
		if (!davy_root_path(path, sizeof(path), "%s%s/cgroup.procs", trees[i], cgroup))
			n = davy_read_file(path, text, size);
	return n;
}

/*
 * Finds the first process of the cgroup that is an engine; NULL: none. False: the reply of a reader
 * is late, so the result is unknown.
 */
static bool engine_in(const struct davy_service *u, const struct davy_tracked **ret_engine)
{
	char text[4096], *at = text;
	ssize_t n = read_members(u->cgroup, text, sizeof(text));

	*ret_engine = NULL;
	while (n > 0 && *at) {
		uint32_t pid = (uint32_t)strtoul(at, &at, 10);
		const struct davy_tracked *t = pid ? davy_tracker_meet(u->agent, pid) : NULL;

		if (t && t->reported.engine != DAVY_ENGINE_NONE) {
			*ret_engine = t;
			return true;
		}
		if (!t && pid && davy_process_start(pid))
			return false;
		at += strspn(at, "\n");
	}
	return true;
}

/* A shell that starts the engine is not the engine. NULL: it has exited, or is not known yet. */
static const struct davy_tracked *unit_watch_find_engine(const struct davy_service *u)
{
	const struct davy_tracked *own = davy_tracker_meet(u->agent, u->main_pid), *other;

	if (!own || own->reported.engine != DAVY_ENGINE_NONE)
		return own;
	if (!engine_in(u, &other))
		return NULL;
	return other ? other : davy_tracked_of(u->agent, u->main_pid);
}

static void unit_watch_take_facts(struct davy_service *u, const struct davy_ev_process *p)
{
	u->engine =
		p->engine != DAVY_ENGINE_NONE ? (enum davy_engine)p->engine : DAVY_ENGINE_GENERIC;
	u->role = (enum davy_role)p->role;
	u->backend = (enum davy_backend)p->backend;
	u->port = davy_units_port_of(u->agent, u->workload, p->port);
	u->parallel = p->parallel;
	if (p->model[0])
		davy_copy_name(u->model, sizeof(u->model), p->model);
}

static void unit_watch_tell(struct davy_service *u, const struct davy_ev_process *p)
{
	u->met = true;
	u->reached = u->unreachable = false; /* it may listen elsewhere */
	u->begun_ns = davy_boot_ns();
	u->command_sum = davy_unit_command_sum(&u->state);
	unit_watch_take_facts(u, p);
	unit_watch_feed_workload(u,
				 u->registered ? DAVY_WORKLOAD_STARTED : DAVY_WORKLOAD_REGISTERED);
	u->registered = true;
	davy_unit_settle(u);
	if (!u->restored_reported)
		davy_restored_in_unit(u);
	u->restored_reported = true;
	davy_tracker_exec(u->agent, u->pid);
	davy_unit_tell_rules(u);
}

void davy_unit_look_again(struct davy_service *u)
{
	const struct davy_tracked *t =
		u->met && u->pid ? davy_tracker_meet(u->agent, u->pid) : NULL;
	struct davy_ev_process p;

	if (!t || !t->has_command || t->reported.start_ticks != u->start_ticks ||
	    t->reported.engine == DAVY_ENGINE_NONE)
		return;
	if (davy_units_port_of(u->agent, u->workload, t->reported.port) == u->port &&
	    (enum davy_role)t->reported.role == u->role)
		return;
	p = t->reported;
	unit_watch_take_facts(u, &p);
	keep_start(u, u->pid); /* late: the previous facts stay valid */
	unit_watch_feed_workload(u, DAVY_WORKLOAD_STARTED);
}

/* systemd's child becomes the engine by one exec or more, which take time. */
static void unit_watch_meet(struct davy_service *u)
{
	const struct davy_tracked *t;
	struct davy_ev_process p;
	bool is_engine;

	if (!u->pid) { /* it runs, even if a reader cannot inspect it */
		u->start_ticks = davy_process_start(u->main_pid);
		u->pid = u->start_ticks ? u->main_pid : 0;
	}
	t = u->pid ? unit_watch_find_engine(u) : NULL;
	if (!t)
		return;
	u->pid = t->pid;
	u->start_ticks = t->reported.start_ticks;
	p = t->reported; /* the table may reuse the entry */
	/* During an exec it already has its name, but no command. */
	is_engine = p.engine != DAVY_ENGINE_NONE && t->has_command;
	if ((is_engine && keep_start(u, u->pid) != -EAGAIN) || ++u->look_count >= LOOKS)
		unit_watch_tell(u, &p);
}

/* Reports the exit if the kernel has not; with the status that systemd collected. */
static void part(struct davy_service *u, const struct davy_unit_state *state)
{
	struct davy_agent *a = u->agent;
	struct davy_event ev = davy_agent_event(DAVY_EV_PROCESS_EXIT, u->pid);

	ev.process_exit.start_ticks = u->start_ticks;
	if (state->exit_code == CLD_EXITED)
		ev.process_exit.status = (state->exit_status & 0xff) << 8;
	else
		ev.process_exit.status = state->exit_status & 0x7f;
	if (!u->met) { /* it ended before it was met */
		const struct davy_tracked *t = davy_tracked_of(a, u->pid);
		struct davy_ev_process p;

		if (t && t->reported.start_ticks == u->start_ticks &&
		    t->reported.engine != DAVY_ENGINE_NONE) {
			p = t->reported;
			unit_watch_tell(u, &p);
		}
	}
	u->pid = 0;
	if (!u->met)
		return;
	u->met = false;
	if (a->bpf)
		davy_bpf_read(a->bpf);
	if (davy_tracker_knows(a, ev.pid, u->start_ticks)) /* else the kernel has reported it */
		davy_agent_feed(a, &ev);
}

void davy_unit_take(struct davy_service *u, const struct davy_unit_state *state)
{
	bool runs = !strcmp(state->active, "active") || !strcmp(state->active, "activating") ||
		    !strcmp(state->active, "reloading");

	if (state->note[0] && strcmp(state->note, u->state.note) != 0)
		davy_log("%s: %s", u->name, state->note);
	u->state = *state;
	if (state->cgroup[0])
		davy_copy_name(u->cgroup, sizeof(u->cgroup), state->cgroup);
	if (u->pid && davy_process_start(u->pid) != u->start_ticks)
		part(u, state);
	u->main_pid = runs ? state->main_pid : 0;
	if (!u->pid && u->main_pid) {
		u->look_count = 0;
		unit_watch_meet(u);
	}
	if (!u->registered && !u->pid) { /* it does not run, but is adopted */
		unit_watch_feed_workload(u, DAVY_WORKLOAD_REGISTERED);
		u->registered = true;
		davy_unit_settle(u);
	}
}

/*
 * 'systemctl stop' ends in "inactive", or in "failed" by a timeout if the engine ignored the
 * signal. A crash is "failed" for another reason, or waits for systemd's restart.
 */
bool davy_unit_stopped_by_hand(const struct davy_unit_state *s)
{
	if (!strcmp(s->active, "deactivating") || !strcmp(s->active, "inactive"))
		return true;
	return !strcmp(s->active, "failed") && !strcmp(s->result, "timeout");
}

static void unit_watch_on_state(void *arg, const struct davy_unit_answer *answer)
{
	struct davy_service *u = arg;
	struct davy_units *units = u->agent->units;
	bool again = u->ask_again;

	u->asking = u->ask_again = false;
	if (!u->name[0])
		return;
	if (answer->error) {
		if (!u->silent)
			davy_log("%s: %s; its state is unknown, and the agent does nothing to it",
				 u->name, answer->why);
		u->silent = true;
		units->lost |= !davy_container_unit(u->name);
		return;
	}
	if (u->silent)
		davy_log("%s: its state is known again", u->name);
	u->silent = false;
	if (!u->act.plan) /* an act reads the state when it needs it */
		davy_unit_take(u, answer->state);
	davy_unit_tell_rules(u);
	if (again)
		davy_unit_look(u);
}

void davy_unit_look(struct davy_service *u)
{
	struct davy_units *units = u->agent->units;
	int err;

	if (u->asking) {
		u->ask_again = true;
		return;
	}
	err = davy_unit_ask(units->systemd, u->name, unit_watch_on_state, u);
	u->asking = !err;
	if (err && !u->silent)
		davy_log("%s: %s; it is not watched", u->name, strerror(-err));
	u->silent |= err != 0;
	units->lost |= err != 0;
}

void davy_unit_forget(struct davy_service *u)
{
	if (u->workload)
		davy_agent_caps_drop(u->agent, u->workload);
	u->pid = 0;
	if (u->registered)
		unit_watch_feed_workload(u, DAVY_WORKLOAD_GONE);
	free(u->start);
	u->start = NULL;
	u->registered = false;
	u->name[0] = u->cgroup[0] = 0;
}

void davy_unit_watch_tick(struct davy_service *u)
{
	if (u->pid && davy_process_start(u->pid) != u->start_ticks) {
		if (!u->met)
			u->pid = 0; /* systemd will report the result */
		if (!u->act.plan)
			davy_unit_look(u);
	} else if (u->pid && !u->met) {
		unit_watch_meet(u);
	}
	if (u->settle_late)
		davy_unit_settle(u);
}
