/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the evidence of a fleet to rules for this host: the same evidence gives the same rules on
 * every host of the same devices and versions. No file, clock or network.
 *
 * A host finds a setting bad if it failed there and survived less than a day per failure, and good
 * if it survived an hour or more without that. A rule needs a quorum of hosts that find a ubatch,
 * or a smaller one, bad, and these must be a share of all hosts that have a finding, so that k
 * liars change nothing while k is less than the quorum, and little while most hosts disagree.
 */
#ifndef DAVY_JUDGE_H
#define DAVY_JUDGE_H

#include "fleet/fleet_row.h"

#define DAVY_FLEET_RULES_MAX   64
#define DAVY_FLEET_DEVICES_MAX 32
#define DAVY_FLEET_GOOD_S      3600
#define DAVY_FLEET_BAD_S       86400

struct davy_fleet_device {
	char device[DAVY_DEVICE_LEN]; /* identity, as in the evidence */
	char driver[DAVY_LEDGER_VERSION];
};

struct davy_judge_question {
	const char *host;
	uint32_t quorum;			/* hosts */
	uint32_t share;				/* percent of the hosts with a finding */
	const struct davy_fleet_device *device; /* of this host */
	size_t device_count;
	const struct davy_fleet_row *own; /* all rows of this host */
	size_t own_count;
	const struct davy_fleet_table *failed; /* rows with failures, of all hosts */
	const struct davy_fleet_table *lived;  /* others, a sample */
	uint32_t lived_scale;		       /* each stands for so many, in percent */
};

enum davy_fleet_verdict {
	DAVY_FLEET_TAKE = 0,
	DAVY_FLEET_NO_SHARE,	 /* most hosts survive with it */
	DAVY_FLEET_CONTRADICTED, /* this host survives with it */
	DAVY_FLEET_WITHDRAWN,	 /* hosts with the narrower value fail more often */
	DAVY_FLEET_VERDICT_COUNT,
};

struct davy_fleet_rule {
	uint64_t group;
	uint64_t id; /* group and values */
	enum davy_fleet_verdict verdict;
	char device[DAVY_DEVICE_LEN];
	char engine[DAVY_LEDGER_VERSION]; /* build */
	char model[DAVY_MODEL_HASH_LEN];
	enum davy_backend backend;
	uint32_t bad;	 /* the smallest ubatch that fails */
	uint32_t ubatch; /* the narrower one; 0: avoid the backend */
	uint32_t hosts_bad;
	uint32_t hosts_good;   /* that survive with "bad" or more, estimated */
	uint32_t hosts_narrow; /* that survive with the narrower value, of the known rows */
	uint64_t narrow_s;
	uint32_t faults[DAVY_CLASS_COUNT];
};

/* Candidates, also those that are not to be taken; at most DAVY_FLEET_RULES_MAX. */
size_t davy_fleet_judge(const struct davy_judge_question *q, struct davy_fleet_rule *ret_rules);

const char *davy_fleet_verdict_name(enum davy_fleet_verdict verdict);

/* Whether the host is one of the first hundredth to use a rule. */
bool davy_fleet_first(const char *host, uint64_t rule);

/* The name of the engine in a build such as "llama-server 0.7.0"; "" if unknown. */
void davy_fleet_engine_of(const char *build, char ret_name[DAVY_LEDGER_VERSION]);

#endif
