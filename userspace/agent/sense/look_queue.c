/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/sense/look_queue.h"

#include <string.h>

#include "sensors/proc/process_info.h"

#define PENALTY_NS     (2 * DAVY_NS_PER_S)
#define PENALTY_MAX_NS (600 * DAVY_NS_PER_S)

static size_t queue_user(uint32_t uid)
{
	return uid * 2654435761u >> 24; /* Knuth's multiplicative hash: 256 buckets */
}

static bool queue_evictable(const struct davy_look_job *job)
{
	return job->class != DAVY_LOOKS_WORKLOAD;
}

static void queue_remove(struct davy_look_queue *q, size_t at)
{
	if (queue_evictable(&q->job[at]))
		q->waiting[queue_user(q->job[at].uid)]--;
	q->job[at] = q->job[--q->count];
}

static struct davy_look_job *queue_find(struct davy_look_queue *q, const struct davy_look_job *job)
{
	bool start = job->look == DAVY_LOOK_START;

	for (size_t i = 0; i < q->count; i++)
		if (q->job[i].pid == job->pid && (q->job[i].look == DAVY_LOOK_START) == start)
			return &q->job[i];
	return NULL;
}

static void queue_join(struct davy_look_queue *q, struct davy_look_job *job,
		       const struct davy_look_job *with)
{
	if (queue_evictable(job) && !queue_evictable(with))
		q->waiting[queue_user(job->uid)]--;
	if (with->class < job->class)
		job->class = with->class;
	if (with->look > job->look)
		job->look = with->look;
	if (with->tries > job->tries)
		job->tries = with->tries;
}

/*
 * Evicts the oldest job, in the last class, of the user with the most jobs: its process has most
 * likely ended.
 */
static bool queue_evict(struct davy_look_queue *q)
{
	size_t user = 0, victim = DAVY_LOOK_JOBS_MAX;

	for (size_t i = 1; i < DAVY_LOOK_USERS; i++)
		if (q->waiting[i] > q->waiting[user])
			user = i;
	for (size_t i = 0; i < q->count; i++) {
		const struct davy_look_job *job = &q->job[i], *worst;

		if (!queue_evictable(job) || queue_user(job->uid) != user)
			continue;
		worst = victim < q->count ? &q->job[victim] : NULL;
		if (!worst || job->class > worst->class ||
		    (job->class == worst->class && job->order < worst->order))
			victim = i;
	}
	if (victim == DAVY_LOOK_JOBS_MAX)
		return false;
	q->evicted_count++;
	q->evicted_uid = q->job[victim].uid;
	queue_remove(q, victim);
	return true;
}

bool davy_look_queue_put(struct davy_look_queue *q, const struct davy_look_job *job)
{
	struct davy_look_job *known = queue_find(q, job);

	if (known) {
		queue_join(q, known, job);
		return true;
	}
	if (q->count == DAVY_LOOK_JOBS_MAX && !queue_evict(q))
		return false;
	q->job[q->count] = *job;
	q->job[q->count++].order = ++q->order;
	if (queue_evictable(job))
		q->waiting[queue_user(job->uid)]++;
	return true;
}

static bool queue_before(const struct davy_look_queue *q, const struct davy_look_job *a,
			 const struct davy_look_job *b)
{
	uint64_t served_a = q->served[queue_user(a->uid)], served_b = q->served[queue_user(b->uid)];

	if (a->class != b->class)
		return a->class < b->class;
	if (served_a != served_b)
		return served_a < served_b;
	return a->order < b->order;
}

bool davy_look_queue_take(struct davy_look_queue *q,
			  bool (*may)(void *arg, const struct davy_look_job *job), void *arg,
			  struct davy_look_job *ret_job)
{
	size_t best = DAVY_LOOK_JOBS_MAX;

	for (size_t i = 0; i < q->count; i++)
		if ((best == DAVY_LOOK_JOBS_MAX || queue_before(q, &q->job[i], &q->job[best])) &&
		    may(arg, &q->job[i]))
			best = i;
	if (best == DAVY_LOOK_JOBS_MAX)
		return false;
	*ret_job = q->job[best];
	q->served[queue_user(ret_job->uid)] = ++q->turn;
	queue_remove(q, best);
	return true;
}

void davy_look_queue_drop(struct davy_look_queue *q, uint32_t pid)
{
	for (size_t i = q->count; i-- > 0;)
		if (q->job[i].pid == pid)
			queue_remove(q, i);
}

static uint64_t penalty_length(uint32_t count)
{
	uint64_t length = PENALTY_NS << (count < 16 ? count : 16);

	return length < PENALTY_MAX_NS ? length : PENALTY_MAX_NS;
}

/* A free entry, or the one that expires first. */
static struct davy_penalty *penalty_place(struct davy_penalties *p, uint32_t uid, uint32_t pid)
{
	struct davy_penalty *place = &p->at[0];

	for (size_t i = 0; i < DAVY_PENALTIES_MAX; i++) {
		struct davy_penalty *e = &p->at[i];

		if (e->until_ns && e->uid == uid && e->pid == pid)
			return e;
		if (e->until_ns < place->until_ns)
			place = e;
	}
	memset(place, 0, sizeof(*place));
	return place;
}

uint64_t davy_penalty_add(struct davy_penalties *p, uint32_t uid, uint32_t pid,
			  uint64_t start_ticks, uint64_t now_ns)
{
	struct davy_penalty *e = penalty_place(p, uid, pid);

	if (e->start_ticks != start_ticks ||
	    now_ns > e->until_ns + penalty_length(e->count)) /* the previous loss was long ago */
		e->count = 0;
	e->uid = uid;
	e->pid = pid;
	e->start_ticks = start_ticks;
	e->until_ns = now_ns + penalty_length(e->count++);
	return e->until_ns;
}

const struct davy_penalty *davy_penalty_of(const struct davy_penalties *p, uint32_t uid,
					   uint32_t pid, uint64_t now_ns)
{
	for (size_t i = 0; i < DAVY_PENALTIES_MAX; i++)
		if (p->at[i].until_ns > now_ns && p->at[i].pid == pid &&
		    (pid || p->at[i].uid == uid))
			return &p->at[i];
	return NULL;
}
