/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What davylamp exec knows and decides of one command, from its options to what is started. Only
 * exec*.c include it.
 */
#ifndef DL_VERBS_EXEC_CASE_H
#define DL_VERBS_EXEC_CASE_H

#include "act/launch.h"
#include "host/host_devices.h"
#include "engines/tell.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "cli/exec_options.h"

#define DL_EXEC_VARIABLES 64

struct dl_exec_variable {
	const char *name;
	const char *value;			/* NULL: unset */
	const struct dl_policy_value *value_of; /* the rule that sets it, or NULL */
};

struct dl_exec_case {
	struct dl_exec_options options;
	struct dl_policy_layers layers;
	struct dl_policy_set set; /* of them */
	struct dl_learned learned;
	size_t device_count;
	struct dl_host_device devices[DL_HOST_DEVICES_MAX];
	struct dl_host_device *device;	/* that the decision is about, or NULL */
	char vulkan_why[DL_REASON_LEN]; /* why it could not list its devices; "" */
	char fit_why[DL_REASON_LEN];
	char blob[PATH_MAX + 128];    /* Ollama's file of the model; "" */
	char own_model[DL_MODEL_LEN]; /* as the command calls it */
	struct dl_choice_question question;
	struct dl_choice choice;
	struct dl_engine_target target;
	struct dl_environment told; /* what the target comes down to */
	size_t variable_count;
	struct dl_exec_variable variables[DL_EXEC_VARIABLES];
	struct dl_launch launch;
	struct dl_args base; /* the command as the decision and the rules would have it */
	struct dl_engine_wish wish;
};

/* exec_layers.c: false: they are not in order, which was told, and there are none. */
bool dl_exec_layers_read(const struct dl_exec_options *options, struct dl_policy_layers *layers);

/* exec_gather.c: everything that the decision is made of. An exit status; what is wrong is told. */
int dl_exec_gather(struct dl_exec_case *c);

/* exec_model.c: what the model takes. */
void dl_exec_model(struct dl_exec_case *c);

/* exec_apply.c: command and environment by the decision. An exit status. */
int dl_exec_apply(struct dl_exec_case *c);

/* exec_say.c: the decision in the messages of a start. */
void dl_exec_say(const struct dl_exec_case *c);
/* One value of a rule that is heeded. */
void dl_exec_say_value(const char *key, const struct dl_policy_value *value);

/* exec_print.c: of --explain and --dry-run, for what would be started as "args". */
void dl_exec_print(const struct dl_exec_case *c, const struct dl_args *args);

#endif
