/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds that tune themselves. Stores each sample of the core and judges those of its key and
 * model. In mode enforce, a better value becomes a rule of the agent's policy layer, with a
 * version. Worse ones are taken back in each mode. What a threshold file sets is left alone.
 */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/log.h"
#include "store/config_value.h"
#include "store/samples.h"
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

/* A file of the administrator, or of 'davylamp tune', has another value, or one for this model. */
static bool thresholds_are_fixed(const struct davy_agent *a, const struct davy_sample *s)
{
	const char *const names[DAVY_SCOPE_COUNT] = { "", s->driver, s->device, s->model };
	bool fixed = a->config.value[s->key] != davy_config_rows[s->key].value;

	for (uint32_t i = 0; i < a->config.override_count; i++) {
		const struct davy_override *o = &a->config.override[i];

		fixed |= o->key == s->key && davy_name_matches(o->name, names[o->scope]);
	}
	return fixed;
}

/* False: it has no threshold. The text was checked when it was read. */
static bool thresholds_of_rule(const struct davy_policy_layer *layer, const struct davy_rule *rule,
			       struct davy_sample *ret_adopted)
{
	const char *text = davy_policy_text(layer, rule->value[0].text);
	struct davy_sample s = { .value = rule->value[0].number };
	char key[48];

	if (rule->value_count != 1 || rule->value[0].key != DAVY_POLICY_THRESHOLD)
		return false;
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(text, " "), text);
	s.key = (uint16_t)davy_config_find(key);
	davy_copy_name(s.model, sizeof(s.model),
		       davy_policy_text(layer, rule->condition[DAVY_IF_MODEL].text));
	davy_copy_name(s.device, sizeof(s.device),
		       davy_policy_text(layer, rule->condition[DAVY_IF_DEVICE].text));
	*ret_adopted = s;
	return true;
}

void davy_agent_thresholds_add(const struct davy_agent *a, struct davy_config *config)
{
	const struct davy_policy_layer *layer = a->rules ? &a->rules->at[DAVY_LAYER_AGENT] : NULL;
	struct davy_sample s;

	for (uint32_t i = 0; layer && i < layer->rule_count; i++)
		if (thresholds_of_rule(layer, &layer->rule[i], &s) && !thresholds_are_fixed(a, &s))
			davy_config_set_for(config,
					    s.model[0] ? DAVY_SCOPE_MODEL : DAVY_SCOPE_DEVICE,
					    s.model[0] ? s.model : s.device,
					    davy_config_rows[s.key].name, (int64_t)s.value);
}

static void thresholds_name_rule(const struct davy_sample *s, char name[DAVY_RULE_NAME_LEN])
{
	uint64_t h = davy_fnv_text(DAVY_FNV_START, s->model[0] ? s->model : s->device);

	snprintf(name, DAVY_RULE_NAME_LEN, "%s-%08" PRIx32, davy_config_rows[s->key].name,
		 (uint32_t)(h ^ h >> 32));
	for (char *at = name; *at; at++)
		if (*at == '_' || *at == '.')
			*at = '-';
}

static int thresholds_set_rule(struct davy_policy_layer *layer, const struct davy_sample *s,
			       const char *to, const char *reason)
{
	char name[DAVY_RULE_NAME_LEN], text[2 * DAVY_MODEL_LEN];
	struct davy_rule *rule;
	int err;

	thresholds_name_rule(s, name);
	davy_policy_rule_remove(layer, davy_policy_rule_find(layer, name));
	if (s->result == DAVY_SAMPLE_TAKEN_BACK)
		return 0;
	rule = davy_policy_rule_add(layer, name);
	if (!rule)
		return -ENOSPC;
	davy_rule_literal(text, sizeof(text), s->model[0] ? s->model : s->device);
	err = davy_rule_if(layer, rule, s->model[0] ? DAVY_IF_MODEL : DAVY_IF_DEVICE, text, 0);
	snprintf(text, sizeof(text), "%s %s", davy_config_rows[s->key].name, to);
	if (!err)
		err = davy_rule_set(layer, rule, DAVY_POLICY_THRESHOLD, NULL, text,
				    (uint32_t)s->value);
	return err ? err : davy_agent_layer_say(layer, rule, reason);
}

