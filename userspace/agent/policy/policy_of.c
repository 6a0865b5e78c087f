/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy of a running engine, by the rules in force here: each value with its origin, the
 * version of the agent's own values, and the actual settings of the engine.
 */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "lib/text.h"
#include "report/policy_json.h"
#include "store/ledger.h"
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

#define ANSWER_MAX ((size_t)DAVY_MESSAGE_MAX - 1024) /* bytes of a reply */

static json_t *policy_of_safe(const char *text)
{
	char buf[4 * DAVY_CONFIG_ERROR_LEN];

	return json_string(davy_text_shown(buf, sizeof(buf), text));
}

static void policy_of_put_text(json_t *o, const char *key, const char *text)
{
	if (text[0])
		json_object_set_new(o, key, policy_of_safe(text));
}

static void policy_of_put_number(json_t *o, const char *key, uint64_t number)
{
	if (number)
		json_object_set_new(o, key, json_integer((json_int_t)number));
}

static const struct davy_tracked *tracked(const struct davy_agent *a, json_int_t pid)
{
	for (size_t i = 0; i < DAVY_TRACKED_MAX; i++)
		if (pid > 0 && a->tracked[i].pid == pid &&
		    a->tracked[i].reported.engine != DAVY_ENGINE_NONE)
			return &a->tracked[i];
	return NULL;
}

/* Adds the version that introduced the rule of the agent's layer, and its reason. */
static void add_versions(const struct davy_agent *a, json_t *values)
{
	struct davy_version version;
	struct davy_db *db = NULL;
	json_t *value;
	size_t i;

	if (davy_db_open(a->options.state_dir, DAVY_DB_THERE, &db))
		return;
	json_array_foreach(values, i, value)
	{
		if (strcmp(davy_message_text(value, "layer"), davy_layer_name(DAVY_LAYER_AGENT)) !=
			    0 ||
		    davy_version_of_rule(db, davy_message_text(value, "rule"), &version))
			continue;
		policy_of_put_number(value, "version", version.number);
		policy_of_put_text(value, "reason", version.reason);
		policy_of_put_text(value, "evidence", version.evidence);
	}
	davy_db_close(db);
}

/* Finds the file that sets the mode. A file that was changed since it was read is ignored. */
static bool mode_is_of(const char *dir, int64_t mode, char path[PATH_MAX])
{
	char error[DAVY_CONFIG_ERROR_LEN];
	struct davy_config config;

	davy_config_defaults(&config);
	config.value[DAVY_CFG_MODE] = -1; /* no file can set this value */
	return snprintf(path, PATH_MAX, "%s/hazards.conf", dir) < PATH_MAX &&
	       !davy_config_file_read(path, &config, error) && config.value[DAVY_CFG_MODE] == mode;
}

/* A rule's mode takes precedence over the host's; its origin is in the values. */
static json_t *mode_json(const struct davy_agent *a, const struct davy_policy_value *rules)
{
	const char *const dirs[] = { a->options.config_dir, a->options.state_dir,
				     a->options.data_dir };
	const enum davy_layer layers[] = { DAVY_LAYER_ADMIN, DAVY_LAYER_AGENT, DAVY_LAYER_SHIPPED };
	int64_t mode = a->core.config.value[DAVY_CFG_MODE];
	json_t *o = json_pack("{s:s}", "value", davy_mode_name((enum davy_mode)mode));
	char path[PATH_MAX];

	if (rules->origin.rule) {
		json_object_set_new(o, "value", json_string(rules->text));
		json_object_set_new(o, "layer",
				    json_string(davy_layer_name(rules->origin.layer->layer)));
		return o;
	}
	if (a->options.mode >= 0) {
		json_object_set_new(o, "layer", json_string("command line"));
		return o;
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (!dirs[i] || !mode_is_of(dirs[i], mode, path))
			continue;
		json_object_set_new(o, "layer", json_string(davy_layer_name(layers[i])));
		json_object_set_new(o, "file", policy_of_safe(path));
		break;
	}
	return o;
}

