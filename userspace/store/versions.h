/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of the agent's policy layer, DIR/backend.conf: each text that it ever had, whole (with
 * its first line, generated.h), with time, reason and evidence, in the state directory's
 * database (db.h has the errors).
 *
 * A change is three steps: its row, pending; the file, by rename; the row, settled. The rename is
 * what makes it happen. Whoever is killed or finds the disk full at any step leaves the file old or
 * new, and the next change or davy_versions_repair brings both together:
 *
 * - a pending row whose text the file has is settled: the change happened;
 * - any other pending row is removed: it did not;
 * - a file that is gone is written again from the newest version: nobody but the agent removes it,
 *   and 'davylamp policy rollback 0' is the way to be without its rules;
 * - a file that was changed by hand, or was never ours, is put aside as backend.conf.hand, and the
 *   newest version is written: rules of people have a layer of their own;
 * - a file of ours that no version has wins over them: the database was lost, or is an old copy of
 *   itself, and the file is what engines were told. It becomes the newest version.
 *
 * Each change holds the lock of the file (file_lock.h); others get -EBUSY after 200 ms.
 */
#ifndef DAVY_VERSIONS_H
#define DAVY_VERSIONS_H

#include "store/db.h"

#define DAVY_VERSIONS_KEPT    200 /* the oldest go */
#define DAVY_VERSION_REASON   320
#define DAVY_VERSION_EVIDENCE 1024

struct davy_version {
	uint32_t number; /* from 1 on */
	int64_t made_s;	 /* wall clock */
	char reason[DAVY_VERSION_REASON];
	char evidence[DAVY_VERSION_EVIDENCE]; /* "" when there is none */
	size_t size;			      /* bytes of the text */
	bool current;			      /* told by davy_versions_each */
};

enum davy_version_repair {
	DAVY_VERSIONS_WHOLE = 0, /* there was nothing to repair */
	DAVY_VERSIONS_SETTLED = 1,
	DAVY_VERSIONS_DROPPED = 2,
	DAVY_VERSIONS_RESTORED = 3,
	DAVY_VERSIONS_ADOPTED = 4,
	DAVY_VERSIONS_ASIDE = 5,
};

/* Brings file and versions together; an enum davy_version_repair, or -errno. */
int davy_versions_repair(struct davy_db *db);

/* What was repaired, for people. */
const char *davy_version_repair_text(int repair);

/*
 * Makes "body" (whole lines of UTF-8, without the first line) the layer. Its number; 0: it is that
 * already, and nothing was written; -EINVAL: it is no text, -EFBIG.
 */
int davy_version_add(struct davy_db *db, const char *reason, const char *evidence,
		     const char *body);

/*
 * Makes the text of an earlier version the layer again, byte for byte, its first line too; that is
 * a version of its own. 0: the layer before any. As above; -ENOENT: there is no such version.
 */
int davy_version_rollback(struct davy_db *db, uint32_t number);

/* The newest first; returns how many were shown, or -errno. */
int davy_versions_each(struct davy_db *db,
		       void (*found)(void *arg, const struct davy_version *version), void *arg);

/* One of them, and its whole text unless "ret_text" is NULL: free() it. -ENOENT */
int davy_version_get(struct davy_db *db, uint32_t number, struct davy_version *ret_version,
		     char **ret_text);

/*
 * The version since which the layer has had a rule as it has it now: its reason and evidence are
 * the rule's. -ENOENT: it has none of that name.
 */
int davy_version_of_rule(struct davy_db *db, const char *rule, struct davy_version *ret_version);

/* The newest one's number, 0 when there is none, or -errno. */
int davy_version_newest(struct davy_db *db);

#endif
