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
#ifndef DL_STORE_LEDGER_H
#define DL_STORE_LEDGER_H

#include "core/event/log_kind.h"
#include "core/event/types.h"
#include "store/db.h"

#define DL_LEDGER_ROWS	  4096 /* the least recently seen go */
#define DL_LEDGER_VERSION DL_VERSION_TEXT_LEN
#define DL_LEDGER_WEIGHT  1000 /* of a row of this environment */

/* Versions; "" when not known. Firmware "mes 0x83", engine "llama-server 0.7.0". */
struct dl_ledger_environment {
	char driver[DL_LEDGER_VERSION];
	char kernel[DL_LEDGER_VERSION];
	char firmware[DL_LEDGER_VERSION];
	char engine[DL_LEDGER_VERSION];
};

struct dl_ledger_key {
	char device[DL_DEVICE_LEN];
	char model[DL_MODEL_LEN];
	enum dl_backend backend;
	uint32_t ubatch; /* 0: as the engine has it by default */
	uint32_t context;
	struct dl_ledger_environment environment;
};

struct dl_ledger_entry {
	uint64_t survived_s;
	uint32_t deepest;      /* tokens of context that were reached without trouble */
	uint32_t failed_depth; /* the least at which trouble came; 0: none, or not known */
	uint64_t slowest_job_ns;
	uint32_t faults[DL_CLASS_COUNT]; /* by enum dl_log_class */
	enum dl_log_class outcome; /* the last: DL_CLASS_NONE: it went on, else how it failed */
	int64_t failed_s;	   /* wall clock of the last failure, 0: none */
	int64_t first_s;	   /* wall clock, first and last seen */
	int64_t last_s;
};

struct dl_ledger_row {
	struct dl_ledger_key key;
	struct dl_ledger_entry entry;
	uint32_t weight; /* 62 to 1000 */
};

/* What is looked for; "" and 0: any. */
struct dl_ledger_filter {
	const char *device; /* may be NULL, too */
	const char *model;
	enum dl_backend backend;
	const struct dl_ledger_environment *now; /* NULL: every row weighs 1000 */
};

/*
 * Adds what came since the last time: seconds and faults are added, depth and slowest job are the
 * most of both, failed_depth the least that is not 0. "last_s" is when, 0: now; "failed_s" and
 * "first_s" are filled in. 0, or -errno: then nothing of it was added.
 */
int dl_ledger_note(struct dl_db *db, const struct dl_ledger_key *key,
		   const struct dl_ledger_entry *delta);

/*
 * Calls "found" for each row, the last seen first; it must not write to the ledger. Rows in no form
 * that dl_ledger_note writes are passed over. Returns how many were shown, or -errno.
 */
int dl_ledger_each(struct dl_db *db, const struct dl_ledger_filter *filter,
		   void (*found)(void *arg, const struct dl_ledger_row *row), void *arg);

/* How much a row of the one environment is worth in the other, of DL_LEDGER_WEIGHT. */
uint32_t dl_ledger_weight(const struct dl_ledger_environment *then,
			  const struct dl_ledger_environment *now);

/*
 * One number for the four: other versions have another one, and what is not known is a version of
 * its own. Never 0; the same on every host and in every build (FNV-1a).
 */
uint64_t dl_ledger_environment_stamp(const struct dl_ledger_environment *environment);

/*
 * Removes the rows of a device, of a model, or of both at once ("": any), and what the tuner knows
 * of it (tuning.h). How many of both, or -errno.
 */
int dl_ledger_forget(struct dl_db *db, const char *device, const char *model);

#endif
