/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/fleet_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event/log_kind.h"
#include "lib/hash.h"

#define FORMAT	   1
#define LATEST_S   ((int64_t)1 << 40)
#define UBATCH_MAX (1u << 20)
#define LETTERS	   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define VERSION	   LETTERS " ._:,()+-"

bool davy_fleet_host_valid(const char *host)
{
	size_t len = strlen(host);

	return len && len < DAVY_FLEET_HOST_LEN && strspn(host, LETTERS "-_.") == len;
}

bool davy_fleet_key_read(const char *key, const char *prefix, const char *kind,
			 char ret_host[DAVY_FLEET_HOST_LEN], char ret_id[DAVY_FLEET_ID_LEN])
{
	size_t prefix_len = strlen(prefix), kind_len = strlen(kind), host_len;
	const char *at = key + prefix_len;
	char host[DAVY_FLEET_HOST_LEN];

	if (strncmp(key, prefix, prefix_len) != 0 || strncmp(at, kind, kind_len) != 0 ||
	    at[kind_len] != '/')
		return false;
	at += kind_len + 1;
	host_len = strcspn(at, "/");
	if (host_len >= sizeof(host) || !at[host_len] ||
	    strlen(at + host_len + 1) != DAVY_FLEET_ID_LEN - 1)
		return false;
	davy_copy_name(host, host_len + 1, at);
	if (!davy_fleet_host_valid(host))
		return false;
	davy_copy_name(ret_host, DAVY_FLEET_HOST_LEN, host);
	davy_copy_name(ret_id, DAVY_FLEET_ID_LEN, at + host_len + 1);
	return true;
}

bool davy_fleet_row_failed(const struct davy_fleet_row *e)
{
	for (int i = DAVY_CLASS_NONE + 1; i < DAVY_CLASS_OTHER; i++)
		if (e->entry.faults[i])
			return true;
	return false;
}

static uint64_t row_mix(uint64_t hash, const char *text)
{
	return davy_fnv(hash, text, strlen(text) + 1);
}

/* Group and id follow from the rest. */
static void row_name(struct davy_fleet_row *e)
{
	uint64_t h = DAVY_FNV_START;
	char numbers[64];

	h = row_mix(h, e->device);
	h = row_mix(h, e->environment.driver);
	h = row_mix(h, e->environment.engine);
	h = row_mix(h, e->model);
	h = row_mix(h, davy_backend_name(e->backend));
	e->group = h;
	h = row_mix(h, e->environment.kernel);
	h = row_mix(h, e->environment.firmware);
	snprintf(numbers, sizeof(numbers), "%" PRIu32 " %" PRIu32, e->ubatch, e->context);
	snprintf(e->id, sizeof(e->id), "%016" PRIx64, row_mix(h, numbers));
}

static void row_version(char dst[DAVY_LEDGER_VERSION], const char *src)
{
	davy_copy_name(dst, DAVY_LEDGER_VERSION, src);
	for (size_t at = 0; dst[at += strspn(dst + at, VERSION)];)
		dst[at] = '_';
}

bool davy_fleet_row_of(const struct davy_ledger_row *row, const char *host, const char *device,
		       struct davy_fleet_row *ret_row)
{
	const struct davy_ledger_key *k = &row->key;
	struct davy_fleet_row *e = ret_row;

	if (!k->model[0] || !strcmp(k->model, "-") || !device[0] ||
	    k->backend <= DAVY_BACKEND_CPU || k->ubatch > UBATCH_MAX)
		return false;
	memset(e, 0, sizeof(*e));
	davy_copy_name(e->host, sizeof(e->host), host);
	davy_copy_name(e->device, sizeof(e->device), device);
	for (size_t at = 0; e->device[at += strspn(e->device + at, VERSION)];)
		e->device[at] = '_';
	row_version(e->environment.driver, k->environment.driver);
	row_version(e->environment.kernel, k->environment.kernel);
	row_version(e->environment.firmware, k->environment.firmware);
	row_version(e->environment.engine, k->environment.engine);
	davy_model_hash(k->model, e->model);
	e->backend = k->backend;
	e->ubatch = k->ubatch;
	e->context = k->context;
	e->entry = row->entry;
	row_name(e);
	return true;
}

static json_t *row_faults(const struct davy_fleet_row *e)
{
	json_t *o = json_object();

	for (uint32_t i = DAVY_CLASS_NONE + 1; o && i < DAVY_CLASS_COUNT; i++)
		if (e->entry.faults[i])
			json_object_set_new(o, davy_log_class_name(i),
					    json_integer(e->entry.faults[i]));
	return o;
}

json_t *davy_fleet_row_json(const struct davy_fleet_row *e)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:I, s:I, s:o}",
			 "v", FORMAT, "device", e->device, "driver", e->environment.driver,
			 "kernel", e->environment.kernel, "firmware", e->environment.firmware,
			 "engine", e->environment.engine, "model", e->model, "backend",
			 davy_backend_name(e->backend), "ubatch", (json_int_t)e->ubatch, "context",
			 (json_int_t)e->context, "learned", (json_int_t)e->learned, "survived_s",
			 (json_int_t)e->entry.survived_s, "deepest", (json_int_t)e->entry.deepest,
			 "failed_depth", (json_int_t)e->entry.failed_depth, "failed_s",
			 (json_int_t)e->entry.failed_s, "last_s", (json_int_t)e->entry.last_s,
			 "faults", row_faults(e));
}

static bool row_text(const json_t *o, const char *key, const char *letters, char *dst, size_t size)
{
	const json_t *v = json_object_get(o, key);
	const char *text = json_string_value(v);
	size_t len = json_string_length(v);

	if (!text || len >= size || strspn(text, letters) != len)
		return false;
	memcpy(dst, text, len + 1);
	return true;
}

