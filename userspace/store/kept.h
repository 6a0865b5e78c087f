/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that the agent keeps in tables of the state directory's database, and reads and replaces as
 * a whole: the adopted units, the counters of foresight. Each change is one transaction that waits
 * for the disk. Before schema 3 each was a file; the first load imports the file and renames it to
 * NAME.imported, or to NAME.bad if its content is invalid.
 */
#ifndef DAVY_KEPT_H
#define DAVY_KEPT_H

#include "store/db.h"

struct davy_kept {
	size_t size;	      /* of the state that the functions read and write */
	const char *old_file; /* its name before schema 3 */
	const char *select, *clear, *insert;
	/* 0 or -errno; -EBADMSG: the content is invalid. */
	int (*parse)(void *state, const char *text);
	int (*take)(void *state, struct davy_db *db, struct sqlite3_stmt *select);
	int (*put)(void *state, struct davy_db *db, struct sqlite3_stmt *insert);
};

/*
 * 0, also without a database. After an error of db.h *ret_state is zero, and the caller must not
 * save. -EUCLEAN: the file from before schema 3 was invalid and is now NAME.bad.
 */
int davy_kept_load(const char *dir, const struct davy_kept *kept, void *ret_state);
int davy_kept_save(const char *dir, const struct davy_kept *kept, void *state);

#endif
