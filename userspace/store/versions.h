/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of the agent's policy layer, DIR/backend.conf: each text that it ever had, complete
 * (with its first line, generated.h), with time, reason and evidence, in the state directory's
 * database (db.h has the errors).
 *
 * A change has three steps: its row, pending; the file, by rename; the row, settled. The rename is
 * the moment of the change. A crash or a full disk at any step leaves the file old or new, and the
 * next change or davy_versions_repair() brings both together:
 *
 * - a pending row whose text is in the file is settled: the change happened;
 * - any other pending row is removed: it did not;
 * - a missing file is written again from the newest version: only the agent removes it, and
 * 'davylamp policy rollback 0' is the way to be without its rules;
 * - a file that was changed by hand, or is not davylamp's, is renamed to backend.conf.hand, and the
 * newest version is written: rules of the administrator have a layer of their own;
 * - a generated file that no version has becomes the newest version: the database was lost or is an
 * old copy, and engines have the file's settings.
 *
 * Each change holds the lock of the file (file_lock.h); others get -EBUSY after 200 ms.
 */
#ifndef DAVY_VERSIONS_H
#define DAVY_VERSIONS_H

#include "store/db.h"

#define DAVY_VERSIONS_KEPT    200 /* the oldest are removed first */
#define DAVY_VERSION_REASON   320
#define DAVY_VERSION_EVIDENCE 1024

struct davy_version {
	uint32_t number; /* from 1 on */
	int64_t made_s;	 /* wall clock */
	char reason[DAVY_VERSION_REASON];
	char evidence[DAVY_VERSION_EVIDENCE]; /* "" if there is none */
	size_t size;			      /* bytes of the text */
	bool current;			      /* set by davy_versions_each() */
};

enum davy_version_repair {
	DAVY_VERSIONS_WHOLE = 0, /* no repair was needed */
	DAVY_VERSIONS_SETTLED = 1,
	DAVY_VERSIONS_DROPPED = 2,
	DAVY_VERSIONS_RESTORED = 3,
	DAVY_VERSIONS_ADOPTED = 4,
	DAVY_VERSIONS_ASIDE = 5,
};

/* Brings file and versions together; an enum davy_version_repair, or -errno. */
int davy_versions_repair(struct davy_db *db);

/* A message for the repair. */
const char *davy_version_repair_text(int repair);

/*
 * Makes "body" (whole lines of UTF-8, without the first line) the layer. Its number; 0: it is that
 * already, and nothing was written; -EINVAL: it is no text, -EFBIG.
 */
int davy_version_add(struct davy_db *db, const char *reason, const char *evidence,
		     const char *body);

/*
 * Makes the text of an earlier version the layer again, byte for byte, with its first line; that is
 * a new version. 0: no layer at all. As above; -ENOENT: there is no such version.
 */
int davy_version_rollback(struct davy_db *db, uint32_t number);

/* The newest first; returns the number of calls, or -errno. */
int davy_versions_each(struct davy_db *db,
		       void (*found)(void *arg, const struct davy_version *version), void *arg);

/* One of them, and its whole text unless "ret_text" is NULL; the caller frees it. -ENOENT */
int davy_version_get(struct davy_db *db, uint32_t number, struct davy_version *ret_version,
		     char **ret_text);

/*
 * The version since which the layer has had a rule as it has it now: its reason and evidence are
 * the rule's. -ENOENT: there is no such rule.
 */
int davy_version_of_rule(struct davy_db *db, const char *rule, struct davy_version *ret_version);

/* The number of the newest, 0 if there is none, or -errno. */
int davy_version_newest(struct davy_db *db);

#endif
