/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "act/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engines/environment.h"
#include "engines/tell.h"
#include "lib/child.h"

#define STEP_MS 5

/* At once; after 400 ms; 1.5 s after that. */
static const struct {
	int sig;
	uint32_t at_ms;
} steps[] = { { SIGTERM, 0 }, { SIGTERM, 400 }, { SIGKILL, 1900 } };

#define STEP_COUNT (sizeof(steps) / sizeof(steps[0]))

static void launch_change(struct davy_environment_variable list[DAVY_LAUNCH_VARIABLES],
			  size_t *count, const char *name, const char *value)
{
	if (name && *count < DAVY_LAUNCH_VARIABLES)
		list[(*count)++] = (struct davy_environment_variable){ name, value };
}

size_t davy_launch_environment(const struct davy_launch *l,
			       const struct davy_engine_override *override,
			       struct davy_environment_variable list[DAVY_LAUNCH_VARIABLES])
{
	const char *const *unset = davy_engine_cpu_unset(l->facts.engine);
	size_t count = 0;

	/* Otherwise ggml runs gdb after a crash, which delays its end by half a second or more. */
	if (!getenv("GGML_NO_BACKTRACE"))
		launch_change(list, &count, "GGML_NO_BACKTRACE", "1");
	if (override->backend == DAVY_BACKEND_CPU) {
		for (size_t i = 0; unset[i]; i++)
			launch_change(list, &count, unset[i], NULL);
		for (size_t i = 0; davy_environment_no_gpu[i].name; i++)
			launch_change(list, &count, davy_environment_no_gpu[i].name,
				      davy_environment_no_gpu[i].value);
	}
	if (l->shares_port)
		launch_change(list, &count, davy_engine_share_port(l->facts.engine), "1");
	if (l->slot_dir[0])
		launch_change(list, &count, davy_engine_save_slots(l->facts.engine), l->slot_dir);
	return count;
}

static void set_environment(const struct davy_launch *l,
			    const struct davy_engine_override *override)
{
	struct davy_environment_variable list[DAVY_LAUNCH_VARIABLES];
	size_t count = davy_launch_environment(l, override, list);

	for (size_t i = 0; i < count; i++)
		if (list[i].value)
			setenv(list[i].name, list[i].value, 1);
		else
			unsetenv(list[i].name);
}

/* An engine without options for the CPU: variables hide all GPUs from it and from its children. */
static void launch_hide_gpus(const struct davy_engine_facts *facts,
			     const struct davy_engine_override *override)
{
	const struct davy_engine_target target = { .backend = DAVY_BACKEND_CPU };
	struct davy_environment e;

	if (override->backend != DAVY_BACKEND_CPU ||
	    davy_engine_by_options(facts->engine, DAVY_BACKEND_CPU) ||
	    davy_engine_tell(facts, &target, &e))
		return;
	for (size_t i = 0; i < e.count; i++)
		setenv(e.at[i].name, e.at[i].value, 1);
}

/* The command for an override: rewritten, or as it is with variables. */
struct start {
	const struct davy_launch *launch;
	struct davy_launched *child;
	struct davy_args args;
	struct davy_environment variables;
};

static int launch_prepare_command(const struct davy_launch *l,
				  const struct davy_engine_override *override, struct start *s)
{
	static const struct davy_engine_override none = { 0 };
	int err;

	s->launch = l;
	if (!l->look)
		return davy_engine_command(&l->facts, l->argv, override, &s->args);
	err = davy_engine_environment(l->look, &l->facts, override, &s->variables);
	return err ? err : davy_engine_command(&l->facts, l->argv, &none, &s->args);
}

/* Runs in the child. Without the cgroup the engine is identified by its pid. */
static int launch_prepare(void *arg)
{
	const struct start *s = arg;

	davy_cgroup_enter(&s->child->cgroup);
	set_environment(s->launch, &s->child->override);
	for (size_t i = 0; i < s->variables.count; i++)
		setenv(s->variables.at[i].name, s->variables.at[i].value, 1);
	launch_hide_gpus(&s->launch->facts, &s->child->override);
	return 0;
}

