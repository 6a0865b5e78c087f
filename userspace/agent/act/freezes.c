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

struct davy_frozen *davy_freezes_find(struct davy_agent *a, uint32_t id)
{
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		if (a->freezes.frozen[i].id == id)
			return &a->freezes.frozen[i];
	return NULL;
}

const struct davy_frozen *davy_agent_frozen(const struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && i < DAVY_GUARD_FREEZES; i++)
		if (a->freezes.frozen[i].id && a->freezes.frozen[i].workload == workload &&
		    a->freezes.frozen[i].plan)
			return &a->freezes.frozen[i];
	return NULL;
}

struct davy_frozen *davy_freezes_of(struct davy_agent *a, uint32_t workload)
{
	return (struct davy_frozen *)davy_agent_frozen(a, workload);
}

static void freezes_forget(struct davy_frozen *h)
{
	if (h->dir_fd >= 0)
		close(h->dir_fd);
	memset(h, 0, sizeof(*h));
	h->dir_fd = -1;
}

void davy_freezes_end(struct davy_agent *a, struct davy_frozen *h, enum davy_act_stage stage,
		      int result)
{
	uint32_t plan = h->undo_plan ? h->undo_plan : h->plan, workload = h->workload;

	freezes_forget(h); /* first: the event below may cause another freeze */
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
	while (!(err = davy_guard_receive(&a->freezes.guard, &said)))
		davy_freezes_answer(a, &said);
	if (err != -EAGAIN) /* the pidfd reports the reason */
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

/* The standby of the guard has done so, unless it was killed too. */
static void freezes_thaw(struct davy_frozen *h)
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

static void close_guard(struct davy_freezes *freezes)
{
	freezes->answers = sd_event_source_disable_unref(freezes->answers);
	freezes->death = sd_event_source_disable_unref(freezes->death);
	davy_guard_stop(&freezes->guard);
}

static void freezes_start(struct davy_agent *a);

static int on_again(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	freezes_start(arg);
	return 0;
}

static void start_later(struct davy_agent *a)
{
	uint64_t us = AGAIN_US << (a->freezes.start_count < 6 ? a->freezes.start_count : 6);

	a->freezes.start_count++;
	a->freezes.again = sd_event_source_disable_unref(a->freezes.again);
	sd_event_add_time_relative(a->loop, &a->freezes.again, CLOCK_MONOTONIC,
				   us < AGAIN_MAX_US ? us : AGAIN_MAX_US, 0, on_again, a);
}

static int on_death(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct davy_agent *a = arg;

	on_answers(a->freezes.answers, fd, events, a); /* replies from before its death */
	(void)source;
	close_guard(&a->freezes);
	davy_log(
		"guard: it was killed; its freezes have ended, and the agent starts another guard");
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++) {
		struct davy_frozen *h = &a->freezes.frozen[i];

		if (!h->id)
			continue;
		freezes_thaw(h);
		davy_freezes_end(a, h, DAVY_ACT_RELEASED, h->undo_plan ? 0 : -ECHILD);
	}
	start_later(a);
	return 0;
}

static void freezes_start(struct davy_agent *a)
{
	struct davy_freezes *freezes = &a->freezes;
	char program[PATH_MAX];
	int err = davy_program_path(DAVY_GUARD_PROGRAM, program, sizeof(program));

	if (!err)
		err = davy_guard_start(&freezes->guard, program);
	if (!err)
		err = davy_watch_copy(a->loop, &freezes->answers, freezes->guard.fd, on_answers, a);
	if (err >= 0)
		err = davy_watch_copy(a->loop, &freezes->death, freezes->guard.pidfd, on_death, a);
	if (err >= 0)
		return;
	close_guard(freezes);
	if (!freezes->start_count)
		davy_log("guard: cannot start '%s': %s; pause and throttle do not work, "
			 "the agent tries again",
			 program, strerror(-err));
	start_later(a);
}

void davy_agent_freezes_open(struct davy_agent *a)
{
	a->freezes.guard = (struct davy_guard){ -1, -1, 0 };
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		a->freezes.frozen[i].dir_fd = -1;
	freezes_start(a);
}

void davy_agent_freezes_close(struct davy_agent *a)
{
	close_guard(&a->freezes);
	sd_event_source_disable_unref(a->freezes.again);
	for (size_t i = 0; i < DAVY_GUARD_FREEZES; i++)
		freezes_forget(&a->freezes.frozen[i]);
}
