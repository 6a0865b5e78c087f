/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy explain'. */
#ifndef DL_VERBS_POLICY_EXPLAIN_H
#define DL_VERBS_POLICY_EXPLAIN_H

#include <getopt.h>

#include "lib/message.h"
#include "store/policy_file.h"

int dl_policy_explain(int argc, char **argv);

/* Options that say whom it is about and by which rules, for other verbs too. */
enum dl_explain_option {
	DL_EXPLAIN_FORCE = DL_IF_COUNT, /* below it: the condition that it describes */
	DL_EXPLAIN_AVAILABLE,
	DL_EXPLAIN_POLICIES,
	DL_EXPLAIN_CONFIG,
	DL_EXPLAIN_STATE,
	DL_EXPLAIN_SOCKET,
	DL_EXPLAIN_JSON,
	DL_EXPLAIN_HELP,
	DL_EXPLAIN_COUNT,
};

struct dl_explain_options {
	struct dl_policy_subject subject;
	const char *device;  /* of this host; NULL: any */
	const char *dirs[3]; /* of DL_EXPLAIN_POLICIES and on */
	const char *socket_path;
	bool asked;	/* about something that need not run */
	bool described; /* no GPU of this host, but one with these properties */
	bool json;
};

#define DL_EXPLAIN_OPTIONS_INIT                                                                    \
	{                                                                                          \
		.dirs = { DL_DATA_DIR "/policies", DL_CONFIG_DIR, DL_STATE_DIR },                  \
		.socket_path = DL_SOCKET_DEFAULT                                                   \
	}

/* For getopt_long; the last one is all zero. */
const struct option *dl_policy_explain_options(void);

/* False: the text behind "option" is wrong, which has been said. */
bool dl_policy_explain_take(struct dl_explain_options *o, int id, const char *option,
			    const char *text);

/* To be freed; NULL: they are not in order, which has been said. */
struct dl_policy_layers *dl_policy_explain_rules(const struct dl_explain_options *o);

/* What follows for one subject, and why: of people's eyes, or one JSON object a line. */
void dl_policy_print(const struct dl_policy_subject *subject, const struct dl_effective *effective);
void dl_policy_print_json(const struct dl_policy_subject *subject,
			  const struct dl_effective *effective);

#endif
