/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopted services as workloads. systemd tells that one has changed, and is asked what it is in;
 * who it is comes from its main process, or from the first in its cgroup that is an engine.
 */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "engines/engine.h"
#include "lib/file.h"
#include "lib/log.h"
#include "agent/act/units.h"

#define ASK_AGAIN_NS  (10 * DL_NS_PER_S) /* a change that was not told */
#define LOOKS	      50		 /* one a tick, until it must be taken as it is */
#define ASK_SILENT_NS (2 * DL_NS_PER_S)

struct dl_service *dl_unit_of_workload(struct dl_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && a->units && i < DL_ADOPTED_MAX; i++)
		if (a->units->unit[i].name[0] && a->units->unit[i].workload == workload)
			return &a->units->unit[i];
	return NULL;
}

bool dl_workload_place(struct dl_agent *a, uint32_t workload, struct dl_place *ret_place)
{
	const struct dl_link *link = dl_link_of_workload(a, workload);
	const struct dl_service *u = link ? NULL : dl_unit_of_workload(a, workload);

	if (link)
		*ret_place = (struct dl_place){ link->pid, link->start_ticks, link->cgroup, "" };
	else if (u)
		*ret_place = (struct dl_place){ u->pid, u->start_ticks, u->cgroup, u->name };
	return link || u;
}

struct dl_service *dl_unit_named(struct dl_agent *a, const char *name)
{
	for (size_t i = 0; a->units && i < DL_ADOPTED_MAX; i++)
		if (name[0] && !strcmp(a->units->unit[i].name, name))
			return &a->units->unit[i];
	return NULL;
}

uint32_t dl_units_workload_of(const struct dl_agent *a, const char *cgroup)
{
	for (size_t i = 0; a->units && i < DL_ADOPTED_MAX; i++) {
		const struct dl_service *u = &a->units->unit[i];
		size_t len = strlen(u->cgroup);

		if (u->name[0] && len > 1 && !strncmp(cgroup, u->cgroup, len) &&
		    (!cgroup[len] || cgroup[len] == '/'))
			return u->workload;
	}
	return 0;
}

static void feed_workload(struct dl_service *u, enum dl_workload_op op)
{
	struct dl_event ev = dl_agent_event(DL_EV_WORKLOAD, u->pid);

	ev.workload.workload = u->workload;
	ev.workload.op = (uint8_t)op;
	ev.workload.adopted = 1;
	ev.workload.movable = dl_engine_service_movable(u->engine);
	ev.workload.can = DL_CAN_HOLD | DL_CAN_CAP | dl_engine_service_can(u->engine);
	if (u->engine == DL_ENGINE_LLAMA_SERVER && u->role == DL_ROLE_MANAGER)
		ev.workload.can |= DL_CAN_UNLOAD;
	ev.workload.engine = (uint8_t)u->engine;
	ev.workload.backend = (uint8_t)u->backend;
	ev.workload.port = u->port;
	dl_copy_name(ev.workload.model, sizeof(ev.workload.model), u->model);
	dl_agent_feed(u->agent, &ev);
}

/* The start without what we told it ourselves. -EAGAIN: its reader is late. */
static int keep_start(struct dl_service *u, uint32_t pid)
{
	const struct dl_adopted_unit *of = dl_adopted_find(&u->agent->units->adopted, u->name);
	struct dl_engine_wish wish = { 0 };
	struct dl_process_start *start;
	struct dl_environment told;
	struct dl_engine_facts facts;
	struct dl_engine_look look;
	int err;

	if (of)
		wish = (struct dl_engine_wish){ .backend = of->backend, .knobs = of->knobs };
	if (u->start && !dl_engine_wish_empty(&wish))
		return 0; /* what was seen then is nearer to the unit's own words */
	err = dl_reader_start(u->agent, pid, &start);
	if (err)
		return err;
	look = dl_process_start_look(start);
	dl_engine_identify(&look, &facts);
	dl_engine_environment(&look, &facts, &wish, &told);
	for (size_t i = 0; i < told.count; i++)
		dl_process_start_unset(start, told.at[i].name);
	dl_unit_files_unset(u->agent, u->name, start);
	free(u->start);
	u->start = start;
	return 0;
}

