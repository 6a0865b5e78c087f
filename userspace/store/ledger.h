/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: what came of every setting that a model ran with on a device, over all starts. One
 * row for each (device, model, backend, ubatch, context) and environment (versions of driver,
 * kernel, firmware and engine), in the state directory's database (db.h has the errors).
 *
 * Rows of another environment are kept as they are and count less: their weight is made when they
 * are read. A row of the very environment of now weighs 1000; each of the four versions that
 * differs halves it (500, 250, 125, 62). A version not known, now or then, is no difference.
 */
#ifndef DAVY_LEDGER_H
#define DAVY_LEDGER_H

#include "core/event/log_kind.h"
#include "core/event/types.h"
#include "store/db.h"

#define DAVY_LEDGER_ROWS    4096 /* the least recently seen go */
#define DAVY_LEDGER_VERSION DAVY_VERSION_TEXT_LEN
#define DAVY_LEDGER_WEIGHT  1000 /* of a row of this environment */

/* Versions; "" when not known. Firmware "mes 0x83", engine "llama-server 0.7.0". */
struct davy_ledger_environment {
	char driver[DAVY_LEDGER_VERSION];
	char kernel[DAVY_LEDGER_VERSION];
	char firmware[DAVY_LEDGER_VERSION];
	char engine[DAVY_LEDGER_VERSION];
};

struct davy_ledger_key {
	char device[DAVY_DEVICE_LEN];
	char model[DAVY_MODEL_LEN];
	enum davy_backend backend;
	uint32_t ubatch; /* 0: as the engine has it by default */
	uint32_t context;
	struct davy_ledger_environment environment;
};

struct davy_ledger_entry {
	uint64_t survived_s;
	uint32_t deepest;      /* tokens of context that were reached without trouble */
	uint32_t failed_depth; /* the least at which trouble came; 0: none, or not known */
	uint64_t slowest_job_ns;
	uint32_t faults[DAVY_CLASS_COUNT]; /* by enum davy_log_class */
	enum davy_log_class outcome; /* the last: DAVY_CLASS_NONE: it went on, else how it failed */
	int64_t failed_s;	     /* wall clock of the last failure, 0: none */
	int64_t first_s;	     /* wall clock, first and last seen */
	int64_t last_s;
};

struct davy_ledger_row {
	struct davy_ledger_key key;
	struct davy_ledger_entry entry;
	uint32_t weight; /* 62 to 1000 */
};

/* What is looked for; "" and 0: any. */
struct davy_ledger_filter {
	const char *device; /* may be NULL, too */
	const char *model;
	enum davy_backend backend;
	const struct davy_ledger_environment *now; /* NULL: every row weighs 1000 */
};

/*
 * Adds what came since the last time: seconds and faults are added, depth and slowest job are the
 * most of both, failed_depth the least that is not 0. "last_s" is when, 0: now; "failed_s" and
 * "first_s" are filled in. 0, or -errno: then nothing of it was added.
 */
int davy_ledger_note(struct davy_db *db, const struct davy_ledger_key *key,
		     const struct davy_ledger_entry *delta);

/*
 * Calls "found" for each row, the last seen first; it must not write to the ledger. Rows in no form
 * that davy_ledger_note writes are passed over. Returns how many were shown, or -errno.
 */
int davy_ledger_each(struct davy_db *db, const struct davy_ledger_filter *filter,
		     void (*found)(void *arg, const struct davy_ledger_row *row), void *arg);

/* How much a row of the one environment is worth in the other, of DAVY_LEDGER_WEIGHT. */
uint32_t davy_ledger_weight(const struct davy_ledger_environment *then,
			    const struct davy_ledger_environment *now);

/*
 * One number for the four: other versions have another one, and what is not known is a version of
 * its own. Never 0; the same on every host and in every build (FNV-1a).
 */
uint64_t davy_ledger_environment_stamp(const struct davy_ledger_environment *environment);

/*
 * Removes the rows of a device, of a model, or of both at once ("": any), and what the tuner knows
 * of it (tuning.h). How many of both, or -errno.
 */
int davy_ledger_forget(struct davy_db *db, const char *device, const char *model);

#endif
