/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that the core has found for a model, as a rule of the agent's policy layer: the next
 * start uses them. When the core takes them back, the rule is removed. Each change is a version.
 */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/hash.h"
#include "lib/log.h"
#include "policy/applied.h"
#include "report/plan_text.h"
#include "report/tuner_text.h"
#include "store/policy_file.h"
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

#define SOURCE "davylamp"

/*
 * One for each backend and model. It is a hash, because not every model's name is a valid rule
 * name.
 */
static void name_rule(const struct davy_workload *w, uint8_t backend, char name[DAVY_RULE_NAME_LEN])
{
	uint64_t h = davy_fnv_text(DAVY_FNV_START, w->model);

	snprintf(name, DAVY_RULE_NAME_LEN, "tuned-%s-%08" PRIx32, davy_backend_name(backend),
		 (uint32_t)(h ^ h >> 32));
}

static uint32_t layer_tuned_value_of(const struct davy_rule_value *value)
{
	const char *name;

	if (value->key != DAVY_POLICY_CACHE_TYPE)
		return value->number;
	name = davy_cache_type_name(value->number);
	return name ? davy_cache_named(name) : 0;
}

static struct davy_start_settings layer_tuned_settings_of(struct davy_policy_layer *layer,
							  const char *name)
{
	const struct davy_rule *rule = davy_policy_rule_find(layer, name);
	struct davy_start_settings k = { 0 };

	for (size_t i = 0; rule && i < rule->value_count; i++)
		for (uint32_t j = 0; j < DAVY_TUNER_SETTINGS; j++)
			if (rule->value[i].key == davy_policy_setting_key(j))
				davy_start_setting_set(&k, j,
						       layer_tuned_value_of(&rule->value[i]));
	return k;
}

static int put_setting(struct davy_policy_layer *layer, struct davy_rule *rule, uint32_t setting,
		       uint32_t value)
{
	const char *cache = davy_cache_name(value);

	if (setting != DAVY_TUNER_CACHE_TYPE)
		return davy_rule_set_count(layer, rule, davy_policy_setting_key(setting), value);
	for (uint32_t i = 0; i < DAVY_CACHE_TYPE_COUNT; i++)
		if (davy_same_name(davy_cache_type_name(i), cache))
			return davy_rule_set(layer, rule, DAVY_POLICY_CACHE_TYPE, NULL, cache, i);
	return -EINVAL;
}

int davy_agent_layer_say(struct davy_policy_layer *layer, struct davy_rule *rule,
			 const char *reason)
{
	const time_t now = time(NULL);
	char date[16];
	struct tm day;

	gmtime_r(&now, &day);
	strftime(date, sizeof(date), "%Y-%m-%d", &day);
	return davy_rule_say(layer, rule, reason, SOURCE, date);
}

static int add_rule(struct davy_policy_layer *layer, const char *name,
		    const struct davy_workload *w, uint8_t backend,
		    const struct davy_start_settings *is, const char *reason)
{
	struct davy_rule *rule = davy_policy_rule_add(layer, name);
	char model[2 * DAVY_MODEL_LEN];
	int err = rule ? 0 : -ENOSPC;

	davy_rule_literal(model, sizeof(model), w->model);
	if (!err)
		err = davy_rule_if(layer, rule, DAVY_IF_MODEL, model, 0);
	if (!err)
		err = davy_rule_if(layer, rule, DAVY_IF_BACKEND, davy_backend_name(backend), 0);
	if (!err && strchr(w->device, ':')) /* a PCI device; others have no rules */
		err = davy_rule_if(layer, rule, DAVY_IF_DEVICE, w->device, 0);
	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS && !err; i++)
		if (davy_start_setting_get(is, i))
			err = put_setting(layer, rule, i, davy_start_setting_get(is, i));
	return err ? err : davy_agent_layer_say(layer, rule, reason);
}

int davy_agent_layer_write(struct davy_agent *a, const struct davy_policy_layer *layer,
			   const char *reason, const char *evidence)
{
	char error[DAVY_CONFIG_ERROR_LEN], *text = NULL;
	struct davy_db *db = NULL;
	size_t size;
	int err = davy_policy_text_write(layer, &text, &size, error);

	if (err == -EINVAL)
		davy_log("policy: %s", error);
	if (!err)
		err = davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db);
	if (!err)
		err = davy_version_add(db, reason, evidence, text);
	davy_db_close(db);
	free(text);
	return err;
}

int davy_agent_layer_take(struct davy_agent *a, struct davy_policy_layer *layer)
{
	char error[DAVY_CONFIG_ERROR_LEN], path[PATH_MAX];
	int err;

	davy_policy_layer_init(layer, DAVY_LAYER_AGENT);
	snprintf(path, sizeof(path), "%s/%s", a->options.state_dir, DAVY_POLICY_NAME);
	err = davy_policy_file_read(path, DAVY_LAYER_AGENT, layer, error);
	if (err == -EBADMSG)
		davy_log("%s; the file is replaced, 'davylamp policy history' has the previous one",
			 error);
	if (err)
		davy_policy_layer_init(layer, DAVY_LAYER_AGENT);
	return err == -ENOENT || err == -EBADMSG ? 0 : err;
}

