/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules, and what is kept over restarts: ledger, tuning, breakers, the agent's own policy layer.
 * Only agent/ includes this.
 */
#ifndef DAVY_AGENT_POLICY_H
#define DAVY_AGENT_POLICY_H

#include "agent/agent.h"

struct davy_ledger_environment;

/* agent_policy.c: on an error, described in "error", the last valid configuration stays. */
int davy_policy_read(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
void davy_policy_feed(struct davy_agent *a);
/* Rules for backends and settings, for programs that start engines. */
void davy_policy_rules_open(struct davy_agent *a);
json_t *davy_policy_administrator_rules(
	struct davy_agent *a); /* the last valid ones, as a message */
int davy_policy_reload(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
/* Reads its own layer again after a change. The other layers stay as they were read. */
void davy_policy_agent_layer_read(struct davy_agent *a);

/* policy_of.c: NULL: the reply was sent. Otherwise the reason of the refusal. */
const char *davy_agent_policy_of(struct davy_link *link, const json_t *message);

/* layer.c: the agent's policy layer and its history. NULL: replied. Otherwise the reason. */
void davy_agent_layer_open(struct davy_agent *a);
const char *davy_agent_layer_change(struct davy_link *link, const json_t *message);

/*
 * layer_tuned.c: stores the reason of a planned act as evidence. After a successful act, its
 * permanent change becomes a rule.
 */
void davy_agent_layer_meant(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_layer_tuned(struct davy_agent *a, const struct davy_plan *plan);
/* Its own layer from the file, an empty one for none; a new version of it. */
int davy_agent_layer_take(struct davy_agent *a, struct davy_policy_layer *layer);
int davy_agent_layer_write(struct davy_agent *a, const struct davy_policy_layer *layer,
			   const char *reason, const char *evidence);
int davy_agent_layer_say(struct davy_policy_layer *layer, struct davy_rule *rule,
			 const char *reason); /* with its source and today's date */

/* agent_thresholds.c: takes samples of the core; adds the adopted values to a configuration. */
void davy_agent_thresholds_tick(struct davy_agent *a);
void davy_agent_thresholds_add(const struct davy_agent *a, struct davy_config *config);

/* rules.c: the subject of the rules, and the values which bind the core. */
void davy_agent_subject(struct davy_agent *a, const struct davy_ev_process *p,
			struct davy_policy_subject *s);
void davy_agent_rules_tell(struct davy_agent *a, const struct davy_tracked *t,
			   struct davy_kept_tuning *kept);

/*
 * agent_tuning.c: keeps the tuner's knowledge over restarts and reports it to the core as events.
 */
void davy_agent_tuning_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_tuning_close(struct davy_agent *a);
void davy_agent_tuning_forget(struct davy_agent *a, const char *device, const char *model);

/*
 * agent_environment.c: the versions of an engine's environment, as the ledger stores them. False:
 * some are still unknown; the known ones are filled in.
 */
bool davy_agent_environment(struct davy_agent *a, const struct davy_tracked *t,
			    struct davy_ledger_environment *ret_environment);
void davy_agent_kernel(struct davy_ledger_environment *environment); /* only the kernel */

/*
 * agent_finding.c: a finding of a tool about an engine's start. NULL, or the reason of the refusal.
 * "adopted": its unit is adopted; otherwise its model may be.
 */
const char *davy_agent_finding(struct davy_agent *a, const json_t *message, bool adopted);

/* agent_ledger.c */
void davy_agent_ledger_found(struct davy_agent *a, const struct davy_ev_finding *finding);
void davy_agent_ledger_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_ledger_job(struct davy_agent *a, const struct davy_event *ev);
void davy_agent_ledger_failed(struct davy_agent *a, const struct davy_plan *plan);
/*
 * The lowest depth at which the model failed with a larger ubatch, under this kernel if there is
 * such a row; 0: unknown.
 */
uint32_t davy_agent_ledger_depth(struct davy_agent *a, enum davy_backend backend, const char *model,
				 uint32_t ubatch);

/* agent_learned.c: learned.conf; it is written only after it was read. */
void davy_agent_learned_open(struct davy_agent *a);
void davy_agent_learned_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_learn(struct davy_agent *a, const struct davy_plan *plan);
/* Returns the number of forgotten entries, also in the core; -errno: the file cannot be read. */
int davy_agent_learned_forget(struct davy_agent *a, const char *device, const char *model);

#endif