/* The list of a cgroup's processes; on hybrid hosts the v2 tree lies beside the others. */
static ssize_t read_members(const char *cgroup, char *text, size_t size)
{
	static const char *const trees[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char path[PATH_MAX];
	ssize_t n = -ENOENT;

	for (size_t i = 0; n < 0 && i < sizeof(trees) / sizeof(trees[0]); i++)
		if (!dl_root_path(path, sizeof(path), "%s%s/cgroup.procs", trees[i], cgroup))
			n = dl_read_file(path, text, size);
	return n;
}

/*
 * The first process of the cgroup that is an engine; NULL: none. False: a reader is late, and
 * nothing can be said.
 */
static bool engine_in(const struct dl_service *u, const struct dl_tracked **ret_engine)
{
	char text[4096], *at = text;
	ssize_t n = read_members(u->cgroup, text, sizeof(text));

	*ret_engine = NULL;
	while (n > 0 && *at) {
		uint32_t pid = (uint32_t)strtoul(at, &at, 10);
		const struct dl_tracked *t = pid ? dl_tracker_meet(u->agent, pid) : NULL;

		if (t && t->told.engine != DL_ENGINE_NONE) {
			*ret_engine = t;
			return true;
		}
		if (!t && pid && dl_process_start(pid))
			return false;
		at += strspn(at, "\n");
	}
	return true;
}

/* A shell that starts the engine is not it. NULL: it is gone, or not known yet. */
static const struct dl_tracked *find_engine(const struct dl_service *u)
{
	const struct dl_tracked *own = dl_tracker_meet(u->agent, u->main_pid), *other;

	if (!own || own->told.engine != DL_ENGINE_NONE)
		return own;
	if (!engine_in(u, &other))
		return NULL;
	return other ? other : dl_tracker_of(u->agent, u->main_pid);
}

static void take_facts(struct dl_service *u, const struct dl_ev_process *p)
{
	u->engine = p->engine != DL_ENGINE_NONE ? (enum dl_engine)p->engine : DL_ENGINE_GENERIC;
	u->role = (enum dl_role)p->role;
	u->backend = (enum dl_backend)p->backend;
	u->port = p->port;
	u->parallel = p->parallel;
	if (p->model[0])
		dl_copy_name(u->model, sizeof(u->model), p->model);
}

static void tell(struct dl_service *u, const struct dl_ev_process *p)
{
	u->met = true;
	u->begun_ns = dl_boot_ns();
	u->command_sum = dl_unit_command_sum(&u->state);
	take_facts(u, p);
	feed_workload(u, u->registered ? DL_WORKLOAD_STARTED : DL_WORKLOAD_REGISTERED);
	u->registered = true;
	dl_unit_settle(u);
	if (!u->left_told)
		dl_left_in_unit(u);
	u->left_told = true;
	dl_tracker_exec(u->agent, u->pid);
	dl_unit_tell_rules(u);
}

void dl_unit_look_again(struct dl_service *u)
{
	const struct dl_tracked *t = u->met && u->pid ? dl_tracker_meet(u->agent, u->pid) : NULL;
	struct dl_ev_process p;

	if (!t || !t->has_command || t->told.start_ticks != u->start_ticks ||
	    t->told.engine == DL_ENGINE_NONE)
		return;
	if (t->told.port == u->port && (enum dl_role)t->told.role == u->role)
		return;
	p = t->told;
	take_facts(u, &p);
	keep_start(u, u->pid); /* late: what was seen before stays */
	feed_workload(u, DL_WORKLOAD_STARTED);
}

/* systemd's child becomes the engine by one exec or more, which take their time. */
static void meet(struct dl_service *u)
{
	const struct dl_tracked *t;
	struct dl_ev_process p;
	bool is_engine;

	if (!u->pid) { /* it runs, whatever a reader can tell of it */
		u->start_ticks = dl_process_start(u->main_pid);
		u->pid = u->start_ticks ? u->main_pid : 0;
	}
	t = u->pid ? find_engine(u) : NULL;
	if (!t)
		return;
	u->pid = t->pid;
	u->start_ticks = t->told.start_ticks;
	p = t->told; /* the table may give its place away */
	/* In the middle of an exec it has its name already, and no command. */
	is_engine = p.engine != DL_ENGINE_NONE && t->has_command;
	if (is_engine && keep_start(u, u->pid) != -EAGAIN)
		tell(u, &p);
	else if (++u->look_count >= LOOKS)
		tell(u, &p);
}

/* Where the kernel has not told it: as systemd collected it. */
static void part(struct dl_service *u, const struct dl_unit_state *state)
{
	struct dl_agent *a = u->agent;
	struct dl_event ev = dl_agent_event(DL_EV_PROCESS_EXIT, u->pid);

	ev.process_exit.start_ticks = u->start_ticks;
	if (state->exit_code == CLD_EXITED)
		ev.process_exit.status = (state->exit_status & 0xff) << 8;
	else
		ev.process_exit.status = state->exit_status & 0x7f;
	u->pid = 0;
	if (!u->met)
		return;
	u->met = false;
	if (a->bpf)
		dl_bpf_read(a->bpf);
	if (dl_tracker_knows(a, ev.pid, u->start_ticks)) /* else the kernel has told its end */
		dl_agent_feed(a, &ev);
}

void dl_unit_take(struct dl_service *u, const struct dl_unit_state *state)
{
	bool runs = !strcmp(state->active, "active") || !strcmp(state->active, "activating") ||
		    !strcmp(state->active, "reloading");

	u->state = *state;
	if (state->cgroup[0])
		dl_copy_name(u->cgroup, sizeof(u->cgroup), state->cgroup);
	if (u->pid && dl_process_start(u->pid) != u->start_ticks)
		part(u, state);
	u->main_pid = runs ? state->main_pid : 0;
	if (!u->pid && u->main_pid) {
		u->look_count = 0;
		meet(u);
	}
	if (!u->registered && !u->pid) { /* it does not run, and is in our care all the same */
		feed_workload(u, DL_WORKLOAD_REGISTERED);
		u->registered = true;
		dl_unit_settle(u);
	}
}

/*
 * systemctl stop ends in "inactive", or in "failed" by a timeout when the engine did not listen. A
 * crash is "failed" for another reason, or waits for systemd's own restart.
 */
bool dl_unit_stopped_by_hand(const struct dl_unit_state *s)
{
	if (!strcmp(s->active, "deactivating") || !strcmp(s->active, "inactive"))
		return true;
	return !strcmp(s->active, "failed") && !strcmp(s->result, "timeout");
}

static void on_state(void *arg, const struct dl_unit_answer *answer)
{
	struct dl_service *u = arg;
	struct dl_units *units = u->agent->units;
	bool again = u->ask_again;

	u->asking = u->ask_again = false;
	if (!u->name[0])
		return;
	if (answer->error) {
		if (!units->silent)
			dl_log("%s: %s; its state is unknown, and nothing is done to it", u->name,
			       answer->why);
		units->silent = units->lost = true;
		return;
	}
	if (units->silent)
		dl_log("systemd answers again");
	units->silent = false;
	if (!u->act.plan) /* an act looks for itself */
		dl_unit_take(u, answer->state);
	dl_unit_tell_rules(u);
	if (again)
		dl_unit_look(u);
}

void dl_unit_look(struct dl_service *u)
{
	struct dl_units *units = u->agent->units;
	int err;

	if (u->asking) {
		u->ask_again = true;
		return;
	}
	err = dl_unit_ask(units->systemd, u->name, on_state, u);
	u->asking = !err;
	if (err && !units->silent)
		dl_log("systemd: %s; adopted units are not watched", strerror(-err));
	units->silent = units->silent || err;
	units->lost = units->lost || err;
}

static void on_changed(void *arg, const char *name)
{
	struct dl_service *u = dl_unit_named(arg, name);

	if (u && !u->act.plan)
		dl_unit_look(u);
}

static void on_lost(void *arg)
{
	struct dl_agent *a = arg;

	a->units->lost = true;
}

struct dl_service *dl_unit_add(struct dl_agent *a, const char *name)
{
	for (size_t i = 0; i < DL_ADOPTED_MAX; i++) {
		struct dl_service *u = &a->units->unit[i];

		if (u->name[0] || u->asking)
			continue;
		memset(u, 0, sizeof(*u));
		u->agent = a;
		u->workload = ++a->workload_count;
		dl_copy_name(u->name, sizeof(u->name), name);
		return u;
	}
	return NULL;
}

void dl_unit_forget(struct dl_service *u)
{
	if (u->workload)
		dl_agent_caps_drop(u->agent, u->workload);
	u->pid = 0;
	if (u->registered)
		feed_workload(u, DL_WORKLOAD_GONE);
	free(u->start);
	u->start = NULL;
	u->registered = false;
	u->name[0] = u->cgroup[0] = 0;
}

/* Unit files name it, from another folder than ours. */
static void find_dir(struct dl_agent *a)
{
	char here[PATH_MAX] = "";
	const char *dir = a->options.state_dir;

	if (dir[0] != '/' && !getcwd(here, sizeof(here)))
		here[0] = 0;
	if (snprintf(a->units->dir, PATH_MAX, "%s%s%s/units", here, here[0] ? "/" : "", dir) >=
	    PATH_MAX)
		a->units->dir[0] = 0;
}

void dl_units_open(struct dl_agent *a)
{
	struct dl_unit_hooks hooks = { on_changed, on_lost, a };

	a->units = calloc(1, sizeof(*a->units));
	if (a->units && dl_systemd_new(a->loop, &hooks, &a->units->systemd)) {
		free(a->units);
		a->units = NULL;
	}
	if (!a->units)
		return;
	find_dir(a);
	dl_units_read(a);
}

void dl_units_close(struct dl_agent *a)
{
	if (!a->units)
		return;
	dl_systemd_free(a->units->systemd);
	for (size_t i = 0; i < DL_ADOPTED_MAX; i++)
		free(a->units->unit[i].start);
	free(a->units);
	a->units = NULL;
}

static void tick_unit(struct dl_service *u)
{
	if (u->pid && dl_process_start(u->pid) != u->start_ticks) {
		if (!u->met)
			u->pid = 0; /* systemd tells what comes of it */
		if (!u->act.plan)
			dl_unit_look(u);
	} else if (u->pid && !u->met) {
		meet(u);
	}
	if (u->settle_late)
		dl_unit_settle(u);
	if (u->act.awaits)
		dl_unit_act_tick(u);
}

void dl_units_tick(struct dl_agent *a, uint64_t now_ns)
{
	struct dl_units *units = a->units;
	uint64_t pause_ns = units && units->lost ? ASK_SILENT_NS : ASK_AGAIN_NS;
	bool ask;

	if (!units)
		return;
	dl_units_read_tick(a, now_ns);
	if (!units->adopted.count)
		return;
	ask = now_ns - units->asked_ns >= pause_ns;
	if (ask) {
		units->asked_ns = now_ns;
		units->lost = false;
	}
	for (size_t i = 0; i < DL_ADOPTED_MAX; i++) {
		struct dl_service *u = &units->unit[i];

		if (!u->name[0])
			continue;
		tick_unit(u);
		if (!ask || u->act.plan)
			continue;
		dl_unit_look_again(u);
		dl_unit_look(u);
	}
}
