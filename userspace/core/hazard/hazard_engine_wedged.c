/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signal: a running engine process generates no token: (a) it survived a vk::DeviceLostError, (b)
 *   it entered a graph and did not leave it within max(graph_age, graph_ratio x its slowest), (c)
 *   its device is busy (fdinfo, a running job, KFD queues), and no token was generated and no job
 *   or graph ended within "silent", or 1.1 times the timeout of the ring where its job runs,
 *   (d) its graphs return GGML_STATUS_FAILED, as those of a lost device do with llama.cpp's pull
 *   request 27183, which throws nothing. The first one is checked.
 * Threshold: policies/hazards.conf. A graph that has used half of its limit is level 2, a
 *   precursor. The proof of level 3 is a failed one-token completion, requested at most every 30 s.
 *   The answer of /health is recorded but is no evidence: it is 200 in both cases. An engine that
 *   generates no token is judged by the signal, as one without a port.
 * False alarms: a pause by davylamp (no check, no alarm), a throttle (longer limits), the first
 *   graphs, which compile shaders (first_graph_age), an engine that is loading (503: check again
 *   later), a slow CPU backend (never checked), a handled exception or a single failed graph (the
 *   check returns a token: no hazard; an error that names no failed graph counts only after
 *   failed_graphs of them), a cancelled request or a graph without memory (other results), an
 *   engine without work, long KFD batches, whose end no sensor reports (silent_blind), a check
 *   that waits behind other requests: without an answer in time, the signal must still be there.
 * Test: tests/unit/test_engine_hazards.c, test_failing_graphs.c, test_silent_hang.c,
 *   test_held_engine.c, tests/e2e zombie, graphs and hang.
 */
#include "core/hazard/silence.h"

#include <assert.h>
#include <inttypes.h>

#define CHECK_LOST_NS (60 * DAVY_NS_PER_S) /* after this time a missing answer is given up */
#define WARM_GRAPHS   16  /* each new batch shape compiles shaders; new shapes come first */
#define HTTP_LOADING  503 /* llama-server while it loads its model */
#define AGAIN_NS      (30 * DAVY_NS_PER_S) /* of checks and decisions while wedged */

static bool engine_wedged_on_gpu(const struct davy_process *p)
{
	return p->backend != DAVY_BACKEND_CPU;
}

static uint64_t engine_wedged_limit_ns(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t age_ns = davy_threshold_ns(s, DAVY_CFG_WEDGED_GRAPH_AGE_MS, NULL, p);
	uint64_t ratio = davy_threshold(s, DAVY_CFG_WEDGED_GRAPH_RATIO, NULL, p);
	uint64_t factor = davy_throttle_factor(s, p), slow_ns;

	if (p->graph.graph_count < WARM_GRAPHS)
		return davy_threshold_ns(s, DAVY_CFG_WEDGED_FIRST_GRAPH_MS, NULL, p) * factor;
	slow_ns = p->graph.max_ns > UINT64_MAX / ratio ? UINT64_MAX : p->graph.max_ns * ratio;
	return slow_ns > age_ns * factor ? slow_ns : age_ns * factor;
}

static uint64_t engine_wedged_age_ns(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t since = p->graph.entered_ns;

	if (since && since < p->paused_ns)
		since = p->paused_ns;
	return since && since < s->now_ns ? s->now_ns - since : 0;
}

static bool engine_wedged_graph_stuck(const struct davy_step *s, const struct davy_process *p)
{
	return engine_wedged_on_gpu(p) &&
	       engine_wedged_age_ns(s, p) >= engine_wedged_limit_ns(s, p) &&
	       p->graph.entered_ns > p->checked_ok_ns;
}

static bool engine_wedged_is_silent(const struct davy_step *s, const struct davy_process *p)
{
	uint64_t silent_ns = davy_silent_ns(s, p);

	return silent_ns && silent_ns >= davy_silent_limit_ns(s, p);
}

static uint64_t engine_wedged_failing_limit(const struct davy_step *s, const struct davy_process *p)
{
	return davy_threshold(s, DAVY_CFG_WEDGED_FAILED_GRAPHS, NULL, p);
}

/* The only evidence is that its graphs fail. */
static bool engine_wedged_only_fails(const struct davy_step *s, const struct davy_process *p)
{
	return p->failing_ns && !p->exception_ns && !engine_wedged_graph_stuck(s, p) &&
	       !engine_wedged_is_silent(s, p);
}

