/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of versions.h (dl_versions_each is here, too); only versions.c includes this.
 * Errors as in db.h.
 */
#ifndef DL_STORE_VERSION_ROWS_H
#define DL_STORE_VERSION_ROWS_H

#include "store/versions.h"

struct dl_version_row {
	struct dl_version version; /* without "current" */
	bool pending;
	char *text; /* free() it */
};

/*
 * The row of a number; of 0 the newest, or the newest that is settled. -ENOENT; -EBADMSG: in no
 * form that we write (passed over when the newest is looked for).
 */
int dl_version_row(struct dl_db *db, uint32_t number, bool settled, struct dl_version_row *ret_row);

/* The greatest number of all, 0 when there is none. */
int dl_version_row_last(struct dl_db *db, uint32_t *ret_number);

int dl_version_row_add(struct dl_db *db, const struct dl_version_row *row);
int dl_version_row_drop(struct dl_db *db, uint32_t number);

/* It is pending no more, and the oldest beyond DL_VERSIONS_KEPT go. */
int dl_version_row_settle(struct dl_db *db, uint32_t number);

#endif
