/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules, and what outlives the agent: ledger, tuning, breakers, its own policy layer. Only agent/
 * includes this.
 */
#ifndef DAVY_AGENT_POLICY_H
#define DAVY_AGENT_POLICY_H

#include "agent/agent.h"

struct davy_ledger_environment;

/* agent_policy.c: on an error, which "error" tells, the last good configuration stays. */
int davy_policy_read(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
void davy_policy_feed(struct davy_agent *a);
/* Rules of backends and settings, for those who start engines. */
void davy_policy_rules_open(struct davy_agent *a);
json_t *davy_policy_people_rules(struct davy_agent *a); /* the last good ones, as a message */
int davy_policy_reload(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
/* Its own layer alone, after it was changed: what people write stays as it was read. */
void davy_policy_agent_layer_read(struct davy_agent *a);

/* policy_of.c: NULL, and it has been answered; or why not. */
const char *davy_agent_policy_of(struct davy_link *link, const json_t *message);

/* layer.c: the agent's policy layer with its history; NULL: it has been answered, or why not. */
void davy_agent_layer_open(struct davy_agent *a);
const char *davy_agent_layer_change(struct davy_link *link, const json_t *message);

/*
 * layer_tuned.c: an act is planned, and its reason is kept as evidence; it has ended well, and what
 * it changed for good becomes a rule.
 */
void davy_agent_layer_meant(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_layer_tuned(struct davy_agent *a, const struct davy_plan *plan);

/* rules.c: whom the rules are asked about, and what of them binds the core. */
void davy_agent_subject(struct davy_agent *a, const struct davy_ev_process *p,
			struct davy_policy_subject *s);
void davy_agent_rules_tell(struct davy_agent *a, const struct davy_tracked *t,
			   struct davy_kept_tuning *kept);

/* agent_tuning.c: what the tuner knows outlives the agent; the core is told it by events. */
void davy_agent_tuning_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_tuning_close(struct davy_agent *a);
void davy_agent_tuning_forget(struct davy_agent *a, const char *device, const char *model);

/*
 * agent_environment.c: the versions that an engine runs with, as the ledger keeps them. False:
 * something of it is still to be found out; what is known is filled in.
 */
bool davy_agent_environment(struct davy_agent *a, const struct davy_tracked *t,
			    struct davy_ledger_environment *ret_environment);
void davy_agent_kernel(struct davy_ledger_environment *environment); /* that alone */

/*
 * agent_finding.c: what a tool has found out about an engine's start; NULL, or why it is not taken.
 * "adopted": its unit is; else its model may be.
 */
const char *davy_agent_finding(struct davy_agent *a, const json_t *message, bool adopted);

/* agent_ledger.c */
void davy_agent_ledger_found(struct davy_agent *a, const struct davy_ev_finding *finding);
void davy_agent_ledger_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_ledger_job(struct davy_agent *a, const struct davy_event *ev);
void davy_agent_ledger_failed(struct davy_agent *a, const struct davy_plan *plan);
/*
 * The least depth at which the model failed with a larger ubatch, under this kernel if it did; 0:
 * not known.
 */
uint32_t davy_agent_ledger_depth(struct davy_agent *a, enum davy_backend backend, const char *model,
				 uint32_t ubatch);

/* agent_learned.c: learned.conf; it is written only after it was read. */
void davy_agent_learned_open(struct davy_agent *a);
void davy_agent_learned_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_learn(struct davy_agent *a, const struct davy_plan *plan);
/* How many entries are gone, also for the core; -errno: the file cannot be read. */
int davy_agent_learned_forget(struct davy_agent *a, const char *device, const char *model);

#endif
