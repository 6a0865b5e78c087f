/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tuner knows of a model on a device, as it stands in memory, in the state directory's
 * database (db.h has the errors). It is of one build: who loads it judges its numbers.
 */
#ifndef DL_STORE_TUNING_H
#define DL_STORE_TUNING_H

#include "store/db.h"

#define DL_TUNING_ROWS 256   /* the longest not saved go */
#define DL_TUNING_MAX  16384 /* bytes of a state */

/* Replaces what was saved; -EFBIG. */
int dl_tuning_save(struct dl_db *db, const char *device, const char *model, const void *state,
		   size_t size);

/* -ENOENT: nothing is known; -EPROTONOSUPPORT: of another size, a state of another build. */
int dl_tuning_load(struct dl_db *db, const char *device, const char *model, void *ret_state,
		   size_t size);

#endif
