/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests of a member: connect, read all failures, watch them, publish. */
#include "fleet/member.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "fleet/member_state.h"
#include "fleet/fleet_rules.h"
#include "lib/hash.h"
#include "lib/text.h"

#define RETRY_MS     1000u
#define RETRY_MAX_MS 30000u
#define COUNT_MS     300000
#define SAMPLE_MS    600000
#define PAGE	     512
#define TICK_MS	     1000

void davy_member_log(struct davy_member *m, const char *format, ...)
{
	char text[640];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	m->ops.log(m->ops.arg, text);
}

struct davy_member *davy_member_new(const struct davy_member_config *config,
				    const struct davy_etcd_access *access, CURLM *multi,
				    const struct davy_member_ops *ops)
{
	struct davy_member *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->config = *config;
	m->ops = *ops;
	m->etcd.access = access;
	m->etcd.multi = multi;
	m->lived_scale = 100;
	m->sample_size = DAVY_MEMBER_SAMPLE;
	return m;
}

void davy_member_free(struct davy_member *m)
{
	if (!m)
		return;
	davy_etcd_stop(&m->etcd);
	davy_fleet_clear(&m->failed);
	davy_fleet_clear(&m->lived);
	davy_fleet_clear(&m->loading);
	davy_fleet_clear(&m->sampling);
	free(m->own);
	free(m->own_rows);
	free(m);
}

void davy_member_devices(struct davy_member *m, const struct davy_fleet_device *device,
			 size_t count)
{
	m->device_count = count < DAVY_FLEET_DEVICES_MAX ? count : DAVY_FLEET_DEVICES_MAX;
	memcpy(m->device, device, m->device_count * sizeof(*device));
	m->changed = true;
}

void davy_member_seen(struct davy_member *m, int64_t revision)
{
	m->revision = revision;
}

/* Waits longer after each failure, and not all hosts at the same time. */
static uint64_t member_pause_ms(const struct davy_member *m)
{
	uint32_t most = m->tries < 5 ? RETRY_MS << m->tries : RETRY_MAX_MS;
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)m->now_ms;
	return most / 2 + random % most;
}

static void member_failed(struct davy_member *m, int err, const char *what)
{
	if (err == -EACCES)
		m->etcd.token[0] = 0;
	if (strstr(m->etcd.why, "lease not found"))
		m->lease = 0;
	if (m->connected || !m->tries)
		davy_member_log(m, "etcd '%s': %s: %s; the rules stay, and it is tried again",
				m->etcd.access->endpoint[m->etcd.endpoint], what,
				m->etcd.why[0] ? m->etcd.why : strerror(-err));
	m->connected = false;
	m->synced = false;
	m->watching = false;
	m->publishing = 0;
	m->load_from[0] = 0; /* its revision may be compacted by then */
	m->sample_step = SAMPLE_COUNT;
	m->retry_ms = m->now_ms + member_pause_ms(m);
	m->tries += m->tries < 16;
	m->stamp++;
}

static bool member_good(struct davy_member *m, int err, const char *what)
{
	if (err)
		member_failed(m, err, what);
	return !err;
}

/*
 * Of reads and transactions, whose revision never goes back unless the store does; other answers
 * may come from a member of etcd that is behind. Returns whether the store is the same as before.
 */
static bool member_store(struct davy_member *m, int err, const json_t *answer, const char *what)
{
	int64_t revision, before = m->asked_revision;

	if (err) {
		member_failed(m, err, what);
		return false;
	}
	revision = davy_etcd_number(json_object_get(answer, "header"), "revision", 0);
	if (revision && revision < before) {
		davy_member_log(m,
				"the store was rolled back: revision %" PRId64 " after %" PRId64
				"; the rules stay, and this host publishes its rows again",
				revision, m->revision);
		m->rolled_back_s = time(NULL);
		m->synced = false;
		m->watching = false;
		m->load_from[0] = 0;
		davy_member_forget_told(m);
		m->lease = 0;
		m->stamp++;
	}
	if (revision > m->revision || revision < before)
		m->revision = revision;
	return revision >= before;
}

static void member_on_token(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;

	if (!member_good(m, err, "authentication"))
		return;
	err = davy_etcd_token(&m->etcd, answer);
	if (err)
		member_failed(m, err, "authentication");
}

static void member_on_lease(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;

	if (!member_good(m, err, "lease"))
		return;
	m->lease = davy_etcd_number(answer, "ID", 0);
	if (m->lease)
		m->keepalive_ms = m->now_ms + (uint64_t)m->config.lease_s * 1000 / 3;
	else
		member_failed(m, -EBADMSG, "lease");
	davy_member_forget_told(m); /* rows of another lease would expire */
}