static json_t *policy_of_environment_json(struct davy_agent *a, const struct davy_tracked *t)
{
	struct davy_ledger_environment e;
	json_t *o = json_object();

	davy_agent_environment(a, t, &e);
	policy_of_put_text(o, "kernel", e.kernel);
	policy_of_put_text(o, "driver", e.driver);
	policy_of_put_text(o, "firmware", e.firmware);
	policy_of_put_text(o, "engine", e.engine);
	return o;
}

static json_t *runs_json(const struct davy_ev_process *p)
{
	json_t *o = json_pack("{s:s}", "backend", davy_backend_name((enum davy_backend)p->backend));

	policy_of_put_number(o, "ubatch", p->ubatch);
	policy_of_put_number(o, "context", p->context_size);
	policy_of_put_number(o, "parallel", p->parallel);
	policy_of_put_text(o, "cache_k", p->cache_k);
	policy_of_put_text(o, "cache_v", p->cache_v);
	return o;
}

/* Acts on the workload that are still in force. */
static json_t *acts_json(struct davy_agent *a, uint32_t workload)
{
	const struct davy_workload *w = davy_world_workload(&a->core.world, workload);
	json_t *list = json_array();

	for (size_t i = 0; w && i < w->effect_count && i < DAVY_EFFECTS_MAX; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s}", "act",
					davy_action_name((enum davy_action)w->effects[i].action),
					"because",
					w->effects[i].hazard == DAVY_HZ_NONE
						? "an operator"
						: davy_hazard_name(
							  (enum davy_hazard)w->effects[i].hazard)));
	return list;
}

static json_t *breakers_json(const struct davy_agent *a, const struct davy_ev_process *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->learned.count; i++) {
		const struct davy_learned_entry *e = &a->learned.entry[i];

		if (!davy_same_name(e->model, p->model))
			continue;
		json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:o}", "backend",
						      davy_backend_name(e->backend), "device",
						      policy_of_safe(e->device), "state",
						      davy_breaker_state_name(e->state), "because",
						      policy_of_safe(e->reason)));
	}
	return list;
}

/* Counts values that do not fit into a message; the most important ones come first. */
static void make_fit(json_t *o)
{
	json_t *values = json_object_get(o, "values");
	json_int_t left_out = 0;

	while (json_dumpb(o, NULL, 0, JSON_COMPACT) > ANSWER_MAX && json_array_size(values)) {
		json_array_remove(values, json_array_size(values) - 1);
		json_object_set_new(o, "values_unlisted", json_integer(++left_out));
	}
}

static json_t *policy_of_answer(struct davy_agent *a, const struct davy_tracked *t)
{
	const struct davy_policy_set set = davy_policy_set_of(a->rules);
	struct davy_effective *e = calloc(1, sizeof(*e));
	const struct davy_ev_process *p = &t->reported;
	struct davy_policy_subject subject;
	json_t *o;

	if (!e)
		return NULL;
	davy_agent_subject(a, p, &subject);
	davy_policy_effective(&set, &subject, e);
	o = davy_policy_json(&subject, e);
	json_object_set_new(o, "mode", mode_json(a, &e->value[DAVY_POLICY_MODE]));
	free(e);
	json_object_set_new(o, "op", json_string("policy_of"));
	json_object_set_new(o, "pid", json_integer(t->pid));
	policy_of_put_number(o, "workload", p->workload);
	policy_of_put_text(o, "unit", p->unit);
	json_object_set_new(o, "runs", runs_json(p));
	json_object_set_new(o, "acts", acts_json(a, p->workload));
	json_object_set_new(o, "breakers", breakers_json(a, p));
	json_object_set_new(o, "environment", policy_of_environment_json(a, t));
	policy_of_put_text(o, "policy_error", a->policy_error);
	add_versions(a, json_object_get(o, "values"));
	make_fit(o);
	return o;
}

const char *davy_agent_policy_of(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	const struct davy_tracked *t = tracked(a, davy_message_number(message, "pid", 0));
	json_t *o;

	if (!t)
		return "no engine has this pid";
	if (!a->rules)
		return "no rules are in force, the policy is invalid; see 'davylamp policy check'";
	o = policy_of_answer(a, t);
	if (!o)
		return "out of memory";
	davy_message_send(link->fd, o);
	return NULL;
}
