/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions, from the plan to the outcome. A failed engine is restarted after a plain crash. It
 * moves to the CPU when the device or its driver failed or the breaker is open. It is
 * quarantined when the breaker opens repeatedly and the engine cannot move. One action at a time
 * for each workload. Every refusal is a plan with its reason.
 */
#include "core/action/acts.h"

#include <assert.h>
#include <string.h>

#define ENDED	      (-10)  /* ECHILD, the same number wherever it is replayed */
#define STALE	      (-116) /* -ESTALE: the process of the plan is not the workload's any more */
#define SMALLER_TRIES 2	     /* consecutive, before the device counts as bad */
/* A freeze takes milliseconds, or fails. */
#define FREEZE_ANSWER_NS (5 * DAVY_NS_PER_S)

static void decide_begin(struct davy_step *s, struct davy_workload *w, const struct davy_plan *plan)
{
	assert(!w->act_plan);
	davy_spend(s, w, plan);
	w->act_plan = plan->id;
	w->act_action = plan->action;
	w->act_hazard = plan->hazard;
	w->act_undo = plan->action == DAVY_ACTION_UNDO ? plan->undone : DAVY_ACTION_NONE;
	w->act_from = w->backend;
	w->act_to = plan->to_backend;
	memcpy(w->act_device, w->device, sizeof(w->act_device));
	w->act_renews = w->freeze_plan && w->freeze_action == plan->action &&
			w->freeze_permille == plan->on_permille;
	w->act_permille = plan->on_permille;
	w->act_settings = plan->settings;
	w->act_lease_ns = plan->lease_ns;
	w->act_until_ns = plan->until_ns;
	w->act_tuning = plan->tuning;
	w->act_pid_before = w->pid;
	w->act_ns = s->now_ns;
	w->first_precursor_ns = plan->first_precursor_ns;
	w->stopped_ns = 0;
	w->act_started = 0;
	w->retry_ns = 0;
	w->given_up = DAVY_REFUSED_NOT;
}

/*
 * A trace refers to an act by its number. The number counts the acts of this workload only, so that
 * it stays the same with other thresholds and with the hazards of a later build.
 */
static uint32_t act_number(struct davy_workload *w)
{
	return (w->id << 16) + w->act_count++ % 0xffff + 1;
}

/* Retry when the back-off is over. A hazard that stands needs no retry: it escalates again. */
static void put_off(struct davy_step *s, struct davy_workload *w, struct davy_plan *plan)
{
	plan->until_ns = davy_backoff_end_ns(s, w);
	if (!davy_action_has(plan->action, DAVY_ACTS_RETRIED) &&
	    (plan->action != DAVY_ACTION_SHRINK || !s->hazards[plan->hazard]->of_failed_engine))
		return;
	w->retry_settings = plan->settings;
	w->retry_tuning = plan->tuning;
	w->retry_ns = plan->until_ns;
	w->retry_set_ns = s->now_ns;
	w->retry_action = plan->action;
	w->retry_hazard = plan->hazard;
}

/* Its process is gone, or the event is its end. */
static bool serves_nobody(struct davy_step *s, const struct davy_workload *w)
{
	return !davy_world_process(&s->core->world, w->pid) ||
	       (s->ev->kind == DAVY_EV_PROCESS_EXIT && s->ev->pid == w->pid);
}

/* A refusal that no later event changes. The hazard given_up reports it. */
static void decide_give_up(struct davy_step *s, struct davy_workload *w,
			   const struct davy_plan *plan)
{
	bool final = plan->refusal == DAVY_REFUSED_BUDGET ||
		     plan->refusal == DAVY_REFUSED_HOST_BUDGET ||
		     plan->refusal == DAVY_REFUSED_UNABLE;

	if (!final || !davy_action_replaces(plan->action) || !serves_nobody(s, w))
		return;
	w->given_up = plan->refusal;
	w->given_up_action = plan->action;
}

void davy_propose(struct davy_step *s, struct davy_workload *w, struct davy_plan *plan)
{
	enum davy_refusal refusal = davy_admission(s, w, plan);

	plan->kind = DAVY_PLAN_ACTION;
	plan->refusal = (uint8_t)refusal;
	plan->verdict = refusal ? DAVY_VERDICT_REFUSED : DAVY_VERDICT_GO;
	if (!refusal && davy_mode_for(s, w) == DAVY_MODE_ADVISE)
		plan->verdict = DAVY_VERDICT_ADVISED;
	if (w && davy_action_replaces(plan->action) && plan->action != DAVY_ACTION_SHRINK)
		plan->settings = w->settings;
	if (w && refusal == DAVY_REFUSED_BACKOFF)
		put_off(s, w, plan);
	if (w && refusal)
		decide_give_up(s, w, plan);
	if (!w || plan->verdict != DAVY_VERDICT_GO) {
		davy_emit(s, plan);
		return;
	}
	davy_emit_as(s, plan, act_number(w));
	davy_tuned_take(s, w, plan);
	decide_begin(s, w, plan);
}

