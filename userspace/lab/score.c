/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/score.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/core.h"
#include "lib/child.h"
#include "lib/log.h"
#include "store/trace.h"
#include "lab/act_replay.h"
#include "lab/progress.h"

#define BATCH	 256 /* events read before the next core runs */
#define JOBS_MAX 256
#define LOOK_MS	 20

struct replica {
	struct davy_core core;
	struct davy_judge judge;
};

static bool score_is_config(const struct davy_event *ev)
{
	return ev->kind == DAVY_EV_CONFIG || ev->kind == DAVY_EV_CONFIG_FOR;
}

static void score_replay(struct replica *r, const struct davy_event *events, size_t count)
{
	struct davy_plan plans[DAVY_PLANS_MAX];

	for (size_t i = 0; i < count; i++) {
		size_t said = davy_core_step(&r->core, &events[i], plans, DAVY_PLANS_MAX);

		davy_judge_event(&r->judge, &events[i]);
		for (size_t j = 0; j < said; j++)
			davy_judge_plan(&r->judge, &plans[j]);
	}
	r->judge.score.event_count += count;
}

/* Reads at most BATCH events; *ret_more: last result of the reader. */
static size_t read_batch(struct davy_trace_reader *trace, struct davy_event *events, int *ret_more)
{
	size_t count = 0;

	while (count < BATCH && (*ret_more = davy_trace_next(trace, &events[count])) > 0)
		count += !score_is_config(&events[count]);
	return count;
}

int davy_score_trace(const struct davy_case *of, const struct davy_config *configs, size_t count,
		     struct davy_score *scores)
{
	struct replica *replicas = calloc(count, sizeof(*replicas));
	struct davy_event *events = calloc(BATCH, sizeof(*events));
	struct davy_acts *acts = davy_acts_new(&configs[0]);
	struct davy_trace_reader *trace = NULL;
	int more = replicas && events && acts ? davy_trace_open(of->path, &trace) : -ENOMEM;

	for (size_t i = 0; i < count && !more; i++) {
		davy_core_init(&replicas[i].core);
		replicas[i].core.config = configs[i];
		davy_judge_begin(&replicas[i].judge, of);
	}
	for (more = more ? more : 1; more > 0;) {
		size_t have = read_batch(trace, events, &more);

		for (size_t i = 0; i < count; i++)
			score_replay(&replicas[i], events, have);
		davy_acts_replay(acts, &replicas[0].judge, events, have);
	}
	if (more == -EBADMSG && count && of->failed &&
	    replicas[0].core.now_ns >= of->label.failure_ns)
		more = 1; /* events after the failure are not judged */
	for (size_t i = 0; i < count && more >= 0; i++) {
		davy_judge_end(&replicas[i].judge, &replicas[i].core);
		scores[i] = replicas[i].judge.score;
	}
	davy_acts_free(acts);
	davy_trace_reader_free(trace);
	free(events);
	free(replicas);
	return more;
}

/* Shared by the workers; followed by an error for each trace, and the scores. */
struct shared {
	atomic_size_t next;
	atomic_size_t done;
	size_t size;
	struct davy_score *scores;
	int *errors;
};

static struct shared *score_share(size_t cases, size_t count)
{
	size_t scores = cases * count * sizeof(struct davy_score), errors = cases * sizeof(int);
	size_t size = sizeof(struct shared) + scores + errors;
	struct shared *s =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->size = size;
	s->scores = (struct davy_score *)(s + 1);
	s->errors = (int *)((char *)s->scores + scores);
	for (size_t i = 0; i < cases; i++)
		s->errors[i] = -EINTR; /* until its worker sets it */
	return s;
}

struct work {
	struct shared *shared;
	const struct davy_cases *cases;
	const struct davy_config *configs;
	size_t count;
};

static int score_work(void *arg)
{
	const struct work *w = arg;
	struct shared *s = w->shared;
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < w->cases->count) {
		s->errors[i] = davy_score_trace(&w->cases->at[i], w->configs, w->count,
						&s->scores[i * w->count]);
		atomic_fetch_add(&s->done, 1);
	}
	return 0;
}

static size_t score_reap(struct davy_child *workers, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		davy_child_reap(&workers[i], NULL);
		left += workers[i].pid > 0;
	}
	return left;
}

static void wait_for(struct shared *s, struct davy_child *workers, size_t count, size_t cases)
{
	const struct timespec pause = { 0, LOOK_MS * 1000000L };
	struct davy_progress progress;

	davy_progress_begin(&progress, "traces", cases);
	while (score_reap(workers, count)) {
		davy_progress_show(&progress, atomic_load(&s->done));
		nanosleep(&pause, NULL);
	}
	davy_progress_end(&progress);
}

static void score_tell_error(const struct davy_case *of, int err)
{
	davy_log("'%s': %s", of->path,
		 err > 0	   ? "damaged after its failure; scored up to there"
		 : err == -EBADMSG ? "truncated or corrupted; excluded"
		 : err == -EINTR   ? "its worker ended before the replay was complete"
				   : strerror(-err));
}

/* Returns scores in shared memory with an error for each trace; NULL: out of memory. */
static struct shared *score(const struct davy_cases *cases, const struct davy_config *configs,
			    size_t count, unsigned int jobs)
{
	struct shared *s = score_share(cases->count, count);
	struct work work = { s, cases, configs, count };
	const struct davy_child_spec spec = { .run = score_work,
					      .arg = &work,
					      .death_signal = SIGKILL };
	struct davy_child workers[JOBS_MAX];
	size_t started = 0;

	if (!s)
		return NULL;
	if (jobs > cases->count)
		jobs = (unsigned int)cases->count;
	while (started < jobs && started < JOBS_MAX && !davy_child_start(&spec, &workers[started]))
		started++;
	if (!started)
		score_work(&work); /* without children this process does all */
	wait_for(s, workers, started, cases->count);
	return s;
}

int davy_score_all(const struct davy_cases *cases, const struct davy_config *configs, size_t count,
		   unsigned int jobs, struct davy_score **ret_scores)
{
	struct shared *s = score(cases, configs, count, jobs);
	int err = 0;

	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < cases->count; i++) {
		if (s->errors[i] >= 0)
			continue;
		err = s->errors[i];
		score_tell_error(&cases->at[i], err);
	}
	*ret_scores = err ? NULL : s->scores;
	if (err)
		davy_scores_free(s->scores);
	return err;
}

int davy_score_whole(struct davy_cases *cases, const struct davy_config *configs, size_t count,
		     unsigned int jobs, struct davy_score **ret_scores)
{
	struct shared *s = score(cases, configs, count, jobs);
	size_t kept = 0;

	*ret_scores = NULL;
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < cases->count; i++) {
		if (s->errors[i]) {
			cases->wrong_count++;
			score_tell_error(&cases->at[i], s->errors[i]);
		}
		if (s->errors[i] < 0)
			continue;
		if (kept != i) {
			cases->at[kept] = cases->at[i];
			memcpy(&s->scores[kept * count], &s->scores[i * count],
			       count * sizeof(*s->scores));
		}
		kept++;
	}
	if (!kept && cases->count) {
		cases->count = 0;
		davy_scores_free(s->scores);
		return -ENODATA;
	}
	cases->count = kept;
	*ret_scores = s->scores;
	return 0;
}

void davy_scores_free(struct davy_score *scores)
{
	struct shared *s;

	if (!scores)
		return;
	s = (struct shared *)scores - 1;
	munmap(s, s->size);
}