/* A graph copy may end unobserved: it is a hazard only if a check proves it. */
static bool engine_wedged_proven(const struct davy_step *s, const struct davy_process *p)
{
	if (engine_wedged_only_fails(s, p))
		return p->graph.failing >= engine_wedged_failing_limit(s, p);
	return p->exception_ns || !p->graph.may_end_unseen || engine_wedged_is_silent(s, p);
}

/* Adds silence as evidence if there is no better one. */
static void engine_wedged_add_silence(const struct davy_step *s, const struct davy_process *p,
				      struct davy_plan *plan)
{
	if (p->exception_ns || engine_wedged_graph_stuck(s, p) || !engine_wedged_is_silent(s, p))
		return;
	plan->unit = DAVY_UNIT_NS;
	plan->observed = davy_silent_ns(s, p);
	plan->threshold = davy_silent_limit_ns(s, p);
	plan->form = DAVY_FORM_SILENT;
	davy_plan_evidence(plan, s->now_ns - plan->observed, DAVY_EV_PROGRESS, 1);
}

static void engine_wedged_add_failures(const struct davy_step *s, const struct davy_process *p,
				       struct davy_plan *plan)
{
	if (!engine_wedged_only_fails(s, p))
		return;
	plan->unit = DAVY_UNIT_COUNT;
	plan->observed = p->graph.failing;
	plan->threshold = engine_wedged_failing_limit(s, p);
	plan->form = DAVY_FORM_FAILING;
	davy_plan_evidence(plan, p->failing_ns, DAVY_EV_GRAPH, p->graph.failing);
}

/* A refusal may have expired: another mode, a new hour. */
static bool engine_wedged_decide_again(struct davy_step *s, const struct davy_process *p)
{
	const struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);

	return w && !w->act_plan && !w->retry_ns && s->now_ns - w->decided_ns >= AGAIN_NS;
}

static void engine_wedged_raise(struct davy_step *s, struct davy_process *p,
				const struct davy_ev_probe *probe)
{
	struct davy_plan note = davy_plan_about(s, DAVY_HZ_ENGINE_WEDGED, p);

	note.level = 3;
	note.device_class = 1;
	if (p->exception_ns) {
		davy_plan_evidence(&note, p->exception_ns, DAVY_EV_THROW, 1);
		davy_copy_name(note.detail, sizeof(note.detail), p->exception);
	}
	if (p->graph.entered_ns) {
		davy_plan_evidence(&note, p->graph.entered_ns, DAVY_EV_GRAPH, 1);
		note.observed = engine_wedged_age_ns(s, p);
		note.threshold = engine_wedged_limit_ns(s, p);
		note.unit = DAVY_UNIT_NS;
	} else {
		note.observed = probe ? probe->completion_status : 0;
		note.threshold = 200;
		note.unit = DAVY_UNIT_HTTP;
	}
	engine_wedged_add_silence(s, p, &note);
	engine_wedged_add_failures(s, p, &note);
	if (probe) {
		note.health_status = probe->health_status;
		note.completion_status = probe->completion_status;
	}
	p->check_due_ns = p->exception_ns || p->failing_ns ? s->now_ns + AGAIN_NS : 0;
	if (davy_alarm_raise(s, &note) || engine_wedged_decide_again(s, p))
		davy_decide_failure(s, p, &note);
}

/* Requests a token if possible and permitted; otherwise decides immediately. */
static void engine_wedged_suspect(struct davy_step *s, struct davy_process *p)
{
	struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);
	struct davy_plan check;

	if ((w && (w->act_plan || w->check_ns)) || davy_is_paused(s, p))
		return;
	if (w && w->checked_ns && s->now_ns - w->checked_ns < AGAIN_NS &&
	    p->checked_ok_ns < w->checked_ns)
		return; /* a recent check failed: its result still applies */
	if (!w || !w->adopted || !(w->port || p->port) ||
	    davy_mode_for(s, w) == DAVY_MODE_OBSERVE) {
		if (engine_wedged_proven(s, p))
			engine_wedged_raise(s, p, NULL);
		return;
	}
	check = davy_plan_about(s, DAVY_HZ_ENGINE_WEDGED, p);
	check.kind = DAVY_PLAN_CHECK;
	check.port = w->port ? w->port : p->port;
	check.level = 1;
	if (p->exception_ns)
		davy_plan_evidence(&check, p->exception_ns, DAVY_EV_THROW, 1);
	check.unit = DAVY_UNIT_HTTP;
	check.threshold = 200;
	if (engine_wedged_graph_stuck(s, p)) {
		check.observed = engine_wedged_age_ns(s, p);
		check.threshold = engine_wedged_limit_ns(s, p);
		check.unit = DAVY_UNIT_NS;
	}
	davy_copy_name(check.detail, sizeof(check.detail), p->exception);
	engine_wedged_add_silence(s, p, &check);
	engine_wedged_add_failures(s, p, &check);
	davy_emit(s, &check);
	p->check_due_ns = 0;
	w->check_ns = w->checked_ns = s->now_ns;
}