static enum davy_action decide_action_for_failure(struct davy_step *s, const struct davy_process *p,
						  const struct davy_workload *w, bool open,
						  uint64_t *until_ns)
{
	uint64_t limit = davy_config_u64(&s->core->config, DAVY_CFG_BREAKER_QUARANTINE);

	if (open && p->backend != DAVY_BACKEND_CPU && (!w || w->movable))
		return DAVY_ACTION_MIGRATE_CPU;
	if (open && w && davy_breaker_openings(s->core, p, until_ns) >= limit)
		return DAVY_ACTION_QUARANTINE;
	return DAVY_ACTION_RESTART;
}

/* A smaller ubatch does not help a process that died with a smaller batch. */
static bool could_matter(const struct davy_process *p, const struct davy_plan *plan)
{
	return plan->tuning.setting != DAVY_TUNER_UBATCH || p->lost_batch > plan->settings.ubatch;
}

/*
 * One failure shows a limit of the device, not that it is bad. A device is bad if smaller settings
 * fail as well, and not later.
 */
static bool setting_is_to_blame(struct davy_step *s, struct davy_workload *w,
				const struct davy_process *p, struct davy_plan *plan)
{
	bool load = davy_load_refused(s, p) && !p->exception_ns;
	struct davy_plan lower = *plan;

	if (!davy_tuned_trouble(s, w, p, plan) || !plan->device_class ||
	    (!p->exception_ns && !load && plan->form != DAVY_FORM_FAILING))
		return false;
	if (w->deepest > w->lost_depth)
		w->lost_count = 0;
	if (w->lost_count >= SMALLER_TRIES || !davy_tuned_lower(s, w, p, &lower) ||
	    !could_matter(p, &lower) || (load && lower.tuning.setting != DAVY_TUNER_LAYERS))
		return false;
	*plan = lower;
	w->lost_count++;
	w->lost_depth = p->lost_depth;
	return true;
}

void davy_decide_failure(struct davy_step *s, const struct davy_process *p,
			 const struct davy_plan *note)
{
	struct davy_workload *w = davy_world_workload(&s->core->world, p->workload);
	struct davy_plan plan = *note;
	uint64_t until_ns = 0;

	plan.at_ns = s->now_ns;
	if (w && setting_is_to_blame(s, w, p, &plan))
		plan.action = DAVY_ACTION_SHRINK;
	else
		plan.action = (uint8_t)decide_action_for_failure(
			s, p, w, davy_breaker_failure(s, p, note), &until_ns);
	/* The restart is needed anyway: use the settings that answer the failure. */
	if (plan.action == DAVY_ACTION_RESTART && w && davy_tuned_lower(s, w, p, &plan))
		plan.action = DAVY_ACTION_SHRINK;
	if (plan.action == DAVY_ACTION_QUARANTINE)
		plan.until_ns = until_ns;
	if (w) {
		w->decided_ns = s->now_ns;
		if (note->unit == DAVY_UNIT_STATUS)
			w->crash_status = (int32_t)note->observed;
		davy_effects_troubled(s, w);
	}
	if (w && w->port)
		plan.port = w->port;
	davy_propose(s, w, &plan);
}

struct davy_plan davy_plan_for(struct davy_step *s, const struct davy_workload *w,
			       enum davy_action action, uint8_t hazard)
{
	struct davy_plan plan =
		davy_plan_about(s, DAVY_HZ_NONE, davy_world_process(&s->core->world, w->pid));

	plan.hazard = hazard;
	plan.kind = DAVY_PLAN_ACTION;
	plan.action = (uint8_t)action;
	plan.workload = w->id;
	plan.pid = w->pid;
	plan.engine = w->engine;
	plan.backend = w->backend;
	plan.port = w->port;
	memcpy(plan.device, w->device, sizeof(plan.device));
	memcpy(plan.model, w->model, sizeof(plan.model));
	if (w->first_precursor_ns)
		plan.first_precursor_ns = w->first_precursor_ns;
	if (hazard == DAVY_HZ_RUNNER_CRASH && w->crash_status) {
		plan.unit = DAVY_UNIT_STATUS;
		plan.observed = (uint32_t)w->crash_status;
	}
	return plan;
}

