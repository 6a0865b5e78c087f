/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy check' and 'reload': check files; the agent reads its files again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/event/event.h"
#include "lib/message.h"
#include "lib/text.h"
#include "store/config_file.h"
#include "store/config_section.h"
#include "store/config_value.h"
#include "store/policy_file.h"
#include "verb/client.h"
#include "policy_cli/policy_check.h"
#include "verb/verb.h"

static void print_result(const char *what, const char *why, bool json)
{
	char safe[2 * DAVY_CONFIG_ERROR_LEN];
	json_t *o;

	davy_text_safe(safe, sizeof(safe), what);
	if (!json && why[0]) {
		davy_log("%s", why);
	} else if (!json) {
		printf("%s: valid\n", safe);
	} else {
		o = json_pack("{s:s, s:b}", "file", safe, "ok", !why[0]);
		if (why[0])
			json_object_set_new(o, "why", json_string(why));
		json_dumpf(o, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(o);
	}
}

static void policy_check_print_value(enum davy_config_key key, int64_t value,
				     const struct davy_override *o)
{
	char text[DAVY_CONFIG_VALUE_LEN], name[4 * DAVY_MODEL_LEN];

	davy_config_value_text(davy_config_rows[key].unit, value, text);
	printf("  %s = %s", davy_config_rows[key].name, text);
	if (o)
		printf(" for %s %s", davy_scope_name(o->scope),
		       davy_text_safe(name, sizeof(name), o->name));
	putchar('\n');
}

static void print_differences(const struct davy_config *config)
{
	for (int i = 0; i < DAVY_CFG_COUNT; i++)
		if (config->value[i] != davy_config_rows[i].value)
			policy_check_print_value((enum davy_config_key)i, config->value[i], NULL);
	for (uint32_t i = 0; i < config->override_count; i++)
		policy_check_print_value((enum davy_config_key)config->override[i].key,
					 config->override[i].value, &config->override[i]);
}

/* "/etc/davylamp/backend.conf", "my-backend.conf" */
static bool is_rules(const char *path)
{
	size_t len = strlen(path), end = strlen(DAVY_POLICY_NAME);

	return len >= end && !strcmp(path + len - end, DAVY_POLICY_NAME);
}

/* Checks as the administrator's layer, which may contain everything. */
static bool check_rules(const char *path, bool json)
{
	struct davy_policy_layer *layer = malloc(sizeof(*layer));
	char error[DAVY_CONFIG_ERROR_LEN] = "";
	int err = -ENOMEM;

	if (layer)
		err = davy_policy_file_read(path, DAVY_LAYER_ADMIN, layer, error);
	if (err && err != -EBADMSG)
		snprintf(error, sizeof(error), "'%.300s': %s", path, strerror(-err));
	print_result(path, error, json);
	for (uint32_t i = 0; !err && !json && i < layer->rule_count; i++)
		printf("  line %u: rule %s%s\n", layer->rule[i].line, layer->rule[i].name,
		       layer->rule[i].pin ? ", pinned" : "");
	free(layer);
	return !err;
}

static bool check_host_rules(const char *state_dir, const char *config_dir, bool json)
{
	struct davy_policy_layers *layers = malloc(sizeof(*layers));
	char error[DAVY_CONFIG_ERROR_LEN] = "", path[512];
	int err = -ENOMEM;

	if (layers) {
		davy_policy_layers_init(layers);
		err = davy_policy_dirs_read(DAVY_DATA_DIR "/policies", state_dir, config_dir,
					    layers, error);
	}
	free(layers);
	snprintf(path, sizeof(path), "%s/" DAVY_POLICY_NAME, config_dir);
	if (!err && error[0]) {
		davy_log("%s; the agent's rules are ignored", error);
		error[0] = 0;
	} else if (err == -ENOMEM) {
		snprintf(error, sizeof(error), "%s", strerror(ENOMEM));
	}
	if (!err && access(path, F_OK))
		snprintf(path, sizeof(path), DAVY_DATA_DIR "/policies/" DAVY_POLICY_NAME);
	print_result(path, error, json);
	return !err;
}

static bool check_file(const char *path, bool json)
{
	char error[DAVY_CONFIG_ERROR_LEN] = "";
	struct davy_config config;
	int err;

	davy_config_defaults(&config);
	err = davy_config_file_read(path, &config, error);
	if (err && err != -EBADMSG)
		snprintf(error, sizeof(error), "'%.300s': %s", path, strerror(-err));
	print_result(path, error, json);
	if (!err && !json)
		print_differences(&config);
	return !err;
}

static bool check_host(const char *state_dir, const char *config_dir, bool json)
{
	char error[DAVY_CONFIG_ERROR_LEN] = "", path[512];
	struct davy_config config;
	int err = davy_config_dirs_read(DAVY_DATA_DIR "/policies", state_dir, config_dir, &config,
					error);

	if (!err && error[0]) {
		davy_log("%s; the thresholds of 'davylamp tune' are ignored", error);
		error[0] = 0;
	}
	snprintf(path, sizeof(path), "%s/hazards.conf", config_dir);
	if (!err && access(path, F_OK))
		snprintf(path, sizeof(path), DAVY_DATA_DIR "/policies/hazards.conf");
	print_result(path, error, json);
	if (!err && !json)
		print_differences(&config);
	return !err;
}

int davy_policy_check(char *const *paths, size_t count, const char *state_dir,
		      const char *config_dir, bool json)
{
	bool good = true;

	if (!count) {
		good = check_host(state_dir, config_dir, json);
		good &= check_host_rules(state_dir, config_dir, json);
	}
	for (size_t i = 0; i < count; i++)
		good &= is_rules(paths[i]) ? check_rules(paths[i], json)
					   : check_file(paths[i], json);
	return good ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;
}

int davy_policy_ask_reload(const char *socket_path, bool json)
{
	json_t *answer = NULL;
	int err = davy_client_ask(socket_path, json_pack("{s:s}", "op", "reload"), &answer);
	bool good;

	if (err)
		return err;
	good = json_is_true(json_object_get(answer, "ok"));
	if (json) {
		json_object_del(answer, "op");
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (good) {
		printf("the agent has read its files again\n");
	} else {
		davy_log("%s; the agent keeps the previous configuration",
			 davy_message_text(answer, "why"));
	}
	json_decref(answer);
	return good ? DAVY_EXIT_DONE : DAVY_EXIT_FAILED;
}