/*
 * No answer in time, but what had led to the check has ended meanwhile: its slots are busy with the
 * requests of others, on a host under load.
 */
static bool engine_wedged_runs_on(const struct davy_step *s, const struct davy_process *p,
				  const struct davy_ev_probe *probe)
{
	return !probe->completion_status && !p->exception_ns && !p->failing_ns &&
	       !engine_wedged_graph_stuck(s, p) && !engine_wedged_is_silent(s, p);
}

/*
 * Proves nothing about a failed graph: another error, such as a refused request, or no answer on a
 * host under load. A lost device fails at once.
 */
static bool engine_wedged_other_error(const struct davy_step *s, const struct davy_process *p,
				      const struct davy_ev_probe *probe)
{
	return engine_wedged_only_fails(s, p) && !engine_wedged_proven(s, p) &&
	       !(probe->flags & DAVY_PROBE_COMPUTE_FAILED);
}

static void engine_wedged_look_at_probe(struct davy_step *s)
{
	const struct davy_ev_probe *probe = &s->ev->probe;
	struct davy_workload *w = davy_world_workload(&s->core->world, probe->workload);
	struct davy_process *p = w ? davy_world_process(&s->core->world, w->pid) : NULL;

	if (!w || !w->check_ns)
		return;
	w->check_ns = 0;
	if (!p)
		return; /* it ended meanwhile: see runner_crash */
	if (p->paused_ns >= w->checked_ns) {
		w->checked_ns = 0; /* a pause prevented the answer: check again */
		p->check_due_ns = p->exception_ns ? s->now_ns : 0;
		return;
	}
	if (probe->completion_status == 200 && probe->token_count) {
		p->checked_ok_ns = s->now_ns;
		p->exception_ns = p->failing_ns = p->check_due_ns = 0;
		w->retry_ns = 0;
		return;
	}
	if (probe->health_status == HTTP_LOADING && !p->exception_ns)
		return; /* still loading; a stuck graph triggers another check */
	if (engine_wedged_runs_on(s, p, probe)) {
		w->checked_ns = 0; /* the next stuck graph is checked at once */
		return;
	}
	if (probe->completion_status == DAVY_PROBE_ALIVE) { /* no token can prove that it works */
		if (engine_wedged_proven(s, p))
			engine_wedged_raise(s, p, NULL);
		return;
	}
	if (!engine_wedged_other_error(s, p, probe))
		engine_wedged_raise(s, p, probe);
	else if (!probe->completion_status)
		p->check_due_ns = s->now_ns + AGAIN_NS; /* nothing is known yet */
}

static void engine_wedged_look_at_tick(struct davy_step *s)
{
	struct davy_world *world = &s->core->world;
	struct davy_process *p;
	size_t at = 0;

	for (size_t i = 0; world->workload_count && i < DAVY_WORLD_WORKLOADS; i++) {
		struct davy_workload *w = &world->workloads[i];

		if (w->check_ns && s->now_ns - w->check_ns >= CHECK_LOST_NS)
			w->check_ns = 0;
	}
	while ((p = davy_world_process_next(world, &at))) {
		if (davy_is_paused(s, p))
			p->paused_ns = s->now_ns;
		if ((p->check_due_ns && s->now_ns >= p->check_due_ns) ||
		    (p->engine != DAVY_ENGINE_NONE && engine_wedged_is_silent(s, p)))
			engine_wedged_suspect(s, p);
	}
}

/* Checks an engine after the first graph that fails, and forgets it after one that succeeds. */
static void engine_wedged_look_at_result(struct davy_step *s, struct davy_process *p)
{
	if (!p->graph.failing || !engine_wedged_on_gpu(p)) {
		if (p->failing_ns && !p->exception_ns)
			p->check_due_ns = 0;
		p->failing_ns = 0;
		return;
	}
	if (!p->failing_ns) {
		p->failing_ns = s->now_ns;
		if (!p->exception_ns) {
			p->lost_batch = p->life.batch;
			p->lost_depth = p->life.progress.depth;
		}
	}
	if (!p->check_due_ns)
		p->check_due_ns =
			s->now_ns + davy_threshold_ns(s, DAVY_CFG_EXCEPTION_GRACE_MS, NULL, p);
}