/* The exit event says how the new process ended; from the agent's report it is not known. */
static void decide_say_end(const struct davy_step *s, struct davy_plan *plan)
{
	bool known = s->ev->kind == DAVY_EV_PROCESS_EXIT;

	plan->unit = known ? DAVY_UNIT_STATUS : DAVY_UNIT_COUNT;
	plan->observed = known ? (uint32_t)s->ev->process_exit.status : 0;
}

static void say_outcome(struct davy_step *s, const struct davy_workload *w, int32_t result)
{
	struct davy_plan plan = davy_plan_for(s, w, (enum davy_action)w->act_action, w->act_hazard);

	plan.kind = DAVY_PLAN_OUTCOME;
	plan.tuning = w->act_tuning;
	if (plan.tuning.why && !plan.backend) /* the new process has not used one yet */
		plan.backend = w->act_to ? w->act_to : w->act_from;
	plan.result = result;
	if (result == ENDED)
		decide_say_end(s, &plan);
	plan.stopped_ns = w->stopped_ns;
	davy_emit(s, &plan);
}

static bool lives(struct davy_step *s, uint32_t pid)
{
	return davy_world_process(&s->core->world, pid) != NULL;
}

/*
 * The next action if nothing serves after the failed one. A restart, a move to the CPU and smaller
 * settings follow each other, with back-off and within the budget, until one serves.
 */
static enum davy_action action_after(struct davy_step *s, struct davy_workload *w)
{
	const struct davy_action_row *row = davy_action_row(s, w->act_action);
	enum davy_action next = davy_action_replaces(w->act_undo) ? DAVY_ACTION_RESTART : row->next;
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);
	struct davy_plan smaller;

	if (w->act_action == DAVY_ACTION_SHRINK && w->movable && p && davy_load_refused(s, p))
		return DAVY_ACTION_MIGRATE_CPU; /* it does not fit on the GPU */

	if (row->next_at_once && w->movable)
		return next;
	if (row->next_at_once)
		next = DAVY_ACTION_RESTART;
	if (lives(s, w->act_pid_before) && next)
		w->pid = w->act_pid_before;
	if (lives(s, w->act_pid_before) && !s->hazards[w->act_hazard]->until_token)
		return DAVY_ACTION_NONE;
	smaller = davy_plan_for(s, w, DAVY_ACTION_SHRINK, w->act_hazard);
	if (w->act_action == DAVY_ACTION_MIGRATE_CPU && w->can & DAVY_CAN_SHRINK &&
	    davy_measure(s, w, &smaller))
		return DAVY_ACTION_SHRINK;
	return next;
}

/* An operator's action has no budget; what follows its failure has one, or it would loop. */
static void decide_next(struct davy_step *s, struct davy_workload *w, enum davy_action next,
			uint8_t hazard)
{
	struct davy_plan plan;

	if (!hazard && next != DAVY_ACTION_MIGRATE_CPU)
		hazard = DAVY_HZ_RUNNER_CRASH;
	plan = davy_plan_for(s, w, next, hazard);
	if (next == DAVY_ACTION_SHRINK)
		davy_measure(s, w, &plan);
	davy_propose(s, w, &plan);
}

/* A replacement that the supervisor reports at once was not measured. */
static void decide_replaced(struct davy_step *s, struct davy_workload *w)
{
	w->replaced_ns = s->now_ns;
	w->start_ns = s->now_ns - w->act_ns;
}

static void outcome(struct davy_step *s, struct davy_workload *w, int32_t result)
{
	uint8_t hazard = w->act_hazard;
	enum davy_action next = DAVY_ACTION_NONE;

	if (result || !w->act_renews)
		say_outcome(s, w, result);
	if (!result && davy_action_has(w->act_action, DAVY_ACTS_AVERTS))
		davy_foresight_acted(s, w);
	w->act_plan = 0;
	if (result || !w->act_renews)
		w->act_end_ns = s->now_ns;
	w->deepest = 0;
	if (result)
		davy_tuned_failed(s, w, result);
	if (w->act_action == DAVY_ACTION_UNDO)
		davy_effect_taken_back(s, w, result);
	else if (!result)
		davy_effect_add(w);
	if (!result && (davy_action_replaces(w->act_action) || davy_action_replaces(w->act_undo)))
		decide_replaced(s, w);
	w->act_ns = 0;
	if (result == STALE) /* about an engine that was replaced: nothing follows */
		return;
	if (result)
		next = action_after(s, w);
	if (next != DAVY_ACTION_NONE)
		decide_next(s, w, next, hazard);
	else if (result)
		davy_escalation_go_on(s, w, hazard);
}

