/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the alarms with tunable thresholds led to on this host, and the changes made from it, in the
 * state directory's database (db.h has the errors).
 */
#ifndef DAVY_SAMPLES_H
#define DAVY_SAMPLES_H

#include "core/score/threshold.h"
#include "store/db.h"

#define DAVY_SAMPLES_KEPT 1024 /* of a key (db.c); the oldest are removed first */

int davy_sample_add(struct davy_db *db, const struct davy_sample *sample);

/*
 * Those of the key and the model of "like", without a model those of its device; oldest first. At
 * most DAVY_SAMPLES_KEPT. Their number or -errno; -EBADMSG: a row has another form.
 */
int davy_samples_load(struct davy_db *db, const struct davy_sample *like,
		      struct davy_sample *ret_samples);

#endif
