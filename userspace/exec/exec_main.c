/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * davylamp-exec, the program of 'davylamp exec': gathers facts, calls one pure function that
 * decides (choice.h), turns the decision into environment and arguments, and prints them or starts
 * the engine. It then supervises the engine until its end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/steer.h"
#include "act/slots.h"
#include "engines/wrapper.h"
#include "exec/exec_case.h"
#include "exec/supervise.h"
#include "lib/standard_fds.h"
#include "verb/verb.h"

#define SLOTS_LATER "(a temporary folder)"

/*
 * If the port is in use, the engine must fail as without davylamp, not share the port. The variable
 * for it does not pass "env -i" and sudo.
 */
static bool may_share(const struct davy_launch *l)
{
	struct davy_wrapped own;

	davy_wrapped_of(l->argv, &own);
	return l->facts.port && davy_engine_share_port(l->facts.engine) && !own.own_environment &&
	       davy_listener_count(getpid(), l->facts.port) == 0;
}

static bool may_save(const struct davy_launch *l)
{
	return l->shares_port && davy_engine_save_slots(l->facts.engine) && !l->facts.slot_dir;
}

static void prepare_handover(struct davy_exec_case *c, char *ret_made)
{
	const struct davy_exec_options *o = &c->options;
	struct davy_launch *l = &c->launch;

	ret_made[0] = 0;
	l->shares_port = may_share(l);
	if (!may_save(l))
		return;
	if (o->slot_dir)
		davy_copy_name(l->slot_dir, sizeof(l->slot_dir), o->slot_dir);
	else if (o->explain || o->dry_run)
		davy_copy_name(l->slot_dir, sizeof(l->slot_dir), SLOTS_LATER);
	else if (!davy_slots_make_dir(o->state_dir, ret_made, PATH_MAX))
		davy_copy_name(l->slot_dir, sizeof(l->slot_dir), ret_made);
}

/* Fails if a limit is given and cannot be set. */
static int make_cgroup(struct davy_exec_case *c)
{
	char name[64];
	int err;

	davy_cgroup_sweep();
	snprintf(name, sizeof(name), DAVY_CGROUP_EXEC "%d", (int)getpid());
	err = davy_cgroup_make(name, &c->launch.cgroup);
	if (err)
		davy_log("no cgroup for the engine (%s): its other processes cannot be identified",
			 strerror(-err));
	if (c->options.memory_max == DAVY_FIT_UNKNOWN)
		return DAVY_EXIT_DONE;
	if (!err)
		err = davy_cgroup_memory_max(&c->launch.cgroup, c->options.memory_max);
	if (!err)
		return DAVY_EXIT_DONE;
	davy_log("--memory-max: the cgroup cannot be limited (%s); nothing is started. It needs "
		 "cgroup v2 with the memory controller, and no other process in this one: "
		 "'systemd-run --scope -p Delegate=yes davylamp exec ...'",
		 err == -ENOTSUP ? "no memory controller here" : strerror(-err));
	return DAVY_EXIT_NOTHING;
}

static int exec_start(struct davy_exec_case *c)
{
	const struct davy_supervise_options options = {
		.socket_path = c->options.socket_path,
		.reserve_bytes = c->options.reserve_bytes,
		.vram_max = c->options.vram_max,
		.tuned_for =
			davy_start_settings_none(&c->override.settings) ? NULL : "runner_crash",
	};
	char made[PATH_MAX];
	int status = make_cgroup(c);

	for (size_t i = 0; i < c->variable_count; i++)
		setenv(c->variables[i].name, c->variables[i].value, 1);
	if (!status) {
		prepare_handover(c, made);
		status = davy_supervise(&c->launch, &c->override, &options);
		if (made[0])
			rmdir(made);
	}
	davy_launch_done(&c->launch);
	return status;
}

static int exec_print(struct davy_exec_case *c)
{
	struct davy_args args = { 0 };
	char made[PATH_MAX];

	prepare_handover(c, made);
	if (!c->choice.refused &&
	    davy_engine_command(&c->launch.facts, c->launch.argv, &c->override, &args)) {
		davy_log("'%s' does not support these settings; nothing is started",
			 davy_engine_name(c->launch.facts.engine));
		return DAVY_EXIT_NOTHING;
	}
	davy_exec_print(c, &args);
	davy_args_done(&args);
	return c->choice.refused ? DAVY_EXIT_NOTHING : DAVY_EXIT_DONE;
}

static int exec_run(struct davy_exec_case *c)
{
	struct davy_engine_look look = {
		.argv = c->options.command, .envp = environ, .exe = "", .parent = "", .typed = true
	};
	int status;

	c->launch.argv = c->options.command;
	davy_engine_identify(&look, &c->launch.facts);
	davy_copy_name(c->own_model, sizeof(c->own_model), c->launch.facts.model);
	if (c->options.model)
		davy_engine_set_model(&c->launch.facts, c->options.model);
	status = davy_exec_gather(c);
	if (status)
		return status;
	davy_choose(&c->question, &c->choice);
	if (!c->options.explain)
		davy_exec_say(c);
	if (!c->choice.refused)
		status = davy_exec_apply(c);
	if (status)
		return status;
	if (c->options.explain || c->options.dry_run)
		return exec_print(c);
	return c->choice.refused ? DAVY_EXIT_NOTHING : exec_start(c);
}

int main(int argc, char **argv)
{
	struct davy_exec_case *c;
	int status;

	if (davy_standard_fds_open())
		return DAVY_EXIT_FAILED; /* no stderr for a message */
	c = calloc(1, sizeof(*c));
	if (!c)
		return DAVY_EXIT_FAILED;
	status = davy_exec_options_read(argc, argv, &c->options);
	if (!status)
		status = exec_run(c);
	davy_args_done(&c->base);
	free(c);
	return status < 0 ? DAVY_EXIT_DONE : status;
}
