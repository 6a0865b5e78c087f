/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tuner's knowledge of a model on a device, as it is in memory, in the state directory's
 * database (db.h has the errors). Its form belongs to one build: the caller that loads it checks
 * its numbers.
 */
#ifndef DAVY_TUNING_H
#define DAVY_TUNING_H

#include "store/db.h"

#define DAVY_TUNING_ROWS 256   /* the least recently saved are removed first */
#define DAVY_TUNING_MAX	 16384 /* bytes of a state */

/* Replaces the saved state; -EFBIG. */
int davy_tuning_save(struct davy_db *db, const char *device, const char *model, const void *state,
		     size_t size);

/* -ENOENT: no knowledge; -EPROTONOSUPPORT: another size, from another build. */
int davy_tuning_load(struct davy_db *db, const char *device, const char *model, void *ret_state,
		     size_t size);

#endif
