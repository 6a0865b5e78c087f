/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ladder: which rung a failed engine gets, and whether it may be carried out. Restart for a
 * plain crash, strictly the CPU when the device or its driver failed or the breaker is open.
 * Consent (mode, adoption), one act at a time, exponential back-off, an hourly budget; every
 * refusal is a plan with its reason.
 */
#include "hazards.h"

#include <assert.h>
#include <string.h>

#define HOUR_NS (3600 * DL_NS_PER_S)

static uint64_t backoff_ns(const struct dl_config *config, uint32_t count)
{
	uint64_t base = dl_config_ns(config, DL_CFG_RESTART_BACKOFF_MS);
	uint64_t most = dl_config_ns(config, DL_CFG_RESTART_BACKOFF_MAX_MS);

	for (uint32_t i = 1; i < count && base < most; i++)
		base *= 2;
	return base < most ? base : most;
}

static enum dl_refusal may_act(struct dl_step *s, struct dl_workload *w)
{
	const struct dl_config *config = &s->core->config;

	if (config->value[DL_CFG_MODE] == DL_MODE_OBSERVE)
		return DL_REFUSED_MODE;
	if (!w || !w->adopted)
		return DL_REFUSED_NOT_ADOPTED;
	if (w->act_plan)
		return DL_REFUSED_BUSY;
	if (s->now_ns - w->hour_ns >= HOUR_NS) {
		w->hour_ns = s->now_ns;
		w->hour_count = 0;
	}
	if (w->hour_count >= dl_config_u64(config, DL_CFG_ACTS_PER_HOUR))
		return DL_REFUSED_BUDGET;
	if (w->last_act_ns &&
	    s->now_ns - w->last_act_ns > dl_config_ns(config, DL_CFG_RESTART_FORGET_MS))
		w->restart_count = 0;
	if (w->restart_count && s->now_ns < w->last_act_ns + backoff_ns(config, w->restart_count))
		return DL_REFUSED_BACKOFF;
	return DL_REFUSED_NOT;
}

static void begin(struct dl_step *s, struct dl_workload *w, const struct dl_plan *plan)
{
	assert(!w->act_plan);
	w->act_plan = plan->id;
	w->act_rung = plan->rung;
	w->act_hazard = plan->hazard;
	w->act_ns = w->last_act_ns = s->now_ns;
	w->first_sign_ns = plan->first_sign_ns;
	w->stopped_ns = 0;
	w->act_started = 0;
	w->retry_ns = 0;
	w->hour_count++;
	w->restart_count++;
}

/* Puts the plan out with its verdict, and marks the workload when it is to be carried out. */
static void propose(struct dl_step *s, struct dl_workload *w, struct dl_plan *plan)
{
	enum dl_refusal refusal = may_act(s, w);

	plan->refusal = (uint8_t)refusal;
	plan->verdict = refusal ? DL_VERDICT_REFUSED : DL_VERDICT_GO;
	if (!refusal && s->core->config.value[DL_CFG_MODE] == DL_MODE_ADVISE)
		plan->verdict = DL_VERDICT_ADVISED;
	if (w && refusal == DL_REFUSED_BACKOFF) {
		plan->until_ns = w->last_act_ns + backoff_ns(&s->core->config, w->restart_count);
		w->retry_ns = plan->until_ns;
		w->retry_set_ns = s->now_ns;
		w->retry_rung = plan->rung;
		w->retry_hazard = plan->hazard;
	}
	dl_emit(s, plan);
	if (w && plan->verdict == DL_VERDICT_GO)
		begin(s, w, plan);
}

void dl_decide_failure(struct dl_step *s, const struct dl_process *p, const struct dl_plan *note)
{
	struct dl_workload *w = dl_world_workload(&s->core->world, p->workload);
	bool open = dl_breaker_failure(s, p, note);
	struct dl_plan plan = *note;

	plan.at_ns = s->now_ns;
	plan.rung = DL_RUNG_RESTART;
	if (open && p->backend != DL_BACKEND_CPU && (!w || w->movable))
		plan.rung = DL_RUNG_MIGRATE_CPU;
	if (w)
		w->decided_ns = s->now_ns;
	if (w && w->port)
		plan.port = w->port;
	propose(s, w, &plan);
}

