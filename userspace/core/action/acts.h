/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the core: from a hazard to an act and back. ladder.c chooses the workload and the rung,
 * measure.c says how much of it, consent.c whether it may be, decide.c puts it out and follows it
 * to its end, effects.c remembers what it left in force and takes it back. Only core/ includes
 * this.
 */
#ifndef DL_CORE_ACTS_H
#define DL_CORE_ACTS_H

#include "core/hazard/hazards.h"

/* consent.c: mode, adoption, pins, rivals, what the workload can, one at a time, budgets. */
enum dl_refusal dl_consent(struct dl_step *s, struct dl_workload *w, const struct dl_plan *plan);
uint64_t dl_backoff_end_ns(const struct dl_step *s, const struct dl_workload *w);
void dl_spend(struct dl_step *s, struct dl_workload *w, const struct dl_plan *plan);

/* decide.c: plans about a workload; to put one out is to begin it when its verdict is go. */
struct dl_plan dl_plan_for(struct dl_step *s, const struct dl_workload *w, enum dl_rung rung,
			   uint8_t hazard);
void dl_propose(struct dl_step *s, struct dl_workload *w, struct dl_plan *plan);

/*
 * measure.c: fills how much of its rung the plan does, where nobody has said so. False: it would
 * have no effect, or nothing is known of what it needs.
 */
bool dl_measure(struct dl_step *s, const struct dl_workload *w, struct dl_plan *plan);

/* Nothing of ours makes it smaller. */
uint32_t dl_ubatch_floor(const struct dl_step *s, const struct dl_workload *w);

/* Ends with another process: what was warned of the old one is over. */
bool dl_replaces(uint32_t rung);

/* effects.c */
void dl_effect_add(struct dl_workload *w);
void dl_effect_left(struct dl_step *s); /* of an earlier agent's, as its supervisor tells it */
void dl_effect_taken_back(struct dl_step *s, struct dl_workload *w, int32_t result);
bool dl_effect_measure_undo(struct dl_step *s, const struct dl_workload *w, struct dl_plan *plan);
void dl_effects_troubled(struct dl_step *s, struct dl_workload *w);
void dl_effects_tick(struct dl_step *s, struct dl_workload *w);
void dl_effect_held(struct dl_step *s, struct dl_workload *w);
void dl_effect_let_go(struct dl_step *s, struct dl_workload *w);
void dl_effect_renew(struct dl_step *s, struct dl_workload *w);

/* tuned.c: the tuner of a workload's settings. False: it is not told, no setting is why. */
void dl_tuned_restore(struct dl_step *s);
bool dl_tuned_trouble(struct dl_step *s, const struct dl_workload *w, const struct dl_process *p,
		      const struct dl_plan *note);

/* Fill in knobs and their reason; false: it has nothing lower, or higher, for now. */
bool dl_tuned_lower(struct dl_step *s, const struct dl_workload *w, const struct dl_process *p,
		    struct dl_plan *plan);
bool dl_tuned_raise(struct dl_step *s, const struct dl_workload *w, struct dl_plan *plan);

/* It comes back from elsewhere: with what answers the trouble that sent it away. */
void dl_tuned_come_back(struct dl_step *s, const struct dl_workload *w, uint8_t backend,
			struct dl_plan *plan);

/* The plan with its answer is carried out; the act has failed; an operator wants it otherwise. */
void dl_tuned_take(struct dl_step *s, const struct dl_workload *w, const struct dl_plan *plan);
void dl_tuned_failed(struct dl_step *s, const struct dl_workload *w, int32_t result);
void dl_tuned_forget(struct dl_step *s, const struct dl_workload *w);
bool dl_tuned_knows(const struct dl_step *s, const struct dl_workload *w);
void dl_tuned_tick(struct dl_step *s, const struct dl_workload *w);

/* ladder.c */
void dl_ladder_raised(struct dl_step *s, struct dl_alarm *a);
void dl_ladder_tick(struct dl_step *s);

/* An act that the hazard brought about has failed: what comes next, comes now. */
void dl_ladder_go_on(struct dl_step *s, struct dl_workload *w, uint8_t hazard);

/* A pause holds ("paused"), or its lease is over: what is to follow it then, comes now. */
void dl_ladder_after_pause(struct dl_step *s, struct dl_workload *w, bool paused);

/* The note of a hazard that stands and for which this workload is throttled, or NULL. */
const struct dl_plan *dl_ladder_throttles(const struct dl_core *core, const struct dl_workload *w);

/* breaker.c: whether it is open for what the workload would run on; how often it was, or 0. */
bool dl_breaker_is_open(struct dl_core *core, const char *device, uint8_t backend,
			const char *model);
uint32_t dl_breaker_openings(struct dl_core *core, const struct dl_process *p,
			     uint64_t *ret_until_ns);

#endif
