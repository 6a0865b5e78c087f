/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's policy layer: compared with its history at the start, changed by operators. */
#include "agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "store/layer_change.h"
#include "store/policy_file.h"
#include "store/versions.h"
#include "agent/policy/agent_policy.h"

void davy_agent_layer_open(struct davy_agent *a)
{
	const char *dir = a->options.state_dir;
	struct davy_db *db = NULL;
	int err = davy_db_open(dir, DAVY_DB_THERE, &db);

	if (err)
		return; /* the log of intents is in the same database, and its error was logged */
	err = davy_versions_repair(db);
	if (err > 0)
		davy_log("policy layer '%s/%s': %s", dir, DAVY_POLICY_NAME,
			 davy_version_repair_text(err));
	else if (err)
		davy_log("policy layer '%s/%s': cannot be compared with its history: %s; it stays "
			 "as it is",
			 dir, DAVY_POLICY_NAME, davy_db_why(err));
	davy_db_close(db);
}

/* A request with a state directory must name this agent's. */
static bool layer_is_ours(const struct davy_agent *a, const char *dir)
{
	struct stat ours, theirs;
	char path[PATH_MAX];

	if (!dir[0] || !strcmp(dir, a->options.state_dir))
		return true;
	return !davy_root_path(path, sizeof(path), "%s", a->options.state_dir) &&
	       !stat(path, &ours) && !stat(dir, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static int layer_import(struct davy_agent *a, const json_t *message, char why[DAVY_LAYER_WHY])
{
	const json_t *text = json_object_get(message, "text");
	const char *name = davy_message_text(message, "name");

	return davy_layer_import(a->options.state_dir, name[0] ? name : "import",
				 davy_message_text(message, "text"), json_string_length(text), why);
}

const char *davy_agent_layer_change(struct davy_link *link, const json_t *message)
{
	struct davy_agent *a = link->agent;
	const char *op = davy_message_text(message, "op"), *dir = a->options.state_dir;
	const char *device = davy_message_text(message, "device");
	const char *model = davy_message_text(message, "model");
	json_int_t number = davy_message_number(message, "version", -1);
	char why[DAVY_LAYER_WHY] = "";
	struct davy_layer_forgotten forgotten = { 0 };
	int result, learned = 0;

	if (!layer_is_ours(a, davy_message_text(message, "state")))
		return "this agent has another state directory; omit --state to change its own";
	if (!strcmp(op, "policy_rollback")) {
		if (number < 0 || number > INT32_MAX)
			return "the version must be a whole number";
		result = davy_layer_rollback(dir, (uint32_t)number, why);
	} else if (!strcmp(op, "policy_import")) {
		result = layer_import(a, message, why);
	} else if (!device[0] && !model[0] && !json_is_true(json_object_get(message, "all"))) {
		return "specify a device, a model, or all";
	} else {
		learned = davy_agent_learned_forget(a, device, model);
		if (learned < 0)
			return "learned.conf cannot be read, and stays unchanged; see the agent's "
			       "log";
		davy_agent_tuning_forget(a, device, model);
		result = davy_layer_forget(dir, device, model, &forgotten, why);
		result = result ? result : forgotten.row_count;
	}
	if (strcmp(op, "policy_forget") != 0 ? result > 0 : forgotten.version > 0)
		davy_policy_agent_layer_read(a);
	davy_message_send(link->fd, json_pack("{s:s, s:i, s:i, s:i, s:i, s:s}", "op",
					      "policy_changed", "result", result, "learned",
					      learned, "rules", forgotten.rule_count, "version",
					      forgotten.version, "why", why));
	return NULL;
}