/* {"result":{"TTL":"..."}}: a TTL of 0, or none, is an expired lease. */
static void member_on_keepalive(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;

	if (!member_good(m, err, "lease"))
		return;
	if (davy_etcd_number(json_object_get(answer, "result"), "TTL", 0) <= 0)
		m->lease = 0;
	else
		m->keepalive_ms = m->now_ms + (uint64_t)m->config.lease_s * 1000 / 3;
}

static bool member_key_read(const struct davy_member *m, const json_t *kv, const char *kind,
			    char host[DAVY_FLEET_HOST_LEN], char id[DAVY_FLEET_ID_LEN])
{
	char text[DAVY_ETCD_KEY_MAX];

	return davy_etcd_text(json_object_get(kv, "key"), text, sizeof(text)) >= 0 &&
	       davy_fleet_key_read(text, m->config.prefix, kind, host, id);
}

static void member_take_row(struct davy_member *m, struct davy_fleet_table *t, const json_t *kv,
			    const char *kind)
{
	char host[DAVY_FLEET_HOST_LEN], id[DAVY_FLEET_ID_LEN], value[DAVY_FLEET_VALUE_MAX + 1];
	ssize_t size = davy_etcd_text(json_object_get(kv, "value"), value, sizeof(value));
	struct davy_fleet_row e;
	enum davy_fleet_put put;

	if (size < 0 || !member_key_read(m, kv, kind, host, id) ||
	    !davy_fleet_row_read(host, id, value, (size_t)size, &e)) {
		m->refused++;
		return;
	}
	put = davy_fleet_put(t, &e);
	m->replayed += put == DAVY_FLEET_ROW_OLDER;
	m->refused += put == DAVY_FLEET_ROW_TOO_MANY;
}

/* Rows that are older than those known here are from a store that was rolled back. */
static void member_swap(struct davy_member *m)
{
	struct davy_fleet_table old = m->failed;

	m->failed = m->loading;
	memset(&m->loading, 0, sizeof(m->loading));
	for (size_t i = 0; i < old.count; i++)
		for (size_t j = 0; j < m->failed.count; j++) {
			struct davy_fleet_row *now = &m->failed.row[j];

			if (strcmp(now->id, old.row[i].id) != 0 ||
			    strcmp(now->host, old.row[i].host) != 0 ||
			    now->entry.last_s >= old.row[i].entry.last_s)
				continue;
			*now = old.row[i];
			m->replayed++;
		}
	davy_fleet_clear(&old);
}

static void member_on_page(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;
	const json_t *list = json_object_get(answer, "kvs"), *kv = NULL;
	size_t i;

	if (!member_store(m, err, answer, "reading"))
		return;
	if (!m->load_from[0])
		m->load_revision = m->revision;
	json_array_foreach(list, i, kv) member_take_row(m, &m->loading, kv, "fail");
	if (json_is_true(json_object_get(answer, "more")) && kv &&
	    davy_etcd_text(json_object_get(kv, "key"), m->load_from, sizeof(m->load_from)) > 0 &&
	    m->loading.count < DAVY_FLEET_ROWS_MAX)
		return;
	member_swap(m);
	if (m->tries)
		davy_member_check_told(m);
	m->load_from[0] = 0;
	m->synced = true;
	m->connected = true;
	m->tries = 0;
	m->changed = true;
	m->stamp++;
	davy_member_log(m, "etcd '%s': %zu rows with failures at revision %" PRId64,
			m->etcd.access->endpoint[m->etcd.endpoint], m->failed.count, m->revision);
}

static void member_on_event(void *arg, int err, const json_t *result)
{
	struct davy_member *m = arg;
	const json_t *list = json_object_get(result, "events"), *event;
	char host[DAVY_FLEET_HOST_LEN], id[DAVY_FLEET_ID_LEN];
	size_t i;

	if (err || json_is_true(json_object_get(result, "canceled"))) {
		/* A compaction, or etcd has ended: read all again. */
		m->watching = false;
		m->synced = false;
		if (err)
			member_failed(m, err, "watching");
		return;
	}
	if (davy_etcd_number(json_object_get(result, "header"), "revision", 0) > m->revision)
		m->revision = davy_etcd_number(json_object_get(result, "header"), "revision", 0);
	json_array_foreach(list, i, event)
	{
		const json_t *kv = json_object_get(event, "kv");
		const char *type = json_string_value(json_object_get(event, "type"));

		if (!type || !strcmp(type, "PUT"))
			member_take_row(m, &m->failed, kv, "fail");
		else if (member_key_read(m, kv, "fail", host, id))
			davy_fleet_remove(&m->failed, host, id);
		m->changed = true;
	}
}

static void member_on_published(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;

	if (!member_store(m, err, answer, "publishing"))
		return;
	davy_member_told(m);
	m->stamp++;
}

