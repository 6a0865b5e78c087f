/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: the results of every setting with which a model ran on a device, over all starts. One
 * row for each (device, model, backend, ubatch, context) and environment (versions of driver,
 * kernel, firmware and engine), in the state directory's database (db.h has the errors).
 *
 * Rows of another environment are kept unchanged and have less weight. The weight is computed when
 * they are read: 1000 for the current environment, halved for each of the four versions that
 * differs (500, 250, 125, 62). A version that is unknown, then or now, does not differ.
 */
#ifndef DAVY_LEDGER_H
#define DAVY_LEDGER_H

#include "core/event/log_kind.h"
#include "core/event/types.h"
#include "store/db.h"

#define DAVY_LEDGER_ROWS    4096 /* the least recently seen are removed first */
#define DAVY_LEDGER_VERSION DAVY_VERSION_TEXT_LEN
#define DAVY_LEDGER_WEIGHT  1000 /* of a row of this environment */

/* Versions; "" if unknown. Examples: firmware "mes 0x83", engine "llama-server 0.7.0". */
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
	uint32_t ubatch; /* 0: the engine's default */
	uint32_t context;
	struct davy_ledger_environment environment;
};

struct davy_ledger_entry {
	uint64_t survived_s;
	uint32_t deepest;      /* tokens of context reached without a failure */
	uint32_t failed_depth; /* lowest depth of a failure; 0: none, or unknown */
	uint64_t slowest_job_ns;
	uint32_t faults[DAVY_CLASS_COUNT]; /* by enum davy_log_class */
	enum davy_log_class outcome;	   /* the last one: how it failed, or DAVY_CLASS_NONE */
	int64_t failed_s;		   /* wall clock of the last failure, 0: none */
	int64_t first_s;		   /* wall clock, first and last seen */
	int64_t last_s;
};

struct davy_ledger_row {
	struct davy_ledger_key key;
	struct davy_ledger_entry entry;
	uint32_t weight; /* 62 to 1000 */
};

/* The filter; "" and 0: any. */
struct davy_ledger_filter {
	const char *device; /* may also be NULL */
	const char *model;
	enum davy_backend backend;
	const struct davy_ledger_environment *now; /* NULL: every row weighs 1000 */
};

/*
 * Adds the results since the last call: seconds and faults are added, depth and slowest job are the
 * maximum of both, failed_depth the minimum that is not 0. "last_s" is the time, 0: now; "failed_s"
 * and "first_s" are set. 0, or -errno: then nothing was added.
 */
int davy_ledger_note(struct davy_db *db, const struct davy_ledger_key *key,
		     const struct davy_ledger_entry *delta);

/*
 * Calls "found" for each row, the last seen first; it must not write to the ledger. Rows in another
 * form than davy_ledger_note() writes are skipped. Returns the number of calls, or -errno.
 */
int davy_ledger_each(struct davy_db *db, const struct davy_ledger_filter *filter,
		     void (*found)(void *arg, const struct davy_ledger_row *row), void *arg);

/* The weight of a row of one environment in the other, of DAVY_LEDGER_WEIGHT. */
uint32_t davy_ledger_weight(const struct davy_ledger_environment *then,
			    const struct davy_ledger_environment *now);

/*
 * A hash of the four versions; an unknown version counts as a version of its own. Never 0; the same
 * on every host and in every build (FNV-1a).
 */
uint64_t davy_ledger_environment_stamp(const struct davy_ledger_environment *environment);

/*
 * Removes the rows of a device, of a model, or of both ("": any), and the tuner's knowledge
 * (tuning.h). Returns the number of removed rows, or -errno.
 */
int davy_ledger_forget(struct davy_db *db, const char *device, const char *model);

#endif
