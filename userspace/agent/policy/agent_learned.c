/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breakers in learned.conf: reported to the core at the start, written at each change. A file
 * that cannot be read (EIO, EMFILE, ENOMEM) is not replaced. The agent reads it again until that
 * succeeds, and then adds the newer breakers.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/log.h"
#include "report/plan_text.h"
#include "agent/policy/agent_policy.h"

#define LEARNED_RETRY_NS (5 * DAVY_NS_PER_S)

static void learned_tell(struct davy_agent *a, const struct davy_learned_entry *e, int64_t now_s)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_BREAKER, 0);

	davy_copy_name(ev.breaker.device, sizeof(ev.breaker.device), e->device);
	davy_copy_name(ev.breaker.model, sizeof(ev.breaker.model), e->model);
	ev.breaker.backend = (uint8_t)e->backend;
	ev.breaker.state = (uint8_t)e->state;
	ev.breaker.open_count = e->open_count;
	if (e->until_s > now_s)
		ev.breaker.remaining_ns = (uint64_t)(e->until_s - now_s) * DAVY_NS_PER_S;
	davy_agent_feed(a, &ev);
}

/* Renames a file with invalid content; *file is then empty. */
static int learned_load(const struct davy_agent *a, struct davy_learned *file)
{
	const char *dir = a->options.state_dir;
	int line, err = davy_learned_load(dir, file, &line);

	if (err != -EBADMSG)
		return err;
	memset(file, 0, sizeof(*file));
	err = davy_learned_set_aside(dir);
	if (!err)
		davy_log("policy '%s/%s': line %d is invalid; the file is renamed to %s.bad; "
			 "the agent starts without breakers",
			 dir, DAVY_LEARNED_NAME, line, DAVY_LEARNED_NAME);
	return err;
}

static bool learned_has(const struct davy_learned *l, const struct davy_learned_entry *e)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->entry[i].backend == e->backend &&
		    davy_same_name(l->entry[i].device, e->device) &&
		    davy_same_name(l->entry[i].model, e->model))
			return true;
	return false;
}

/* A breaker learned since the start replaces the file's entry for the same key. */
static void learned_join(struct davy_agent *a, const struct davy_learned *file)
{
	const struct davy_learned newer = a->learned;
	const int64_t now_s = time(NULL);

	a->learned = *file;
	for (size_t i = 0; i < newer.count; i++) {
		const struct davy_learned_entry *e = &newer.entry[i];

		*davy_learned_get(&a->learned, e->device, e->backend, e->model) = *e;
	}
	for (size_t i = 0; i < file->count; i++)
		if (!learned_has(&newer, &file->entry[i]))
			learned_tell(a, &file->entry[i], now_s);
}

static int learned_read(struct davy_agent *a)
{
	struct davy_learned file = { 0 };
	int err = learned_load(a, &file);

	if (err && err != a->learned_unread)
		davy_log("policy '%s/%s': cannot be read: %s; it stays unchanged, its breakers "
			 "are not in force, and the agent reads it again every %d s",
			 a->options.state_dir, DAVY_LEARNED_NAME, strerror(-err),
			 (int)(LEARNED_RETRY_NS / DAVY_NS_PER_S));
	else if (!err && a->learned_unread)
		davy_log("policy '%s/%s': was read; its breakers are in force",
			 a->options.state_dir, DAVY_LEARNED_NAME);
	a->learned_unread = err;
	if (!err)
		learned_join(a, &file);
	return err;
}

static void learned_save(struct davy_agent *a)
{
	int err;

	if (a->learned_unread)
		return; /* the tick writes it after it was read */
	err = davy_learned_save(a->options.state_dir, &a->learned);
	if (err)
		davy_log("policy '%s/%s': cannot be written: %s; the change is kept in memory and "
			 "written with the next change",
			 a->options.state_dir, DAVY_LEARNED_NAME, strerror(-err));
}

void davy_agent_learn(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_learned_entry *e;
	int64_t now_s = time(NULL);

	if (plan->verdict != DAVY_VERDICT_GO)
		return;
	e = davy_learned_get(&a->learned, plan->device, (enum davy_backend)plan->backend,
			     plan->model);
	e->state = (enum davy_breaker_state)plan->breaker_state;
	e->open_count = plan->open_count;
	e->since_s = now_s;
	e->until_s = now_s;
	if (plan->until_ns > plan->at_ns)
		e->until_s += (int64_t)((plan->until_ns - plan->at_ns) / DAVY_NS_PER_S);
	if (plan->breaker_state == DAVY_BREAKER_OPEN)
		davy_reason_text(plan, e->reason, sizeof(e->reason));
	learned_save(a);
}

int davy_agent_learned_forget(struct davy_agent *a, const char *device, const char *model)
{
	struct davy_learned_entry gone[DAVY_LEARNED_MAX];
	int err = a->learned_unread ? learned_read(a) : 0;
	size_t count;

	if (err)
		return err;
	count = davy_learned_forget(&a->learned, device, model, gone);
	if (count)
		learned_save(a);
	for (size_t i = 0; i < count; i++) {
		gone[i].state = DAVY_BREAKER_CLOSED;
		gone[i].open_count = 0;
		learned_tell(a, &gone[i], INT64_MAX);
	}
	return (int)count;
}

void davy_agent_learned_open(struct davy_agent *a)
{
	learned_read(a);
}

void davy_agent_learned_tick(struct davy_agent *a, uint64_t now_ns)
{
	if (!a->learned_unread || now_ns - a->learned_tried_ns < LEARNED_RETRY_NS)
		return;
	a->learned_tried_ns = now_ns;
	if (!learned_read(a) && a->learned.count)
		learned_save(a);
}