static void launch_announce(void *arg, pid_t pid)
{
	const struct start *s = arg;

	s->child->pid = pid;
	s->launch->before_exec(s->launch->arg, s->child);
}

static int launch_spawn(struct start *s, struct davy_launched *launched)
{
	const struct davy_child_spec spec = {
		.path = s->args.at[0],
		.argv = s->args.at,
		.run = launch_prepare,
		.arg = s,
		.before_exec = s->launch->before_exec ? launch_announce : NULL,
		.stdio = { DAVY_CHILD_KEEP, DAVY_CHILD_KEEP, DAVY_CHILD_KEEP },
		.inherit_fds = true,
		.keep_ignored = true,
		.death_signal = SIGTERM
	};
	struct davy_child child;
	int err = davy_child_start(&spec, &child);

	if (err)
		return err;
	launched->pid = child.pid; /* the supervisor's loop waits for SIGCHLD */
	close(davy_child_take_pidfd(&child));
	return 0;
}

void davy_launch_done(struct davy_launch *l)
{
	char path[PATH_MAX + 16];

	for (unsigned int i = 1; l->cgroup.dir[0] && i <= l->count; i++) {
		snprintf(path, sizeof(path), "%s/%u", l->cgroup.dir, i);
		rmdir(path); /* groups whose last process ended late */
	}
	davy_cgroup_remove(&l->cgroup);
}

int davy_launch_possible(const struct davy_launch *l, const struct davy_engine_override *override,
			 char *ret_why)
{
	struct start s = { 0 };
	int err = launch_prepare_command(l, override, &s);

	davy_args_done(&s.args);
	if (err && ret_why)
		davy_copy_name(ret_why, DAVY_ENVIRONMENT_WHY_LEN, s.variables.why);
	return err;
}

int davy_launch_start(struct davy_launch *l, const struct davy_engine_override *override,
		      struct davy_launched *ret_child)
{
	struct davy_launched child = { .override = *override };
	struct start s = { .child = &child };
	char name[16];
	int err = launch_prepare_command(l, override, &s);

	if (err)
		return err;
	snprintf(name, sizeof(name), "%u", ++l->count);
	davy_cgroup_make_below(&l->cgroup, name, &child.cgroup);
	err = launch_spawn(&s, &child);
	davy_args_done(&s.args);
	if (err)
		davy_cgroup_remove(&child.cgroup);
	else
		*ret_child = child;
	return err;
}

pid_t davy_launched_engine(const struct davy_launched *child)
{
	return child->inner ? child->inner : child->pid;
}

/* Kills the rest of its cgroup: the engine of a shell script would outlive the shell. */
static void launch_gone(struct davy_launched *child)
{
	child->pid = child->inner = 0;
	davy_cgroup_kill(&child->cgroup);
	davy_cgroup_remove(&child->cgroup);
}

int davy_launched_reap(struct davy_launched *child, int *ret_status)
{
	pid_t pid;

	if (!child->pid)
		return 0;
	pid = waitpid(child->pid, ret_status, WNOHANG);
	if (pid != child->pid && !(pid < 0 && errno == ECHILD))
		return 0;
	launch_gone(child);
	return 1;
}

/* Our child and not reaped: its pid cannot be reused. */
void davy_launched_end(struct davy_launched *child, uint32_t asked_ms, unsigned int *sent)
{
	for (; child->pid && *sent < STEP_COUNT && asked_ms >= steps[*sent].at_ms; ++*sent)
		kill(child->pid, steps[*sent].sig);
}

int davy_launched_stop(struct davy_launched *child, int *ret_status)
{
	unsigned int sent = 0;

	*ret_status = 0;
	for (uint32_t ms = 0; child->pid && ms < DAVY_LAUNCHED_STUCK_MS; ms += STEP_MS) {
		davy_launched_end(child, ms, &sent);
		if (davy_launched_reap(child, ret_status))
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
	}
	return child->pid ? -ETIMEDOUT : 0;
}
