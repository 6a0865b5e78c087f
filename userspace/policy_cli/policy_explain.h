/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy explain'. */
#ifndef DAVY_POLICY_EXPLAIN_H
#define DAVY_POLICY_EXPLAIN_H

#include "lib/message.h"
#include "lib/options.h"
#include "store/policy_file.h"

int davy_policy_explain(int argc, char **argv);

struct davy_explain_options;

/* An option that sets a condition of rules. */
struct davy_explain_fact {
	const char *option;
	enum davy_condition condition;
	bool of_gpu; /* describes a GPU: those of this host are ignored */
	struct davy_explain_options *of;
};

#define DAVY_EXPLAIN_FACTS 16

/* Options for the subject and the rules; other verbs use them too. */
struct davy_explain_options {
	struct davy_policy_subject subject;
	const char *device;			       /* PCI address on this host; NULL: any */
	const char *data_dir, *config_dir, *state_dir; /* NULL: default */
	const char *socket_path;
	bool asked;	/* an option of the subject was given */
	bool described; /* options describe the GPU; those of this host are ignored */
	bool json;
	struct davy_explain_fact facts[DAVY_EXPLAIN_FACTS];
};

#define DAVY_EXPLAIN_TABLE (DAVY_EXPLAIN_FACTS + 8) /* rows, with the empty one */

/* Fills a table for davy_options_read, which writes to "options". */
void davy_policy_explain_table(struct davy_explain_options *options,
			       struct davy_option *ret_options);

/* The caller frees the result. NULL: not valid (logged). */
struct davy_policy_layers *davy_policy_explain_rules(const struct davy_explain_options *o);

/* Prints the effective settings of one subject and their origin: text, or one JSON object. */
void davy_policy_print(const struct davy_policy_subject *subject,
		       const struct davy_effective *effective);
void davy_policy_print_json(const struct davy_policy_subject *subject,
			    const struct davy_effective *effective);

#endif
