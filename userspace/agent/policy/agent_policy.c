/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds the thresholds from files into the core, at the start and after each reading. */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/log.h"
#include "agent/policy/agent_policy.h"

static void feed_overrides(struct davy_agent *a);

/* Reads the rules. Invalid rules keep the previous ones; at the start there are none. */
static int policy_read_rules(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN])
{
	struct davy_policy_layers *rules = malloc(sizeof(*rules));
	int err;

	if (!rules) {
		snprintf(error, DAVY_CONFIG_ERROR_LEN, "backend rules: out of memory");
		return -ENOMEM;
	}
	davy_policy_layers_init(rules);
	err = davy_policy_dirs_read(a->options.data_dir, a->options.state_dir,
				    a->options.config_dir, rules, error);
	if (!err && error[0])
		davy_log("%s; the agent's own rules are ignored", error);
	if (err && !error[0])
		snprintf(error, DAVY_CONFIG_ERROR_LEN, "backend rules: %s", strerror(-err));
	if (err) {
		free(rules);
		return err;
	}
	free(a->rules);
	a->rules = rules;
	a->rules_read++;
	return 0;
}

void davy_policy_rules_open(struct davy_agent *a)
{
	char error[DAVY_CONFIG_ERROR_LEN] = "";

	if (!policy_read_rules(a, error)) {
		feed_overrides(a); /* of the agent's layer */
		return;
	}
	davy_copy_name(a->policy_error, sizeof(a->policy_error), error);
	davy_log("%s; no backend rules are in force until the file is corrected", error);
}

void davy_policy_agent_layer_read(struct davy_agent *a)
{
	struct davy_policy_layer *layer = a->rules ? malloc(sizeof(*layer)) : NULL;
	char error[DAVY_CONFIG_ERROR_LEN] = "", path[PATH_MAX];
	int err;

	if (!layer)
		return; /* of no use without the other layers */
	davy_policy_layer_init(layer, DAVY_LAYER_AGENT);
	err = davy_root_path(path, sizeof(path), "%s/%s", a->options.state_dir, DAVY_POLICY_NAME);
	if (!err)
		err = davy_policy_file_read(path, DAVY_LAYER_AGENT, layer, error);
	if (!err || err == -ENOENT)
		davy_policy_layer_copy(&a->rules->at[DAVY_LAYER_AGENT], layer);
	else
		davy_log("policy layer '%s': %s; the agent keeps the previous rules", path,
			 error[0] ? error : strerror(-err));
	a->rules_read++;
	free(layer);
	feed_overrides(a);
	if (a->hooks)
		a->hooks->rules_changed(a);
}

json_t *davy_policy_administrator_rules(struct davy_agent *a)
{
	char error[DAVY_CONFIG_ERROR_LEN], *text = NULL;
	json_t *message = NULL;
	size_t size;

	if (a->rules &&
	    !davy_policy_text_write(&a->rules->at[DAVY_LAYER_ADMIN], &text, &size, error))
		message = json_pack("{s:s, s:s}", "op", "administrator_rules", "text", text);
	free(text);
	return message ? message
		       : json_pack("{s:s, s:s}", "op", "error", "why",
				   "there are no rules of the administrator");
}

int davy_policy_read(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN])
{
	struct davy_config config;
	int err;

	err = davy_config_dirs_read(a->options.data_dir, a->options.state_dir,
				    a->options.config_dir, &config, error);
	if (err)
		return err;
	if (error[0])
		davy_log("%s; the thresholds of 'davylamp tune' are ignored", error);
	if (a->options.mode >= 0)
		config.value[DAVY_CFG_MODE] = a->options.mode;
	a->config = config;
	return 0;
}

static void feed_value(struct davy_agent *a, int key)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_CONFIG, 0);

	davy_copy_name(ev.config.key, sizeof(ev.config.key), davy_config_rows[key].name);
	ev.config.value = a->config.value[key];
	davy_agent_feed(a, &ev);
}

static void feed_override(struct davy_agent *a, const struct davy_override *o, int64_t value)
{
	struct davy_event ev = davy_agent_event(DAVY_EV_CONFIG_FOR, 0);
	struct davy_ev_config_for *f = &ev.config_for;

	davy_copy_name(f->config.key, sizeof(f->config.key), davy_config_rows[o->key].name);
	davy_copy_name(f->name, sizeof(f->name), o->name);
	f->config.value = value;
	f->scope = o->scope;
	davy_agent_feed(a, &ev);
}

static const struct davy_override *policy_same(const struct davy_config *config,
					       const struct davy_override *o)
{
	return davy_config_override(config, o->scope, o->name, (enum davy_config_key)o->key);
}

/* First removes old overrides: the new ones may need their room. */
static void feed_overrides(struct davy_agent *a)
{
	struct davy_config before = a->core.config, after = a->config;

	davy_agent_thresholds_add(a, &after);
	for (uint32_t i = 0; i < before.override_count; i++)
		if (!policy_same(&after, &before.override[i]))
			feed_override(a, &before.override[i], DAVY_OVERRIDE_REMOVED);
	for (uint32_t i = 0; i < after.override_count; i++) {
		const struct davy_override *now = &after.override[i],
					   *was = policy_same(&before, now);

		if (!was || was->value != now->value)
			feed_override(a, now, now->value);
	}
}

/*
 * Feeds all values, so that other defaults of a later build do not change the decisions of an old
 * trace. Later feeds contain only changes.
 */
void davy_policy_feed(struct davy_agent *a)
{
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		feed_value(a, i);
	feed_overrides(a);
}

int davy_policy_reload(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN])
{
	int err = davy_policy_read(a, error);

	if (!err)
		err = policy_read_rules(a, error);
	davy_copy_name(a->policy_error, sizeof(a->policy_error), err ? error : "");
	if (err) {
		davy_log("%s; keeping the last good configuration", error);
		return err;
	}
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		if (a->config.value[i] != a->core.config.value[i])
			feed_value(a, i);
	feed_overrides(a);
	davy_log("the configuration was read again");
	if (a->hooks)
		a->hooks->rules_changed(a);
	return 0;
}
