/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to the core: from a hazard to an act and back. escalation.c chooses the workload and the
 * action, actions.c has a row for each action, sizing.c sets its size, admission.c checks whether
 * it may run, decide.c issues it and follows it to its end, effects.c tracks effects in force and
 * undoes them. Only core/ includes this.
 */
#ifndef DAVY_ACTS_H
#define DAVY_ACTS_H

#include "core/action/actions.h"
#include "core/score/incident.h"

/*
 * admission.c: mode, adoption, pins, other managers, abilities of the workload, the price, which it
 * sets, one at a time, budgets.
 */
enum davy_refusal davy_admission(struct davy_step *s, struct davy_workload *w,
				 struct davy_plan *plan);

/* The mode of the workload by the administrator's rules, else of the host; "w" may be NULL. */
enum davy_mode davy_mode_for(const struct davy_step *s, const struct davy_workload *w);

uint64_t davy_backoff_end_ns(const struct davy_step *s, const struct davy_workload *w);
void davy_spend(struct davy_step *s, struct davy_workload *w, const struct davy_plan *plan);

/*
 * The engine process of "note" has failed. Counts it in the breaker, chooses the action, checks
 * admission and budgets, and issues the plan, refused or not.
 */
void davy_decide_failure(struct davy_step *s, const struct davy_process *p,
			 const struct davy_plan *note);
void davy_decide_act(struct davy_step *s);
void davy_decide_exit(struct davy_step *s);
void davy_decide_tick(struct davy_step *s);
void davy_decide_order(struct davy_step *s); /* order.c */

/* decide.c: plans for a workload; issuing one with the verdict "go" begins it. */
struct davy_plan davy_plan_for(struct davy_step *s, const struct davy_workload *w,
			       enum davy_action action, uint8_t hazard);
void davy_propose(struct davy_step *s, struct davy_workload *w, struct davy_plan *plan);

/* sizing.c: the functions "size" of the rows of actions.c. */
bool davy_size_restart(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
bool davy_size_migrate_cpu(struct davy_step *s, const struct davy_workload *w,
			   struct davy_plan *plan);
bool davy_size_pause(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
bool davy_size_throttle(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
bool davy_size_shrink(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
bool davy_size_cap(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);
bool davy_size_switch(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);

/*
 * price.c: sets the price of the action and the expected harm of the failure. False: the price is
 * higher. Actions after a failure, of operators and undos have no price.
 */
bool davy_price(const struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);

/* The row's "size", and whether the old process continues to serve. */
bool davy_measure(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);

/* effects.c */
void davy_effect_add(struct davy_workload *w);
void davy_effect_restored(struct davy_step *s); /* an earlier agent's effect, from its supervisor */
void davy_effect_taken_back(struct davy_step *s, struct davy_workload *w, int32_t result);
bool davy_effect_measure_undo(struct davy_step *s, const struct davy_workload *w,
			      struct davy_plan *plan);
void davy_effects_troubled(struct davy_step *s, struct davy_workload *w);
void davy_effects_tick(struct davy_step *s, struct davy_workload *w);
void davy_effect_frozen(struct davy_step *s, struct davy_workload *w);
void davy_effect_thawed(struct davy_step *s, struct davy_workload *w);
void davy_effect_renew(struct davy_step *s, struct davy_workload *w);

/* tuned.c: the tuner of a workload's settings. False: no tuner, or no setting is the reason. */
void davy_tuned_restore(struct davy_step *s);
bool davy_tuned_trouble(struct davy_step *s, const struct davy_workload *w,
			const struct davy_process *p, const struct davy_plan *note);

/* Set the settings and their reason; false: the tuner has no lower, or higher, ones now. */
bool davy_tuned_lower(struct davy_step *s, const struct davy_workload *w,
		      const struct davy_process *p, struct davy_plan *plan);
bool davy_tuned_raise(struct davy_step *s, const struct davy_workload *w, struct davy_plan *plan);

/* The workload returns: use the settings that answer the failure for which it was moved. */
void davy_tuned_come_back(struct davy_step *s, const struct davy_workload *w, uint8_t backend,
			  struct davy_plan *plan);

/* The plan with the tuner's answer runs; the act has failed; an operator overrides it. */
void davy_tuned_take(struct davy_step *s, const struct davy_workload *w,
		     const struct davy_plan *plan);
void davy_tuned_failed(struct davy_step *s, const struct davy_workload *w, int32_t result);
void davy_tuned_forget(struct davy_step *s, const struct davy_workload *w);
bool davy_tuned_knows(const struct davy_step *s, const struct davy_workload *w);
void davy_tuned_tick(struct davy_step *s, const struct davy_workload *w);

/* No setting of the agent reduces it. */
uint32_t davy_ubatch_floor(const struct davy_step *s, const struct davy_workload *w);

/* escalation.c */
void davy_escalation_raised(struct davy_step *s, struct davy_alarm *a);
void davy_escalation_tick(struct davy_step *s);

/* An act of the hazard has failed: the next action follows now. */
void davy_escalation_go_on(struct davy_step *s, struct davy_workload *w, uint8_t hazard);

/* A freeze is in force ("paused"), or has ended: the action after it follows now. */
void davy_escalation_after_pause(struct davy_step *s, struct davy_workload *w, bool paused);

/* The note of a standing hazard for which this workload is throttled, or NULL. */
const struct davy_plan *davy_escalation_throttles(const struct davy_step *s,
						  const struct davy_workload *w);

/* breaker.c: whether it is open for the workload's backend; number of openings, or 0. */
bool davy_breaker_is_open(struct davy_core *core, const char *device, uint8_t backend,
			  const char *model);
uint32_t davy_breaker_openings(struct davy_core *core, const struct davy_process *p,
			       uint64_t *ret_until_ns);

/* Records a failure; true if the breaker of the process's (device, backend, model) is now open. */
bool davy_breaker_failure(struct davy_step *s, const struct davy_process *p,
			  const struct davy_plan *note);
void davy_breaker_restore(struct davy_step *s);
void davy_breaker_probation(struct davy_step *s);
void davy_breakers_tick(struct davy_step *s);

/* A probe of a start on this backend has failed: counts like a failure of the device. */
void davy_breaker_found(struct davy_step *s, const struct davy_plan *note);

#endif
