/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy explain'. */
#ifndef DAVY_POLICY_EXPLAIN_H
#define DAVY_POLICY_EXPLAIN_H

#include <getopt.h>

#include "lib/message.h"
#include "store/policy_file.h"

int davy_policy_explain(int argc, char **argv);

/* Options for the subject and the rules; other verbs use them too. */
enum davy_explain_option {
	DAVY_EXPLAIN_FORCE =
		DAVY_IF_COUNT, /* smaller values are conditions (enum davy_condition) */
	DAVY_EXPLAIN_AVAILABLE,
	DAVY_EXPLAIN_POLICIES,
	DAVY_EXPLAIN_CONFIG,
	DAVY_EXPLAIN_STATE,
	DAVY_EXPLAIN_SOCKET,
	DAVY_EXPLAIN_JSON,
	DAVY_EXPLAIN_HELP,
	DAVY_EXPLAIN_COUNT,
};

struct davy_explain_options {
	struct davy_policy_subject subject;
	const char *device;  /* of this host; NULL: any */
	const char *dirs[3]; /* index: option - DAVY_EXPLAIN_POLICIES */
	const char *socket_path;
	bool asked;	/* an option of the subject was given */
	bool described; /* options describe the GPU; those of this host are ignored */
	bool json;
};

#define DAVY_EXPLAIN_OPTIONS_INIT                                                                  \
	{                                                                                          \
		.dirs = { DAVY_DATA_DIR "/policies", DAVY_CONFIG_DIR, DAVY_STATE_DIR },            \
		.socket_path = DAVY_SOCKET_DEFAULT                                                 \
	}

/* For getopt_long; the last one is all zero. */
const struct option *davy_policy_explain_options(void);

/* False: the value of "option" is not valid (logged). */
bool davy_policy_explain_take(struct davy_explain_options *o, int id, const char *option,
			      const char *text);

/* The caller frees the result. NULL: not valid (logged). */
struct davy_policy_layers *davy_policy_explain_rules(const struct davy_explain_options *o);

/* Prints the effective settings of one subject and their origin: text, or one JSON object. */
void davy_policy_print(const struct davy_policy_subject *subject,
		       const struct davy_effective *effective);
void davy_policy_print_json(const struct davy_policy_subject *subject,
			    const struct davy_effective *effective);

#endif
