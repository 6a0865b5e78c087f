/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a member publishes: its rows, in transactions, failures first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/member_state.h"
#include "lib/hash.h"
#include "lib/json_text.h"

static json_t *tell_key(const struct davy_member *m, bool failed, const char *id)
{
	char key[DAVY_ETCD_KEY_MAX];
	int len = snprintf(key, sizeof(key), "%s%s/%s/%s", m->config.prefix,
			   failed ? "fail" : "lived", m->config.host, id);

	return len < (int)sizeof(key) ? davy_etcd_base64(key, (size_t)len) : NULL;
}

static json_t *tell_put(const struct davy_member *m, json_t *key, const char *value)
{
	char lease[32];

	snprintf(lease, sizeof(lease), "%lld", (long long)m->lease);
	return json_pack("{s:{s:o, s:o, s:s}}", "request_put", "key", key, "value",
			 davy_etcd_base64(value, strlen(value)), "lease", lease);
}

/* Of everything but survival and times. */
static uint64_t tell_hash(const struct davy_fleet_row *e)
{
	uint64_t h = davy_fnv(DAVY_FNV_START, e->entry.faults, sizeof(e->entry.faults));

	h = davy_fnv(h, &e->learned, sizeof(e->learned));
	h = davy_fnv(h, &e->entry.failed_depth, sizeof(e->entry.failed_depth));
	return davy_fnv_text(h, e->id);
}

/* A row has news if it failed, or survived a tenth and "publish_s" longer than was told. */
static bool tell_is_news(const struct davy_member *m, const struct davy_member_own *o)
{
	uint64_t lived = o->e.entry.survived_s;

	if (o->gone)
		return o->told;
	if (!o->told || o->told_failed != davy_fleet_row_failed(&o->e) ||
	    o->told_hash != tell_hash(&o->e))
		return true;
	return lived > o->told_s + m->config.publish_s && lived > o->told_s + o->told_s / 10;
}

static int tell_delete(const struct davy_member *m, bool failed, const char *id, json_t *list)
{
	return json_array_append_new(list, json_pack("{s:{s:o}}", "request_delete_range", "key",
						     tell_key(m, failed, id)));
}

static int tell_row(struct davy_member *m, struct davy_member_own *o, json_t *list)
{
	bool failed = davy_fleet_row_failed(&o->e);
	json_t *value = davy_fleet_row_json(&o->e);
	char *text = value ? davy_json_text(value, JSON_COMPACT) : NULL;
	int err = text ? 0 : -1;

	if (!err)
		err = json_array_append_new(list, tell_put(m, tell_key(m, failed, o->e.id), text));
	if (!err && o->told && o->told_failed != failed)
		err = tell_delete(m, !failed, o->e.id, list);
	free(text);
	json_decref(value);
	return err;
}

static int tell_host(struct davy_member *m, json_t *list)
{
	char key[DAVY_ETCD_KEY_MAX], value[64];
	int len = snprintf(key, sizeof(key), "%shost/%s", m->config.prefix, m->config.host);

	snprintf(value, sizeof(value), "{\"v\":1,\"version\":\"" DAVY_VERSION "\"}");
	if (len >= (int)sizeof(key))
		return -1;
	return json_array_append_new(list, tell_put(m, davy_etcd_base64(key, (size_t)len), value));
}

json_t *davy_member_news(struct davy_member *m)
{
	json_t *list = json_array();
	int err = m->announced ? 0 : tell_host(m, list);

	m->publishing = 0;
	for (int failed = 1; failed >= 0; failed--)
		for (size_t i = 0; i < m->own_count && !err; i++) {
			struct davy_member_own *o = &m->own[i];

			if (m->publishing ==
				    sizeof(m->publish_index) / sizeof(m->publish_index[0]) ||
			    davy_fleet_row_failed(&o->e) != failed || !tell_is_news(m, o))
				continue;
			err = o->gone ? tell_delete(m, o->told_failed, o->e.id, list)
				      : tell_row(m, o, list);
			m->publish_index[m->publishing++] = i;
		}
	if (err || !json_array_size(list)) {
		m->publishing = 0;
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "success", list);
}