static struct dl_plan plan_for(struct dl_step *s, const struct dl_workload *w, enum dl_rung rung,
			       uint8_t hazard)
{
	struct dl_plan plan =
		dl_plan_about(s, DL_HZ_NONE, dl_world_process(&s->core->world, w->pid));

	plan.hazard = hazard;
	plan.rung = (uint8_t)rung;
	plan.workload = w->id;
	plan.pid = w->pid;
	plan.engine = w->engine;
	plan.backend = w->backend;
	plan.port = w->port;
	memcpy(plan.device, w->device, sizeof(plan.device));
	memcpy(plan.model, w->model, sizeof(plan.model));
	if (w->first_sign_ns)
		plan.first_sign_ns = w->first_sign_ns;
	return plan;
}

static void outcome(struct dl_step *s, struct dl_workload *w, int32_t result)
{
	struct dl_plan plan = plan_for(s, w, DL_RUNG_OUTCOME, w->act_hazard);
	uint8_t rung = w->act_rung;

	plan.level = rung; /* which rung has ended */
	plan.result = result;
	plan.stopped_ns = w->stopped_ns;
	dl_emit(s, &plan);
	w->act_plan = 0;
	w->act_ns = 0;
	if (!result || rung != DL_RUNG_RESTART || !w->movable)
		return;
	plan = plan_for(s, w, DL_RUNG_MIGRATE_CPU, w->act_hazard); /* the next rung up */
	propose(s, w, &plan);
}

static void started(struct dl_workload *w, uint32_t pid)
{
	w->act_started = 1;
	if (pid)
		w->pid = pid;
}

/* A replacement that ends before it gave a token: nothing more to wait for. */
void dl_decide_exit(struct dl_step *s)
{
	for (size_t i = 0; i < DL_WORLD_WORKLOADS; i++) {
		struct dl_workload *w = &s->core->world.workloads[i];

		if (w->act_plan && w->act_started && w->pid == s->ev->pid)
			outcome(s, w, -10 /* ECHILD */);
	}
}

void dl_decide_act(struct dl_step *s)
{
	const struct dl_ev_act *act = &s->ev->act;
	struct dl_workload *w = dl_world_workload(&s->core->world, act->workload);

	if (!w || !w->act_plan || w->act_plan != act->plan)
		return;
	if (act->stage == DL_ACT_STOPPED)
		w->stopped_ns = s->now_ns;
	else if (act->stage == DL_ACT_STARTED)
		started(w, s->ev->pid);
	else if (act->stage == DL_ACT_SERVING)
		outcome(s, w, 0);
	else if (act->stage == DL_ACT_FAILED)
		outcome(s, w, act->result ? act->result : -1);
}

/* What was put off is done only while its reason stands. */
static bool still_wanted(struct dl_step *s, const struct dl_workload *w)
{
	const struct dl_process *p = dl_world_process(&s->core->world, w->pid);

	if (w->retry_hazard == DL_HZ_ENGINE_WEDGED)
		return p && p->checked_ok_ns < w->retry_set_ns;
	return !p; /* after a crash: nobody has started it meanwhile */
}

void dl_decide_tick(struct dl_step *s)
{
	uint64_t patience_ns = dl_config_ns(&s->core->config, DL_CFG_ACT_TIMEOUT_MS);

	for (size_t i = 0; i < DL_WORLD_WORKLOADS && s->count + DL_PLANS_SPARE <= s->max; i++) {
		struct dl_workload *w = &s->core->world.workloads[i];
		struct dl_plan plan;

		if (w->act_plan && s->now_ns - w->act_ns >= patience_ns)
			outcome(s, w,
				-110 /* ETIMEDOUT, the same number wherever it is replayed */);
		if (!w->retry_ns || s->now_ns < w->retry_ns)
			continue;
		w->retry_ns = 0;
		if (!still_wanted(s, w))
			continue;
		plan = plan_for(s, w, w->retry_rung, w->retry_hazard);
		propose(s, w, &plan);
	}
}
