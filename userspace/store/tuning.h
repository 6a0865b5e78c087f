/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tuner knows of a model on a device, as it stands in memory, in the state directory's
 * database (db.h has the errors). It is of one build: who loads it judges its numbers.
 */
#ifndef DAVY_TUNING_H
#define DAVY_TUNING_H

#include "store/db.h"

#define DAVY_TUNING_ROWS 256   /* the longest not saved go */
#define DAVY_TUNING_MAX	 16384 /* bytes of a state */

/* Replaces what was saved; -EFBIG. */
int davy_tuning_save(struct davy_db *db, const char *device, const char *model, const void *state,
		     size_t size);

/* -ENOENT: nothing is known; -EPROTONOSUPPORT: of another size, a state of another build. */
int davy_tuning_load(struct davy_db *db, const char *device, const char *model, void *ret_state,
		     size_t size);

#endif