static void member_on_count(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;

	if (!member_store(m, err, answer, "counting"))
		return;
	m->hosts = davy_etcd_number(answer, "count", 0);
	m->count_ms = m->now_ms + COUNT_MS;
	m->stamp++;
}

/*
 * First the number of all rows, then rows from a random place on, and if these are too few, from
 * the beginning: a fair sample of all hosts.
 */
static void member_on_sample(void *arg, int err, const json_t *answer)
{
	struct davy_member *m = arg;
	const json_t *list = json_object_get(answer, "kvs"), *kv;
	size_t i;

	if (!member_store(m, err, answer, "reading"))
		return;
	if (m->sample_step == SAMPLE_COUNT) {
		m->sample_total = (uint64_t)davy_etcd_number(answer, "count", 0);
		m->sample_step = SAMPLE_AFTER;
		return;
	}
	json_array_foreach(list, i, kv) member_take_row(m, &m->sampling, kv, "lived");
	m->sample_got += json_array_size(list);
	if (m->sample_step == SAMPLE_AFTER && m->sample_got < m->sample_size &&
	    m->sample_got < m->sample_total) {
		m->sample_step = SAMPLE_BEFORE;
		return;
	}
	davy_fleet_clear(&m->lived);
	m->lived = m->sampling;
	memset(&m->sampling, 0, sizeof(m->sampling));
	m->sample_wanted = false;
	m->sample_size = DAVY_MEMBER_SAMPLE;
	m->sample_step = SAMPLE_COUNT;
	m->lived_scale = m->sample_got ? (uint32_t)(m->sample_total * 100 / m->sample_got) : 100;
	m->sampled_ms = m->now_ms;
	m->changed = true;
}

static void member_prefix(const struct davy_member *m, const char *kind,
			  char ret_prefix[DAVY_ETCD_KEY_MAX], char ret_end[DAVY_ETCD_KEY_MAX])
{
	snprintf(ret_prefix, DAVY_ETCD_KEY_MAX, "%.200s%s/", m->config.prefix, kind);
	davy_etcd_end(ret_prefix, ret_end);
}

static int member_load(struct davy_member *m)
{
	char prefix[DAVY_ETCD_KEY_MAX], end[DAVY_ETCD_KEY_MAX];
	struct davy_etcd_range page = { .from = prefix, .end = end, .limit = PAGE };

	member_prefix(m, "fail", prefix, end);
	if (m->load_from[0]) {
		page.from = m->load_from;
		page.after = true;
		page.revision = m->load_revision;
	} else {
		davy_fleet_clear(&m->loading);
	}
	return davy_etcd_range(&m->etcd, &page, member_on_page, m);
}

static int member_watch(struct davy_member *m)
{
	char prefix[DAVY_ETCD_KEY_MAX], end[DAVY_ETCD_KEY_MAX], from[32];
	int err;

	member_prefix(m, "fail", prefix, end);
	snprintf(from, sizeof(from), "%" PRId64, m->load_revision + 1);
	err = davy_etcd_watch(&m->etcd,
			      json_pack("{s:{s:o, s:o, s:s}}", "create_request", "key",
					davy_etcd_base64(prefix, strlen(prefix)), "range_end",
					davy_etcd_base64(end, strlen(end)), "start_revision", from),
			      member_on_event, m);
	m->watching = !err;
	return err;
}

static int member_count_keys(struct davy_member *m, const char *kind, davy_etcd_done done)
{
	char prefix[DAVY_ETCD_KEY_MAX], end[DAVY_ETCD_KEY_MAX];
	const struct davy_etcd_range all = { .from = prefix, .end = end };

	member_prefix(m, kind, prefix, end);
	return davy_etcd_range(&m->etcd, &all, done, m);
}

static int member_sample(struct davy_member *m)
{
	char prefix[DAVY_ETCD_KEY_MAX], end[DAVY_ETCD_KEY_MAX];
	struct davy_etcd_range part = { .from = m->sample_from,
					.end = end,
					.limit = m->sample_size };
	uint32_t random = 0;

	if (m->sample_step == SAMPLE_COUNT)
		return member_count_keys(m, "lived", member_on_sample);
	member_prefix(m, "lived", prefix, end);
	if (m->sample_step == SAMPLE_BEFORE) {
		part.from = prefix;
		part.end = m->sample_from;
		return davy_etcd_range(&m->etcd, &part, member_on_sample, m);
	}
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)m->now_ms;
	davy_fleet_clear(&m->sampling);
	m->sample_got = 0;
	snprintf(m->sample_from, sizeof(m->sample_from), "%.240s%08" PRIx32, prefix, random);
	return davy_etcd_range(&m->etcd, &part, member_on_sample, m);
}

static int member_lease(struct davy_member *m)
{
	return davy_etcd_ask(&m->etcd, "/v3/lease/grant",
			     json_pack("{s:I}", "TTL", (json_int_t)m->config.lease_s),
			     member_on_lease, m);
}

