/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host tells its fleet: for each device, environment, model and setting how long it survived
 * and how it failed. A row is one key in etcd with a JSON object as value. Rows of other hosts are
 * hostile input: a row is taken as a whole or not at all, and a host has a bounded number of rows.
 */
#ifndef DAVY_FLEET_ROW_H
#define DAVY_FLEET_ROW_H

#include <jansson.h>

#include "policy/subject.h"
#include "store/ledger.h"

#define DAVY_FLEET_HOST_LEN  41 /* letters, digits, '-', '_' and '.' */
#define DAVY_FLEET_ID_LEN    17 /* 16 hexadecimal digits */
#define DAVY_FLEET_VALUE_MAX 2048
#define DAVY_FLEET_SHARE     64		     /* rows of one host that others take */
#define DAVY_FLEET_ROWS_MAX  ((size_t)16384) /* rows that a host keeps of all others */

struct davy_fleet_row {
	char host[DAVY_FLEET_HOST_LEN];
	char id[DAVY_FLEET_ID_LEN];   /* davy_fleet_row_id() */
	uint64_t group;		      /* hash of device, driver, engine, model and backend */
	char device[DAVY_DEVICE_LEN]; /* "1002:744c"; "llvmpipe" for a device without PCI */
	struct davy_ledger_environment environment;
	char model[DAVY_MODEL_HASH_LEN]; /* davy_model_hash() */
	enum davy_backend backend;
	uint32_t ubatch; /* 0: the engine's default */
	uint32_t context;
	uint32_t learned;		/* the ubatch that this host's own rules now set; 0: none */
	struct davy_ledger_entry entry; /* without slowest_job_ns, first_s and outcome */
};

/* Whether the row has failures that a setting or a backend can cause. */
bool davy_fleet_row_failed(const struct davy_fleet_row *e);

/*
 * The row of a ledger. "device" is its identity for other hosts. Each letter that could be part of
 * a path or an address becomes '_'. False: the row says nothing to others (no model, the CPU).
 */
bool davy_fleet_row_of(const struct davy_ledger_row *row, const char *host, const char *device,
		       struct davy_fleet_row *ret_row);

/* A new reference; NULL: no memory. */
json_t *davy_fleet_row_json(const struct davy_fleet_row *e);

/* The value of a row, whatever its id. False: another form. */
bool davy_fleet_row_take(const json_t *value, const char *host, struct davy_fleet_row *ret_row);

/* False: it is not the row of that host and id in exactly this form. */
bool davy_fleet_row_read(const char *host, const char *id, const char *text, size_t size,
			 struct davy_fleet_row *ret_row);

bool davy_fleet_host_valid(const char *host);

/* Splits the key "PREFIXkind/HOST/ID" of a row; false: another key. */
bool davy_fleet_key_read(const char *key, const char *prefix, const char *kind,
			 char ret_host[DAVY_FLEET_HOST_LEN], char ret_id[DAVY_FLEET_ID_LEN]);

/* Rows of many hosts. A zeroed table is empty. */
struct davy_fleet_table {
	struct davy_fleet_row *row;
	size_t count, room;
};

enum davy_fleet_put {
	DAVY_FLEET_ROW_TAKEN = 0,
	DAVY_FLEET_ROW_OLDER,	 /* than the row that is there: a store that was rolled back */
	DAVY_FLEET_ROW_TOO_MANY, /* of this host, or of all */
};

enum davy_fleet_put davy_fleet_put(struct davy_fleet_table *t, const struct davy_fleet_row *e);
void davy_fleet_remove(struct davy_fleet_table *t, const char *host, const char *id);
void davy_fleet_clear(struct davy_fleet_table *t);

#endif