/* A graph has used half of its limit: a precursor, and no reason for a check. */
static void engine_wedged_warn(struct davy_step *s, const struct davy_process *p)
{
	uint64_t limit_ns = engine_wedged_limit_ns(s, p) / 2;
	struct davy_plan note;

	if (!engine_wedged_on_gpu(p) || p->graph.may_end_unseen ||
	    p->graph.graph_count < WARM_GRAPHS || p->graph.entered_ns <= p->checked_ok_ns ||
	    engine_wedged_age_ns(s, p) < limit_ns || davy_is_paused(s, p))
		return;
	note = davy_plan_about(s, DAVY_HZ_ENGINE_WEDGED, p);
	note.level = 2;
	note.form = DAVY_FORM_SLOW;
	note.device_class = 1;
	davy_plan_evidence(&note, p->graph.entered_ns, DAVY_EV_GRAPH, 1);
	note.observed = engine_wedged_age_ns(s, p);
	note.threshold = limit_ns;
	note.unit = DAVY_UNIT_NS;
	davy_alarm_raise(s, &note);
}

static void engine_wedged_look(struct davy_step *s)
{
	struct davy_process *p;

	assert(s->ev->kind == DAVY_EV_TICK || s->ev->kind == DAVY_EV_GRAPH ||
	       s->ev->kind == DAVY_EV_PROBE);
	if (s->ev->kind == DAVY_EV_TICK) {
		engine_wedged_look_at_tick(s);
		return;
	}
	if (s->ev->kind == DAVY_EV_PROBE) {
		engine_wedged_look_at_probe(s);
		return;
	}
	p = davy_world_process(&s->core->world, s->ev->pid);
	if (!p || p->engine == DAVY_ENGINE_NONE)
		return;
	engine_wedged_look_at_result(s, p);
	if (engine_wedged_graph_stuck(s, p))
		engine_wedged_suspect(s, p);
	else
		engine_wedged_warn(s, p);
}

static void engine_wedged_reason(const struct davy_plan *p, struct davy_clause *c)
{
	uint64_t ms = p->observed / DAVY_NS_PER_MS, limit_ms = p->threshold / DAVY_NS_PER_MS;
	const char *type = c->type(c, p->detail);

	if (p->form == DAVY_FORM_SILENT)
		c->say(c,
		       "GPU busy for %" PRIu64 " ms without a token, a finished job or a finished "
		       "graph (limit %" PRIu64 " ms)",
		       ms, limit_ms);
	else if (p->form == DAVY_FORM_FAILING)
		c->say(c, "%" PRIu64 " graph%s failed and none succeeded since", p->observed,
		       p->observed == 1 ? "" : "s");
	else if (p->unit == DAVY_UNIT_NS)
		c->say(c, "a graph has run for %" PRIu64 " ms (limit %" PRIu64 " ms)", ms,
		       limit_ms);
	else
		c->say(c, "still runs after %s", type[0] ? type : "a device failure");
	if (p->kind == DAVY_PLAN_CHECK || (!p->health_status && !p->completion_status))
		return;
	if (!p->completion_status)
		c->say(c, "; no token in time, while /health returned %u", p->health_status);
	else
		c->say(c, "; one-token completion got HTTP %u, while /health returned %u",
		       p->completion_status, p->health_status);
}

/* A wedged engine stays so until it gives a token or ends: silence is no recovery. */
static bool engine_wedged_stands(const struct davy_step *s, const struct davy_plan *note)
{
	const struct davy_process *p = davy_world_process(&s->core->world, note->pid);

	if (!p || davy_gave_token(p, note->at_ns))
		return false;
	if (note->form == DAVY_FORM_SLOW)
		return p->graph.entered_ns && p->graph.entered_ns < note->at_ns;
	if (note->form == DAVY_FORM_FAILING)
		return p->failing_ns;
	return note->form != DAVY_FORM_SILENT || p->life.done_ns < note->at_ns;
}

const struct davy_hazard_row davy_hazard_engine_wedged = {
	.sees = DAVY_SEES(DAVY_EV_TICK) | DAVY_SEES(DAVY_EV_GRAPH) | DAVY_SEES(DAVY_EV_PROBE),
	.look = engine_wedged_look,
	.reason = engine_wedged_reason,
	.precursor.fails_as = DAVY_CLASS_HANG,
	.precursor.leads = DAVY_CAN_NOT_ANSWER | DAVY_CAN_PAGE_FAULT | DAVY_CAN_HOST_CRASH,
	.precursor.forms = 1 << DAVY_FORM_SLOW,
	.precursor.horizon = DAVY_CFG_FORESIGHT_HORIZON_MS,
	.of_failed_engine = true,
	.until_token = true,
	.engine_fails = 3,
	.stands = engine_wedged_stands,
};
