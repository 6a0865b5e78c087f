/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and watches the guard, and keeps the table of what it freezes. */
#include "agent/agent.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "act/freeze.h"
#include "act/watch.h"
#include "lib/file.h"
#include "lib/log.h"

#define AGAIN_US     200000 /* the standby of the guard also needs time to end */
#define AGAIN_MAX_US 10000000

struct davy_held *davy_holds_find(struct davy_agent *a, uint32_t id)
{
	for (size_t i = 0; i < DAVY_GUARD_HOLDS; i++)
		if (a->holds.held[i].id == id)
			return &a->holds.held[i];
	return NULL;
}

const struct davy_held *davy_agent_held(const struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && i < DAVY_GUARD_HOLDS; i++)
		if (a->holds.held[i].id && a->holds.held[i].workload == workload &&
		    a->holds.held[i].plan)
			return &a->holds.held[i];
	return NULL;
}

struct davy_held *davy_holds_of(struct davy_agent *a, uint32_t workload)
{
	return (struct davy_held *)davy_agent_held(a, workload);
}

static void holds_forget(struct davy_held *h)
{
	if (h->dir_fd >= 0)
		close(h->dir_fd);
	memset(h, 0, sizeof(*h));
	h->dir_fd = -1;
}

void davy_holds_end(struct davy_agent *a, struct davy_held *h, enum davy_act_stage stage,
		    int result)
{
	uint32_t plan = h->undo_plan ? h->undo_plan : h->plan, workload = h->workload;

	holds_forget(h); /* first: the event below may cause another freeze */
	if (plan)
		davy_agent_acted(a, plan, workload, stage, 0, result);
}

static int on_answers(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;
	struct davy_guard_answer said;
	int err;

	(void)fd;
	(void)events;
	while (!(err = davy_guard_receive(&a->holds.guard, &said)))
		davy_holds_answer(a, &said);
	if (err != -EAGAIN) /* the pidfd reports the reason */
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

/* The standby of the guard has done so, unless it was killed too. */
static void holds_let_go(struct davy_held *h)
{
	struct davy_tree tree;

	if (h->dir_fd >= 0) {
		davy_cgroup_freeze(h->dir_fd, false);
		return;
	}
	if (davy_tree_open(&tree, h->pid, h->start_ticks))
		return;
	davy_tree_find(&tree);
	davy_tree_continue(&tree);
	davy_tree_close(&tree);
}

static void close_guard(struct davy_holds *holds)
{
	holds->answers = sd_event_source_disable_unref(holds->answers);
	holds->death = sd_event_source_disable_unref(holds->death);
	davy_guard_stop(&holds->guard);
}

static void holds_start(struct davy_agent *a);

static int on_again(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	holds_start(arg);
	return 0;
}

static void start_later(struct davy_agent *a)
{
	uint64_t us = AGAIN_US << (a->holds.start_count < 6 ? a->holds.start_count : 6);

	a->holds.start_count++;
	a->holds.again = sd_event_source_disable_unref(a->holds.again);
	sd_event_add_time_relative(a->loop, &a->holds.again, CLOCK_MONOTONIC,
				   us < AGAIN_MAX_US ? us : AGAIN_MAX_US, 0, on_again, a);
}

static int on_death(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	on_answers(a->holds.answers, fd, events, a); /* replies from before its death */
	(void)source;
	close_guard(&a->holds);
	davy_log(
		"guard: it was killed; its freezes have ended, and the agent starts another guard");
	for (size_t i = 0; i < DAVY_GUARD_HOLDS; i++) {
		struct davy_held *h = &a->holds.held[i];

		if (!h->id)
			continue;
		holds_let_go(h);
		davy_holds_end(a, h, DAVY_ACT_RELEASED, h->undo_plan ? 0 : -ECHILD);
	}
	start_later(a);
	return 0;
}

static void holds_start(struct davy_agent *a)
{
	struct davy_holds *holds = &a->holds;
	char program[PATH_MAX];
	int err = davy_program_path(DAVY_GUARD_PROGRAM, program, sizeof(program));

	if (!err)
		err = davy_guard_start(&holds->guard, program);
	if (!err)
		err = davy_watch_copy(a->loop, &holds->answers, holds->guard.fd, on_answers, a);
	if (err >= 0)
		err = davy_watch_copy(a->loop, &holds->death, holds->guard.pidfd, on_death, a);
	if (err >= 0)
		return;
	close_guard(holds);
	if (!holds->start_count)
		davy_log("guard: cannot start '%s': %s; pause and throttle do not work, "
			 "the agent tries again",
			 program, strerror(-err));
	start_later(a);
}

void davy_agent_holds_open(struct davy_agent *a)
{
	a->holds.guard = (struct davy_guard){ -1, -1, 0 };
	for (size_t i = 0; i < DAVY_GUARD_HOLDS; i++)
		a->holds.held[i].dir_fd = -1;
	holds_start(a);
}

void davy_agent_holds_close(struct davy_agent *a)
{
	close_guard(&a->holds);
	sd_event_source_disable_unref(a->holds.again);
	for (size_t i = 0; i < DAVY_GUARD_HOLDS; i++)
		holds_forget(&a->holds.held[i]);
}
