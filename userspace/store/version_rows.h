/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of versions.h (davy_versions_each() is here too); only versions.c includes this. Errors
 * as in db.h.
 */
#ifndef DAVY_VERSION_ROWS_H
#define DAVY_VERSION_ROWS_H

#include "store/versions.h"

struct davy_version_row {
	struct davy_version version; /* without "current" */
	bool pending;
	char *text; /* the caller frees it */
};

/*
 * The row of a number; 0: the newest, or the newest settled one. -ENOENT; -EBADMSG: in another form
 * than davylamp writes (skipped in the search for the newest).
 */
int davy_version_row(struct davy_db *db, uint32_t number, bool settled,
		     struct davy_version_row *ret_row);

/* The greatest number, 0: there is none. */
int davy_version_row_last(struct davy_db *db, uint32_t *ret_number);

int davy_version_row_add(struct davy_db *db, const struct davy_version_row *row);
int davy_version_row_drop(struct davy_db *db, uint32_t number);

/* Settles the row, and removes the oldest beyond DAVY_VERSIONS_KEPT. */
int davy_version_row_settle(struct davy_db *db, uint32_t number);

#endif