static bool row_number(const json_t *o, const char *key, int64_t most, int64_t *ret_value)
{
	const json_t *v = json_object_get(o, key);

	*ret_value = json_integer_value(v);
	return json_is_integer(v) && *ret_value >= 0 && *ret_value <= most;
}

static bool row_number32(const json_t *o, const char *key, uint32_t most, uint32_t *ret_value)
{
	int64_t value;
	bool good = row_number(o, key, most, &value);

	*ret_value = (uint32_t)value;
	return good;
}

static bool row_read_faults(const json_t *o, uint32_t faults[DAVY_CLASS_COUNT])
{
	size_t found = 0;

	for (uint32_t i = DAVY_CLASS_NONE + 1; i < DAVY_CLASS_COUNT; i++) {
		if (!json_object_get(o, davy_log_class_name(i)))
			continue;
		if (!row_number32(o, davy_log_class_name(i), INT32_MAX, &faults[i]))
			return false;
		found++;
	}
	return json_is_object(o) && found == json_object_size(o);
}

static bool row_take(const json_t *o, struct davy_fleet_row *e)
{
	struct davy_ledger_environment *v = &e->environment;
	int64_t format, survived;
	char backend[16];
	int known;

	if (!json_is_object(o) || !row_number(o, "v", FORMAT, &format) || format != FORMAT ||
	    !row_text(o, "device", VERSION, e->device, sizeof(e->device)) ||
	    !row_text(o, "driver", VERSION, v->driver, sizeof(v->driver)) ||
	    !row_text(o, "kernel", VERSION, v->kernel, sizeof(v->kernel)) ||
	    !row_text(o, "firmware", VERSION, v->firmware, sizeof(v->firmware)) ||
	    !row_text(o, "engine", VERSION, v->engine, sizeof(v->engine)) ||
	    !row_text(o, "model", "0123456789abcdef", e->model, sizeof(e->model)) ||
	    !row_text(o, "backend", LETTERS, backend, sizeof(backend)) ||
	    !row_number32(o, "ubatch", UBATCH_MAX, &e->ubatch) ||
	    !row_number32(o, "context", INT32_MAX, &e->context) ||
	    !row_number32(o, "learned", UBATCH_MAX, &e->learned) ||
	    !row_number(o, "survived_s", LATEST_S, &survived) ||
	    !row_number32(o, "deepest", INT32_MAX, &e->entry.deepest) ||
	    !row_number32(o, "failed_depth", INT32_MAX, &e->entry.failed_depth) ||
	    !row_number(o, "failed_s", LATEST_S, &e->entry.failed_s) ||
	    !row_number(o, "last_s", LATEST_S, &e->entry.last_s) ||
	    !row_read_faults(json_object_get(o, "faults"), e->entry.faults))
		return false;
	known = davy_backend_from_name(backend);
	if (known <= DAVY_BACKEND_CPU || !e->device[0] || strlen(e->model) != DAVY_FLEET_ID_LEN - 1)
		return false;
	e->backend = (enum davy_backend)known;
	e->entry.survived_s = (uint64_t)survived;
	return true;
}

bool davy_fleet_row_take(const json_t *value, const char *host, struct davy_fleet_row *ret_row)
{
	struct davy_fleet_row e = { .ubatch = 0 };

	if (!davy_fleet_host_valid(host) || !row_take(value, &e))
		return false;
	davy_copy_name(e.host, sizeof(e.host), host);
	row_name(&e);
	*ret_row = e;
	return true;
}

bool davy_fleet_row_read(const char *host, const char *id, const char *text, size_t size,
			 struct davy_fleet_row *ret_row)
{
	struct davy_fleet_row e;
	json_t *o = NULL;
	bool good;

	if (size <= DAVY_FLEET_VALUE_MAX)
		o = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	good = davy_fleet_row_take(o, host, &e) && !strcmp(e.id, id);
	json_decref(o);
	if (good)
		*ret_row = e;
	return good;
}

static struct davy_fleet_row *row_find(const struct davy_fleet_table *t, const char *host,
				       const char *id, size_t *ret_of_host)
{
	*ret_of_host = 0;
	for (size_t i = 0; i < t->count; i++) {
		if (strcmp(t->row[i].host, host) != 0)
			continue;
		(*ret_of_host)++;
		if (!strcmp(t->row[i].id, id))
			return &t->row[i];
	}
	return NULL;
}

enum davy_fleet_put davy_fleet_put(struct davy_fleet_table *t, const struct davy_fleet_row *e)
{
	size_t of_host, room;
	struct davy_fleet_row *at = row_find(t, e->host, e->id, &of_host);

	if (at && at->entry.last_s > e->entry.last_s)
		return DAVY_FLEET_ROW_OLDER;
	if (at) {
		*at = *e;
		return DAVY_FLEET_ROW_TAKEN;
	}
	if (of_host >= DAVY_FLEET_SHARE || t->count >= DAVY_FLEET_ROWS_MAX)
		return DAVY_FLEET_ROW_TOO_MANY;
	if (t->count == t->room) {
		room = t->room ? 2 * t->room : 16;
		at = reallocarray(t->row, room, sizeof(*t->row));
		if (!at)
			return DAVY_FLEET_ROW_TOO_MANY;
		t->row = at;
		t->room = room;
	}
	t->row[t->count++] = *e;
	return DAVY_FLEET_ROW_TAKEN;
}

void davy_fleet_remove(struct davy_fleet_table *t, const char *host, const char *id)
{
	size_t of_host;
	struct davy_fleet_row *at = row_find(t, host, id, &of_host);

	if (at)
		*at = t->row[--t->count];
}

void davy_fleet_clear(struct davy_fleet_table *t)
{
	free(t->row);
	memset(t, 0, sizeof(*t));
}
