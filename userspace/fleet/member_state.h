/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of a member: requests (member.c), rules (member_rules.c), publishing (member_tell.c). */
#ifndef DAVY_MEMBER_STATE_H
#define DAVY_MEMBER_STATE_H

#include "fleet/member.h"

/* Rows without failures that are read for a judgement, and if the result is close. */
#define DAVY_MEMBER_SAMPLE	 128
#define DAVY_MEMBER_SAMPLE_CLOSE 1024

struct davy_member_own {
	struct davy_fleet_row e;
	bool told, told_failed; /* published, and below which prefix */
	bool gone;		/* from the ledger, or too old: to be removed */
	uint64_t told_hash;
	uint64_t told_s; /* survival that was published */
};

struct davy_member_rule {
	struct davy_fleet_rule rule;
	bool taken;
	uint64_t first_ms, seen_ms;
};

struct davy_member {
	struct davy_member_config config;
	struct davy_member_ops ops;
	struct davy_etcd etcd;
	struct davy_fleet_device device[DAVY_FLEET_DEVICES_MAX];
	size_t device_count;
	struct davy_member_own *own;
	size_t own_count;
	struct davy_fleet_row *own_rows; /* those that are not gone, as the judge reads them */
	size_t own_rows_count;

	bool connected, synced, watching, announced;
	bool changed; /* evidence has changed: judge again */
	uint32_t tries;
	uint64_t now_ms, started_ms, retry_ms, keepalive_ms, count_ms, judge_ms;
	int64_t lease, revision, asked_revision, load_revision, rolled_back_s;
	int64_t hosts;
	uint64_t refused, replayed; /* rows */
	struct davy_fleet_table failed, lived, loading, sampling;
	char load_from[DAVY_ETCD_KEY_MAX];

	bool sample_wanted;
	enum {
		SAMPLE_COUNT,
		SAMPLE_AFTER,
		SAMPLE_BEFORE
	} sample_step;
	uint64_t sampled_ms, sample_ms; /* the last one, and when the next is due */
	char sample_from[DAVY_ETCD_KEY_MAX];
	uint64_t sample_total, sample_got;
	uint32_t sample_size; /* of the next one, or the one that runs */
	uint32_t lived_scale;

	struct davy_member_rule rule[DAVY_FLEET_RULES_MAX];
	size_t rule_count;
	uint64_t layer_hash, stamp;
	size_t publishing; /* rows in the running transaction */
	size_t publish_index[64];
};

/* member_rules.c */
void davy_member_judge(struct davy_member *m);

/* member_tell.c: a transaction with rows that have news; NULL: none has. */
json_t *davy_member_news(struct davy_member *m);
void davy_member_told(struct davy_member *m);
void davy_member_forget_told(struct davy_member *m); /* the store has lost all */
void davy_member_check_told(struct davy_member *m);  /* the store may have lost some */

void davy_member_log(struct davy_member *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
