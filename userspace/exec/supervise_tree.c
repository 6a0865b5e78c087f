/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the command has become. A script, timeout and sudo start the engine as a child or by exec;
 * the engine is the first one in the process tree. If it does not get the arguments of the command,
 * variables change it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/wrapper.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "exec/supervisor.h"

#define FIRST_US  20000
#define MOST_US	  5000000
#define TREE_MAX  64
#define LIST_SIZE 2048

/* Adds the children of the process. Those that its other threads started are not seen. */
static size_t tree_add_children(pid_t pid, pid_t list[TREE_MAX], size_t count)
{
	char path[64], text[LIST_SIZE], *at = text;
	ssize_t n = -1;

	if (!davy_root_path(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid))
		n = davy_read_file(path, text, sizeof(text));
	while (n > 0 && *at && count < TREE_MAX) {
		long child = strtol(at, &at, 10);

		if (child > 0)
			list[count++] = (pid_t)child;
		at += strspn(at, " \n");
	}
	return count;
}

/* A child that finds the devices or prints a version is not the engine. */
static bool tree_serves(const struct davy_process_start *start, struct davy_engine_facts *facts)
{
	struct davy_engine_look look = davy_process_start_look(start);

	davy_engine_identify(&look, facts);
	return facts->engine != DAVY_ENGINE_NONE && facts->role != DAVY_ROLE_DISCOVERY &&
	       (facts->role != DAVY_ROLE_TOOL || facts->loads_model);
}

/* The first engine from the child downwards; NULL: none yet. The caller frees it. */
static struct davy_process_start *tree_find(pid_t child, pid_t *ret_pid,
					    struct davy_engine_facts *ret_facts)
{
	pid_t list[TREE_MAX] = { child };
	size_t count = 1;

	for (size_t i = 0; i < count; i++) {
		struct davy_process_start *start = davy_process_start_read((uint32_t)list[i]);

		*ret_pid = list[i];
		if (start && tree_serves(start, ret_facts))
			return start;
		free(start);
		count = tree_add_children(list[i], list, count);
	}
	return NULL;
}

/* Whether the words of "some" occur in "all", in their order. */
static bool tree_has_words(char *const *some, char *const *all)
{
	for (; *some && *all; all++)
		some += !strcmp(*some, *all);
	return !*some;
}

/* Whether it was started with the arguments of the command, as rewritten for the settings. */
static bool tree_takes_arguments(const struct davy_supervisor *s,
				 const struct davy_process_start *start,
				 const struct davy_engine_facts *facts)
{
	const struct davy_launch *l = s->launch;
	struct davy_wrapped own;
	struct davy_args args;
	bool takes;

	if (l->facts.engine != facts->engine ||
	    davy_engine_command(&l->facts, l->argv, &s->engine.override, &args))
		return false;
	davy_wrapped_of(args.at, &own);
	takes = tree_has_words(own.argv + 1, start->argv) && (own.argv[1] || !start->argv[1]);
	davy_args_done(&args);
	return takes;
}

/* The command does not name the engine, or a script changes its arguments. */
static void tree_take_start(struct davy_supervisor *s, struct davy_process_start *start,
			    const struct davy_engine_facts *facts)
{
	struct davy_launch *l = s->launch;
	char model[DAVY_MODEL_LEN];

	davy_copy_name(model, sizeof(model), l->facts.model);
	s->start = start;
	s->look = davy_process_start_look(start);
	l->look = &s->look;
	l->facts = *facts;
	if (model[0])
		davy_copy_name(l->facts.model, sizeof(l->facts.model), model);
	l->shares_port = false;
	l->slot_dir[0] = 0;
	davy_log("the command runs %s; its settings are changed by variables",
		 davy_engine_name(facts->engine));
}

static void tree_take(struct davy_supervisor *s, pid_t pid, struct davy_process_start *start,
		      const struct davy_engine_facts *facts)
{
	bool inner = pid != s->engine.pid;
	bool ours = s->launch->look || tree_takes_arguments(s, start, facts);

	s->tree_found = true;
	if (inner) {
		s->engine.inner = pid;
		s->launch->shares_port = false; /* a handover needs the engine as a child */
	}
	if (ours)
		free(start);
	else
		tree_take_start(s, start, facts);
	if (inner || !ours)
		davy_supervisor_say(s, davy_supervisor_engine(s, "became"));
}

/* A script may start its engine again. */
static bool tree_wants_look(const struct davy_supervisor *s)
{
	pid_t inner = s->engine.inner;

	return !s->tree_found || (inner && kill(inner, 0) && errno == ESRCH);
}

static int tree_on_look(sd_event_source *source, uint64_t usec, void *arg)
{
	struct davy_supervisor *s = arg;
	struct davy_process_start *start = NULL;
	struct davy_engine_facts facts;
	pid_t pid;

	(void)usec;
	if (!s->engine.pid || s->engine.pid != s->tree_pid)
		return 0;
	if (tree_wants_look(s))
		start = tree_find(s->engine.pid, &pid, &facts);
	if (start)
		tree_take(s, pid, start, &facts);
	if (s->tree_found && !s->engine.inner)
		return 0;
	s->tree_us = s->tree_us < MOST_US / 2 ? 2 * s->tree_us : MOST_US;
	sd_event_source_set_time_relative(source, s->tree_us);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int davy_became_open(struct davy_supervisor *s)
{
	int err = sd_event_add_time_relative(s->loop, &s->tree, CLOCK_MONOTONIC, FIRST_US, 0,
					     tree_on_look, s);

	return err < 0 ? err : sd_event_source_set_enabled(s->tree, SD_EVENT_OFF);
}

void davy_became_follow(struct davy_supervisor *s)
{
	if (!s->engine.pid || s->engine.pid == s->tree_pid)
		return;
	s->tree_pid = s->engine.pid;
	s->tree_found = false;
	s->tree_us = FIRST_US;
	sd_event_source_set_time_relative(s->tree, FIRST_US);
	sd_event_source_set_enabled(s->tree, SD_EVENT_ONESHOT);
}
