/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of one 'davylamp exec': options, facts, decision and the resulting command. Only exec*.c
 * include it.
 */
#ifndef DAVY_EXEC_CASE_H
#define DAVY_EXEC_CASE_H

#include "act/launch.h"
#include "host/host_devices.h"
#include "engines/tell.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "exec/exec_options.h"

#define DAVY_EXEC_VARIABLES 64

struct davy_exec_variable {
	const char *name;
	const char *value;			  /* NULL: unset */
	const struct davy_policy_value *value_of; /* the rule that sets it, or NULL */
};

struct davy_exec_case {
	struct davy_exec_options options;
	struct davy_policy_layers layers;
	struct davy_policy_set set; /* points into layers */
	struct davy_learned learned;
	size_t device_count;
	struct davy_host_device devices[DAVY_HOST_DEVICES_MAX];
	struct davy_host_device *device;  /* the chosen one, or NULL */
	char vulkan_why[DAVY_REASON_LEN]; /* error of Vulkan's enumeration, or "" */
	char fit_why[DAVY_REASON_LEN];
	char blob[PATH_MAX + 128];	/* Ollama's file of the model, or "" */
	char own_model[DAVY_MODEL_LEN]; /* as in the command */
	struct davy_choice_question question;
	struct davy_choice choice;
	struct davy_engine_target target;
	struct davy_environment applied; /* variables that select the target */
	size_t variable_count;
	struct davy_exec_variable variables[DAVY_EXEC_VARIABLES];
	struct davy_launch launch;
	struct davy_args base; /* the command with decision and rules applied */
	struct davy_engine_override override;
};

/* exec_layers.c: false: not valid (logged); the result is empty. */
bool davy_exec_layers_read(const struct davy_exec_options *options,
			   struct davy_policy_layers *layers);

/* exec_gather.c: reads the facts for the decision. Exit status; errors are logged. */
int davy_exec_gather(struct davy_exec_case *c);
/* The command's file as it is named here: chroot has another root. */
const char *davy_exec_path(const struct davy_exec_case *c, const char *path, char buf[PATH_MAX]);

/* exec_model.c: estimates the memory that the model needs. */
void davy_exec_model(struct davy_exec_case *c);

/* exec_apply.c: sets command and environment. Exit status. */
int davy_exec_apply(struct davy_exec_case *c);

/* exec_say.c: logs the decision. */
void davy_exec_say(const struct davy_exec_case *c);
/* Logs one value that a rule sets. */
void davy_exec_say_value(const char *key, const struct davy_policy_value *value);

/* exec_print.c: output of --explain and --dry-run. "args" is the command to start. */
void davy_exec_print(const struct davy_exec_case *c, const struct davy_args *args);

#endif
