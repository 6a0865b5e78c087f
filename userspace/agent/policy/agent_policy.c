/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds from files into the core, at the start and when they are read again. */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/log.h"
#include "agent/act/units.h"

/* Rules that are not in order leave those that were; the first time there are none then. */
static int read_rules(struct dl_agent *a, char error[DL_CONFIG_ERROR_LEN])
{
	struct dl_policy_layers *rules = malloc(sizeof(*rules));
	int err;

	if (!rules) {
		snprintf(error, DL_CONFIG_ERROR_LEN, "rules of backends: out of memory");
		return -ENOMEM;
	}
	dl_policy_layers_init(rules);
	err = dl_policy_dirs_read(a->options.data_dir, a->options.state_dir, a->options.config_dir,
				  rules, error);
	if (!err && error[0])
		dl_log("%s; the agent's own rules are left out", error);
	if (err && !error[0])
		snprintf(error, DL_CONFIG_ERROR_LEN, "rules of backends: %s", strerror(-err));
	if (err) {
		free(rules);
		return err;
	}
	free(a->rules);
	a->rules = rules;
	a->rules_read++;
	return 0;
}

void dl_policy_rules_open(struct dl_agent *a)
{
	char error[DL_CONFIG_ERROR_LEN] = "";

	if (!read_rules(a, error))
		return;
	dl_copy_name(a->policy_error, sizeof(a->policy_error), error);
	dl_log("%s; no rules of backends are in force until it is mended", error);
}

void dl_policy_agent_layer_read(struct dl_agent *a)
{
	struct dl_policy_layer *layer = a->rules ? malloc(sizeof(*layer)) : NULL;
	char error[DL_CONFIG_ERROR_LEN] = "", path[PATH_MAX];
	int err;

	if (!layer)
		return; /* without the others' rules it says nothing */
	dl_policy_layer_init(layer, DL_LAYER_AGENT);
	err = dl_root_path(path, sizeof(path), "%s/%s", a->options.state_dir, DL_POLICY_NAME);
	if (!err)
		err = dl_policy_file_read(path, DL_LAYER_AGENT, layer, error);
	if (!err || err == -ENOENT)
		dl_policy_layer_copy(&a->rules->at[DL_LAYER_AGENT], layer);
	else
		dl_log("policy layer '%s': %s; the agent goes on by the rules it had", path,
		       error[0] ? error : strerror(-err));
	a->rules_read++;
	free(layer);
	dl_units_tell_rules(a);
}

json_t *dl_policy_people_rules(struct dl_agent *a)
{
	char error[DL_CONFIG_ERROR_LEN], *text = NULL;
	json_t *message = NULL;
	size_t size;

	if (a->rules && !dl_policy_text_write(&a->rules->at[DL_LAYER_PEOPLE], &text, &size, error))
		message = json_pack("{s:s, s:s}", "op", "people_rules", "text", text);
	free(text);
	return message ? message : json_pack("{s:s, s:s}", "op", "error", "why", "there are none");
}

int dl_policy_read(struct dl_agent *a, char error[DL_CONFIG_ERROR_LEN])
{
	struct dl_config config;
	int err;

	err = dl_config_dirs_read(a->options.data_dir, a->options.state_dir, a->options.config_dir,
				  &config, error);
	if (err)
		return err;
	if (error[0])
		dl_log("%s; what 'davylamp tune' found is not used", error);
	if (a->options.mode >= 0)
		config.value[DL_CFG_MODE] = a->options.mode;
	a->config = config;
	return 0;
}

static void feed_value(struct dl_agent *a, int key)
{
	struct dl_event ev = dl_agent_event(DL_EV_CONFIG, 0);

	dl_copy_name(ev.config.key, sizeof(ev.config.key), dl_config_rows[key].name);
	ev.config.value = a->config.value[key];
	dl_agent_feed(a, &ev);
}

static void feed_override(struct dl_agent *a, const struct dl_override *o, int64_t value)
{
	struct dl_event ev = dl_agent_event(DL_EV_CONFIG_FOR, 0);
	struct dl_ev_config_for *f = &ev.config_for;

	dl_copy_name(f->config.key, sizeof(f->config.key), dl_config_rows[o->key].name);
	dl_copy_name(f->name, sizeof(f->name), o->name);
	f->config.value = value;
	f->scope = o->scope;
	dl_agent_feed(a, &ev);
}

static const struct dl_override *same(const struct dl_config *config, const struct dl_override *o)
{
	return dl_config_override(config, o->scope, o->name, (enum dl_config_key)o->key);
}

/* First what is gone is taken back: the others may need its room. */
static void feed_overrides(struct dl_agent *a)
{
	struct dl_config before = a->core.config;

	for (uint32_t i = 0; i < before.override_count; i++)
		if (!same(&a->config, &before.override[i]))
			feed_override(a, &before.override[i], DL_OVERRIDE_REMOVED);
	for (uint32_t i = 0; i < a->config.override_count; i++) {
		const struct dl_override *now = &a->config.override[i], *was = same(&before, now);

		if (!was || was->value != now->value)
			feed_override(a, now, now->value);
	}
}

/*
 * All values, so that a later build's other defaults do not change an old trace's decisions. What
 * comes later is only what has changed.
 */
void dl_policy_feed(struct dl_agent *a)
{
	for (int i = 0; i < DL_CFG_COUNT; i++)
		feed_value(a, i);
	feed_overrides(a);
}

int dl_policy_reload(struct dl_agent *a, char error[DL_CONFIG_ERROR_LEN])
{
	int err = dl_policy_read(a, error);

	if (!err)
		err = read_rules(a, error);
	dl_copy_name(a->policy_error, sizeof(a->policy_error), err ? error : "");
	if (err) {
		dl_log("%s; keeping the last good configuration", error);
		return err;
	}
	for (int i = 0; i < DL_CFG_COUNT; i++)
		if (a->config.value[i] != a->core.config.value[i])
			feed_value(a, i);
	feed_overrides(a);
	dl_log("configuration read again");
	dl_units_tell_rules(a);
	return 0;
}