/* The reason and the evidence of a change, for the log and the history. */
static void thresholds_say(const struct davy_agent *a, const struct davy_sample *s,
			   const struct davy_threshold_verdict *v, char to[DAVY_CONFIG_VALUE_LEN],
			   char reason[DAVY_VERSION_REASON], char evidence[DAVY_VERSION_EVIDENCE])
{
	static const char *const whys[] = {
		[DAVY_THRESHOLD_KEEP] = "",
		[DAVY_THRESHOLD_FEWER] = "fewer false alarms",
		[DAVY_THRESHOLD_MISSED] = "back to the default, a failure was missed",
		[DAVY_THRESHOLD_NO_BETTER] = "back to the default, no fewer false alarms",
	};
	int64_t now = davy_config_value_for(&a->core.config, (enum davy_config_key)s->key,
					    s->driver, s->device, s->model);
	const struct davy_config_row *row = &davy_config_rows[s->key];
	char from[DAVY_CONFIG_VALUE_LEN];

	davy_config_value_text(row->unit, now, from);
	davy_config_value_text(row->unit, (int64_t)v->to, to);
	snprintf(reason, DAVY_VERSION_REASON, "%s from %s to %s for '%s': %s", row->name, from, to,
		 s->model[0] ? s->model : s->device, whys[v->why]);
	snprintf(evidence, DAVY_VERSION_EVIDENCE,
		 "%u false alarms since the last change, %u of them below the new value; "
		 "%u confirmed alarms and %u missed failures in all",
		 v->false_count, v->removed, v->confirmed, v->missed);
}

static int thresholds_adopt(struct davy_agent *a, const struct davy_sample *s, const char *to,
			    const char *reason, const char *evidence)
{
	struct davy_policy_layer *layer = malloc(sizeof(*layer));
	int err = layer ? davy_agent_layer_take(a, layer) : -ENOMEM;

	if (!err)
		err = thresholds_set_rule(layer, s, to, reason);
	if (!err)
		err = davy_agent_layer_write(a, layer, reason, evidence);
	free(layer);
	if (err > 0) {
		davy_log("policy version %d: %s (%s)", err, reason, evidence);
		davy_policy_agent_layer_read(a);
	}
	return err;
}

/* The row first: after a crash, or without room for the rule, the evidence is used up. */
static int thresholds_change(struct davy_agent *a, struct davy_db *db, const struct davy_sample *s,
			     const struct davy_threshold_verdict *v)
{
	bool enforce = a->core.config.value[DAVY_CFG_MODE] == DAVY_MODE_ENFORCE;
	char reason[DAVY_VERSION_REASON], evidence[DAVY_VERSION_EVIDENCE];
	char to[DAVY_CONFIG_VALUE_LEN];
	struct davy_sample change = *s;
	int err;

	change.result = v->why != DAVY_THRESHOLD_FEWER ? DAVY_SAMPLE_TAKEN_BACK
			: enforce		       ? DAVY_SAMPLE_ADOPTED
						       : DAVY_SAMPLE_PROPOSED;
	change.value = v->to;
	thresholds_say(a, s, v, to, reason, evidence);
	err = davy_sample_add(db, &change);
	if (!err && change.result != DAVY_SAMPLE_PROPOSED)
		return thresholds_adopt(a, &change, to, reason, evidence);
	if (!err)
		davy_log("proposal, adopted in mode enforce: %s (%s)", reason, evidence);
	return err;
}

static int thresholds_take(struct davy_agent *a, const struct davy_sample *s)
{
	struct davy_sample *samples = calloc(DAVY_SAMPLES_KEPT, sizeof(*samples));
	struct davy_threshold_verdict v = { 0 };
	struct davy_db *db = NULL;
	int err = samples ? davy_db_open(a->options.state_dir, DAVY_DB_MAKE, &db) : -ENOMEM;

	if (!err)
		err = davy_sample_add(db, s);
	if (!err)
		err = davy_samples_load(db, s, samples);
	if (err > 0 && !thresholds_are_fixed(a, s))
		davy_threshold_judge(&a->core.config, samples, (size_t)err, s->at_s, &v);
	if (v.why)
		err = thresholds_change(a, db, s, &v);
	davy_db_close(db);
	free(samples);
	return err;
}

void davy_agent_thresholds_tick(struct davy_agent *a)
{
	const struct davy_samples *from = &a->core.samples;

	if (from->made_count - a->samples_taken > DAVY_SAMPLES_MADE)
		a->samples_taken = from->made_count - DAVY_SAMPLES_MADE;
	while (a->samples_taken < from->made_count) {
		struct davy_sample s = from->made[a->samples_taken++ % DAVY_SAMPLES_MADE];
		int err = thresholds_take(a, &s);

		if (err < 0)
			davy_log("'%s/%s': %s; the result of an alarm is not used to tune its "
				 "threshold",
				 a->options.state_dir, DAVY_DB_NAME, davy_db_why(err));
	}
}
