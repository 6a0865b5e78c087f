/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What davylamp exec knows and decides of one command, from its options to what is started. Only
 * exec*.c include it.
 */
#ifndef DAVY_EXEC_CASE_H
#define DAVY_EXEC_CASE_H

#include "act/launch.h"
#include "host/host_devices.h"
#include "engines/tell.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "cli/exec_options.h"

#define DAVY_EXEC_VARIABLES 64

struct davy_exec_variable {
	const char *name;
	const char *value;			  /* NULL: unset */
	const struct davy_policy_value *value_of; /* the rule that sets it, or NULL */
};

struct davy_exec_case {
	struct davy_exec_options options;
	struct davy_policy_layers layers;
	struct davy_policy_set set; /* of them */
	struct davy_learned learned;
	size_t device_count;
	struct davy_host_device devices[DAVY_HOST_DEVICES_MAX];
	struct davy_host_device *device;  /* that the decision is about, or NULL */
	char vulkan_why[DAVY_REASON_LEN]; /* why it could not list its devices; "" */
	char fit_why[DAVY_REASON_LEN];
	char blob[PATH_MAX + 128];	/* Ollama's file of the model; "" */
	char own_model[DAVY_MODEL_LEN]; /* as the command calls it */
	struct davy_choice_question question;
	struct davy_choice choice;
	struct davy_engine_target target;
	struct davy_environment told; /* what the target comes down to */
	size_t variable_count;
	struct davy_exec_variable variables[DAVY_EXEC_VARIABLES];
	struct davy_launch launch;
	struct davy_args base; /* the command as the decision and the rules would have it */
	struct davy_engine_wish wish;
};

/* exec_layers.c: false: they are not in order, which was told, and there are none. */
bool davy_exec_layers_read(const struct davy_exec_options *options,
			   struct davy_policy_layers *layers);

/* exec_gather.c: everything that the decision is made of. An exit status; what is wrong is told. */
int davy_exec_gather(struct davy_exec_case *c);

/* exec_model.c: what the model takes. */
void davy_exec_model(struct davy_exec_case *c);

/* exec_apply.c: command and environment by the decision. An exit status. */
int davy_exec_apply(struct davy_exec_case *c);

/* exec_say.c: the decision in the messages of a start. */
void davy_exec_say(const struct davy_exec_case *c);
/* One value of a rule that is heeded. */
void davy_exec_say_value(const char *key, const struct davy_policy_value *value);

/* exec_print.c: of --explain and --dry-run, for what would be started as "args". */
void davy_exec_print(const struct davy_exec_case *c, const struct davy_args *args);

#endif