static void decide_started(struct davy_workload *w, uint32_t pid)
{
	w->act_started = 1;
	if (pid)
		w->pid = pid;
}

/* A replacement that ends before its first token has failed: do not wait for the timeout. */
void davy_decide_exit(struct davy_step *s)
{
	for (size_t i = 0; s->core->world.workload_count && i < DAVY_WORLD_WORKLOADS; i++) {
		struct davy_workload *w = &s->core->world.workloads[i];

		if (w->act_plan && w->act_started && w->pid == s->ev->pid)
			outcome(s, w, ENDED);
	}
}

static void decide_held(struct davy_step *s, struct davy_workload *w)
{
	bool pause = w->act_action == DAVY_ACTION_PAUSE;

	if (davy_action_freezes(w->act_action))
		davy_effect_frozen(s, w);
	outcome(s, w, 0);
	if (pause)
		davy_escalation_after_pause(s, w, true);
}

/* The freeze ended: by its lease, or by the act under way. */
static void decide_released(struct davy_step *s, struct davy_workload *w)
{
	bool asked = w->act_plan == s->ev->act.plan;
	bool pause = w->freeze_action == DAVY_ACTION_PAUSE;

	if (!asked || davy_action_freezes(w->act_undo))
		davy_effect_thawed(s, w);
	if (asked)
		outcome(s, w, 0);
	else if (pause)
		davy_escalation_after_pause(s, w, false);
}

void davy_decide_act(struct davy_step *s)
{
	const struct davy_ev_act *act = &s->ev->act;
	struct davy_workload *w = davy_world_workload(&s->core->world, act->workload);

	if (!w || !act->plan)
		return;
	if (act->stage == DAVY_ACT_RELEASED &&
	    (w->act_plan == act->plan || w->freeze_plan == act->plan))
		decide_released(s, w);
	else if (w->act_plan != act->plan)
		return;
	else if (act->stage == DAVY_ACT_STOPPED)
		w->stopped_ns = s->now_ns;
	else if (act->stage == DAVY_ACT_STARTED)
		decide_started(w, s->ev->pid);
	else if (act->stage == DAVY_ACT_IN_FORCE)
		decide_held(s, w);
	else if (act->stage == DAVY_ACT_SERVING)
		outcome(s, w, 0);
	else if (act->stage == DAVY_ACT_FAILED)
		outcome(s, w, act->result ? act->result : -1);
}

/* A retry runs only while its reason stands. */
static bool still_wanted(struct davy_step *s, const struct davy_workload *w)
{
	const struct davy_process *p = davy_world_process(&s->core->world, w->pid);

	if (p && s->hazards[w->retry_hazard]->until_token)
		return !davy_gave_token(p, w->retry_set_ns);
	return !p; /* it has ended, and no new process has started */
}

static uint64_t patience_ns(const struct davy_step *s, const struct davy_workload *w)
{
	return davy_action_freezes(w->act_action)
		       ? FREEZE_ANSWER_NS
		       : davy_config_ns(&s->core->config, DAVY_CFG_ACT_TIMEOUT_MS);
}

void davy_decide_tick(struct davy_step *s)
{
	if (!s->core->world.workload_count)
		return;

	for (size_t i = 0; i < DAVY_WORLD_WORKLOADS && s->count + DAVY_PLANS_SPARE <= s->max; i++) {
		struct davy_workload *w = &s->core->world.workloads[i];
		struct davy_plan plan;

		if (!w->id)
			continue;
		if (w->act_plan && s->now_ns - w->act_ns >= patience_ns(s, w))
			outcome(s, w,
				-110 /* ETIMEDOUT, the same number wherever it is replayed */);
		davy_effect_renew(s, w);
		davy_tuned_tick(s, w);
		davy_effects_tick(s, w);
		if (!w->retry_ns || s->now_ns < w->retry_ns)
			continue;
		w->retry_ns = 0;
		if (!still_wanted(s, w))
			continue;
		plan = davy_plan_for(s, w, (enum davy_action)w->retry_action, w->retry_hazard);
		if (plan.action == DAVY_ACTION_SHRINK) {
			plan.settings = w->retry_settings;
			plan.tuning = w->retry_tuning;
		}
		davy_propose(s, w, &plan);
	}
}