static int member_keepalive(struct davy_member *m)
{
	char id[32];

	snprintf(id, sizeof(id), "%" PRId64, m->lease);
	return davy_etcd_ask(&m->etcd, "/v3/lease/keepalive", json_pack("{s:s}", "ID", id),
			     member_on_keepalive, m);
}

/* The next request, if one is due. */
static int member_next(struct davy_member *m)
{
	json_t *news;

	if (m->etcd.access->user && !m->etcd.token[0])
		return davy_etcd_authenticate(&m->etcd, member_on_token, m);
	if (!m->lease)
		return member_lease(m);
	if (!m->synced)
		return member_load(m);
	if (!m->watching && !m->etcd.watch)
		return member_watch(m);
	news = davy_member_news(m);
	if (news)
		return davy_etcd_ask(&m->etcd, "/v3/kv/txn", news, member_on_published, m);
	if (m->now_ms >= m->keepalive_ms)
		return member_keepalive(m);
	if (m->now_ms >= m->count_ms)
		return member_count_keys(m, "host", member_on_count);
	if (m->sample_wanted && m->now_ms >= m->sample_ms)
		return member_sample(m);
	return 0;
}

uint64_t davy_member_step(struct davy_member *m, uint64_t now_ms)
{
	int err = 0;

	m->now_ms = now_ms;
	if (!m->started_ms)
		m->started_ms = now_ms;
	/* The old watch belongs to the data before; it may not be ended inside its own call. */
	if (!m->watching && m->etcd.watch)
		davy_etcd_stop(&m->etcd);
	if (now_ms >= m->retry_ms && !m->etcd.call) {
		m->asked_revision = m->revision;
		err = member_next(m);
	}
	if (err)
		member_failed(m, err, "request");
	m->sample_wanted |= m->rule_count && now_ms - m->sampled_ms > SAMPLE_MS;
	if (m->changed || ((m->rule_count || !m->layer_hash) && now_ms - m->judge_ms >= TICK_MS)) {
		m->judge_ms = now_ms;
		davy_member_judge(m);
	}
	if (now_ms < m->retry_ms)
		return m->retry_ms < now_ms + TICK_MS ? m->retry_ms : now_ms + TICK_MS;
	return now_ms + TICK_MS;
}

void davy_member_cut(struct davy_member *m)
{
	davy_etcd_stop(&m->etcd);
	member_failed(m, -ENETDOWN, "network");
}

uint64_t davy_member_stamp(const struct davy_member *m)
{
	return m->stamp;
}

static json_t *member_rule_json(const struct davy_member *m, const struct davy_member_rule *r)
{
	char id[DAVY_FLEET_ID_LEN], reason[DAVY_RULE_TEXT_LEN], value[96];
	const char *state = davy_fleet_verdict_name(r->rule.verdict);

	snprintf(id, sizeof(id), "%016" PRIx64, r->rule.id);
	davy_fleet_rule_reason(&r->rule, reason, sizeof(reason));
	davy_fleet_rule_value(&r->rule, value, sizeof(value));
	if (r->rule.verdict == DAVY_FLEET_TAKE)
		state = r->taken ? "taken" : "waiting for the first hosts";
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:b}", "id", id,
			 "device", r->rule.device, "engine", r->rule.engine, "model", r->rule.model,
			 "backend", davy_backend_name(r->rule.backend), "value", value, "reason",
			 reason, "state", state, "hosts_failed", (json_int_t)r->rule.hosts_bad,
			 "hosts_survived", (json_int_t)r->rule.hosts_good, "first",
			 davy_fleet_first(m->config.host, r->rule.id));
}

json_t *davy_member_status(const struct davy_member *m)
{
	json_t *rules = json_array();

	for (size_t i = 0; rules && i < m->rule_count; i++)
		json_array_append_new(rules, member_rule_json(m, &m->rule[i]));
	return json_pack("{s:I, s:s, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:o}",
			 "at_s", (json_int_t)time(NULL), "host", m->config.host, "connected",
			 m->connected, "endpoint", m->etcd.access->endpoint[m->etcd.endpoint],
			 "why", m->connected ? "" : m->etcd.why, "revision",
			 (json_int_t)m->revision, "hosts", (json_int_t)m->hosts, "rows_own",
			 (json_int_t)m->own_rows_count, "rows_failed", (json_int_t)m->failed.count,
			 "rows_refused", (json_int_t)m->refused, "rows_replayed",
			 (json_int_t)m->replayed, "rolled_back_s", (json_int_t)m->rolled_back_s,
			 "sent_bytes", (json_int_t)m->etcd.sent, "received_bytes",
			 (json_int_t)m->etcd.received, "rules", rules);
}