/* "ubatch 128, context 8192", or "its own settings". */
static void name_settings(const struct davy_start_settings *k, char *text, size_t size)
{
	char value[16];
	size_t used = 0;

	for (uint32_t i = 0; i < DAVY_TUNER_SETTINGS && used < size; i++) {
		if (!davy_start_setting_get(k, i))
			continue;
		davy_tuner_size_text(i, davy_start_setting_get(k, i), value, sizeof(value));
		used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "",
					 davy_start_setting_name(i), value);
	}
	if (!used)
		snprintf(text, size, "its own settings");
}

/* A setting of an operator is not a finding. When an operator takes a finding back, it is none. */
static struct davy_start_settings found_out(const struct davy_workload *w,
					    const struct davy_plan *plan,
					    const struct davy_start_settings *was)
{
	struct davy_start_settings is = w->settings;

	for (uint32_t i = 0; plan->hazard == DAVY_HZ_NONE && i < DAVY_TUNER_SETTINGS; i++)
		if (davy_start_setting_get(&is, i))
			davy_start_setting_set(&is, i, davy_start_setting_get(was, i));
	return is;
}

/* Neither the end of an act nor a repeated act has the original reason. */
void davy_agent_layer_meant(struct davy_agent *a, const struct davy_plan *plan)
{
	struct davy_meant *at = &a->meant[plan->workload % DAVY_MEANT_MAX];
	char text[DAVY_PLAN_TEXT_SIZE];
	bool again = at->workload == plan->workload && at->action == plan->action &&
		     at->hazard == plan->hazard;

	if (plan->kind != DAVY_PLAN_ACTION ||
	    (plan->action != DAVY_ACTION_SHRINK && plan->action != DAVY_ACTION_UNDO) ||
	    (again && plan->action == DAVY_ACTION_SHRINK && plan->evidence[0].kind == DAVY_EV_TICK))
		return;
	davy_reason_text(plan, text, sizeof(text));
	at->workload = plan->workload;
	at->action = plan->action;
	at->hazard = plan->hazard;
	davy_copy_name(at->reason, sizeof(at->reason), text);
}

static const char *meant(const struct davy_agent *a, uint32_t workload)
{
	const struct davy_meant *at = &a->meant[workload % DAVY_MEANT_MAX];

	return at->workload == workload ? at->reason : "";
}

static void layer_tuned_put(struct davy_agent *a, struct davy_policy_layer *layer,
			    const struct davy_workload *w, const struct davy_plan *plan,
			    const char *name, const struct davy_start_settings *is)
{
	char settings[96], reason[DAVY_VERSION_REASON];
	int err = 0;

	name_settings(is, settings, sizeof(settings));
	snprintf(reason, sizeof(reason), "%s for '%s' on %s after %s", settings, w->model,
		 davy_backend_name(plan->backend),
		 plan->hazard ? davy_hazard_name((enum davy_hazard)plan->hazard)
			      : "an operator's order");
	davy_policy_rule_remove(layer, davy_policy_rule_find(layer, name));
	if (!davy_start_settings_none(is))
		err = add_rule(layer, name, w, plan->backend, is, reason);
	if (!err)
		err = davy_agent_layer_write(a, layer, reason, meant(a, plan->workload));
	if (err < 0)
		davy_log("policy '%s/%s': %s; the next start does not use %s", a->options.state_dir,
			 DAVY_POLICY_NAME, davy_db_why(err), settings);
	else
		davy_log("policy version %d: %s", err, reason);
	if (err > 0)
		davy_policy_agent_layer_read(a);
}

static void update(struct davy_agent *a, struct davy_policy_layer *layer,
		   const struct davy_workload *w, const struct davy_plan *plan)
{
	char name[DAVY_RULE_NAME_LEN];
	struct davy_start_settings was, is;

	if (davy_agent_layer_take(a, layer))
		return; /* cannot be read now: the next change contains this one */
	name_rule(w, plan->backend, name);
	was = layer_tuned_settings_of(layer, name);
	is = found_out(w, plan, &was);
	if (memcmp(&was, &is, sizeof(was)) != 0)
		layer_tuned_put(a, layer, w, plan, name, &is);
}

void davy_agent_layer_tuned(struct davy_agent *a, const struct davy_plan *plan)
{
	const struct davy_workload *w = davy_world_workload(&a->core.world, plan->workload);
	uint8_t backend = plan->backend;
	struct davy_policy_layer *layer;

	if (plan->result || !w || !w->model[0] ||
	    (plan->action != DAVY_ACTION_SHRINK && plan->action != DAVY_ACTION_UNDO) ||
	    backend == DAVY_BACKEND_UNKNOWN || backend == DAVY_BACKEND_CPU)
		return;
	layer = malloc(sizeof(*layer));
	if (layer)
		update(a, layer, w, plan);
	free(layer);
}