void davy_member_told(struct davy_member *m)
{
	m->announced = true;
	for (size_t i = 0; i < m->publishing; i++) {
		struct davy_member_own *o = &m->own[m->publish_index[i]];

		o->told = !o->gone;
		o->told_failed = davy_fleet_row_failed(&o->e);
		o->told_hash = tell_hash(&o->e);
		o->told_s = o->e.entry.survived_s;
	}
	m->publishing = 0;
}

void davy_member_forget_told(struct davy_member *m)
{
	m->announced = false;
	for (size_t i = 0; i < m->own_count; i++)
		m->own[i].told = false;
}

/*
 * After a connection was lost, the store may be an older one although its revision does not tell.
 * Rows with failures were just read; the others are written again.
 */
void davy_member_check_told(struct davy_member *m)
{
	m->announced = false;
	for (size_t i = 0; i < m->own_count; i++) {
		struct davy_member_own *o = &m->own[i];
		bool there = false;

		for (size_t j = 0; j < m->failed.count && o->told_failed && !there; j++)
			there = !strcmp(m->failed.row[j].host, m->config.host) &&
				!strcmp(m->failed.row[j].id, o->e.id) &&
				!memcmp(m->failed.row[j].entry.faults, o->e.entry.faults,
					sizeof(o->e.entry.faults));
		o->told &= there || o->gone; /* still to be removed */
	}
}

static struct davy_member_own *tell_find(struct davy_member_own *own, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(own[i].e.id, id))
			return &own[i];
	return NULL;
}

/* Seen within the time of a lease: rows of old versions of driver or engine end by themselves. */
static bool tell_is_recent(const struct davy_member *m, const struct davy_own_row *row)
{
	return row->row.entry.last_s > time(NULL) - (int64_t)m->config.lease_s;
}

/* What was told and is no longer there is kept until it is removed from the store. */
static size_t tell_keep_gone(const struct davy_member *m, struct davy_member_own *own, size_t used,
			     size_t room)
{
	const size_t now = used;

	for (size_t i = 0; i < m->own_count && used < room; i++) {
		if (!m->own[i].told || tell_find(own, now, m->own[i].e.id))
			continue;
		own[used] = m->own[i];
		own[used++].gone = true;
	}
	return used;
}

static size_t tell_take(const struct davy_member *m, const struct davy_own_row *row, size_t count,
			struct davy_member_own *own, struct davy_fleet_row *rows)
{
	size_t used = 0;

	for (size_t i = 0; i < count && used < DAVY_FLEET_OWN_MAX; i++) {
		struct davy_member_own *o = &own[used];
		const struct davy_member_own *before;

		if (!tell_is_recent(m, &row[i]) ||
		    !davy_fleet_row_of(&row[i].row, m->config.host, row[i].device, &o->e))
			continue;
		o->e.learned = row[i].learned;
		before = tell_find(m->own, m->own_count, o->e.id);
		if (before) {
			o->told = before->told;
			o->told_failed = before->told_failed;
			o->told_hash = before->told_hash;
			o->told_s = before->told_s;
		}
		rows[used++] = o->e;
	}
	return used;
}

void davy_member_rows(struct davy_member *m, const struct davy_own_row *row, size_t count)
{
	const size_t room = 2 * DAVY_FLEET_OWN_MAX;
	struct davy_member_own *own = calloc(room, sizeof(*own));
	struct davy_fleet_row *rows = calloc(DAVY_FLEET_OWN_MAX, sizeof(*rows));

	if (!own || !rows) {
		free(own);
		free(rows);
		return;
	}
	m->own_rows_count = tell_take(m, row, count, own, rows);
	count = tell_keep_gone(m, own, m->own_rows_count, room);
	free(m->own);
	free(m->own_rows);
	m->own = own;
	m->own_rows = rows;
	m->own_count = count;
	m->publishing = 0; /* the running transaction is about other rows: it is repeated */
	m->changed = true;
}
