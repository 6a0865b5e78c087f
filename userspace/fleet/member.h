/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One host of a fleet: publishes its own evidence in etcd, watches the failures of the others, and
 * decides which rules it takes. Never blocks; one object per host, any number in a process.
 *
 * Keys, below the prefix: host/HOST (who is there), fail/HOST/ID (rows with failures: everybody
 * watches them), lived/HOST/ID (rows without: only a sample is read, when a rule is to be judged).
 * A host writes only keys with its own name.
 */
#ifndef DAVY_MEMBER_H
#define DAVY_MEMBER_H

#include "fleet/etcd.h"
#include "fleet/judge.h"

#define DAVY_FLEET_OWN_MAX ((size_t)512) /* rows that a host publishes, the last seen first */

struct davy_member_config {
	const char *host, *prefix;
	uint32_t quorum, share; /* hosts, percent */
	uint32_t lease_s;	/* rows of a host that is gone expire */
	uint32_t trial_ms;	/* between the first hosts with a rule and all others */
	uint32_t hold_ms;	/* a taken rule stays so long without evidence */
	uint32_t publish_s; /* a row without news is written again after so much more survival */
};

struct davy_member_ops {
	void (*layer)(void *arg, const char *text); /* the layer's new text */
	void (*log)(void *arg, const char *text);
	void *arg;
};

/* A row of this host, as the keeper reads it. */
struct davy_own_row {
	struct davy_ledger_row row;
	char device[DAVY_DEVICE_LEN]; /* identity */
	uint32_t learned;
};

struct davy_member;

/* NULL: no memory. "config", "access" and "ops" outlive the member. */
struct davy_member *davy_member_new(const struct davy_member_config *config,
				    const struct davy_etcd_access *access, CURLM *multi,
				    const struct davy_member_ops *ops);
void davy_member_free(struct davy_member *m);

/* Set the GPUs and the rows of this host. Each call replaces the list before it. */
void davy_member_devices(struct davy_member *m, const struct davy_fleet_device *device,
			 size_t count);
void davy_member_rows(struct davy_member *m, const struct davy_own_row *row, size_t count);

/* The revision of an earlier run; a store that is older is noticed. */
void davy_member_seen(struct davy_member *m, int64_t revision);

/* Ends its connections, as a network that is gone; for the simulation of a fleet. */
void davy_member_cut(struct davy_member *m);

/* Does what is due. Returns when to call it again at the latest. */
uint64_t davy_member_step(struct davy_member *m, uint64_t now_ms);

/* The state as JSON for 'davylamp fleet status'; a new reference. */
json_t *davy_member_status(const struct davy_member *m);

/* Changes when the status has news. */
uint64_t davy_member_stamp(const struct davy_member *m);

/* Taken rules; for tests and the simulation of a fleet. */
size_t davy_member_taken(const struct davy_member *m, struct davy_fleet_rule *ret_rules,
			 size_t max);

#endif
