/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp fleet evidence' and 'export': the rows of all hosts, summed. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/event/log_kind.h"
#include "fleet/fleet.h"
#include "fleet/keeper.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/text.h"
#include "store/policy_file.h"

#define SUMS_MAX    4096
#define PAGE	    512
#define SPEAK_MS    2000
#define DEADLINE_MS 120000

/* All hosts with one setting. */
struct query_sum {
	struct davy_fleet_row of;
	uint64_t rows, rows_failed; /* a host has a row for each kernel and firmware */
	uint64_t survived_s, failures;
	uint32_t deepest;
};

struct fleet_query {
	struct davy_fleet_config config;
	const struct davy_fleet_options *o;
	char model[DAVY_MODEL_HASH_LEN];
	struct davy_etcd etcd;
	struct query_sum *sum;
	size_t count, rows, refused, left_out;
	const char *kind;
	char from[DAVY_ETCD_KEY_MAX];
	bool more;
	int err;
};

static bool query_same(const struct davy_fleet_row *a, const struct davy_fleet_row *b)
{
	return a->group == b->group && a->ubatch == b->ubatch && a->context == b->context &&
	       !strcmp(a->device, b->device) && !strcmp(a->model, b->model);
}

static void query_add(struct fleet_query *q, const struct davy_fleet_row *e)
{
	struct query_sum *s = q->sum;

	if ((q->o->model && strcmp(e->model, q->model) != 0) ||
	    (q->o->device && strcasecmp(e->device, q->o->device) != 0))
		return;
	while (s < q->sum + q->count && !query_same(&s->of, e))
		s++;
	if (s == q->sum + q->count) {
		if (q->count == SUMS_MAX) {
			q->left_out++;
			return;
		}
		s->of = *e;
		q->count++;
	}
	s->rows++;
	s->rows_failed += davy_fleet_row_failed(e);
	s->survived_s += e->entry.survived_s;
	s->deepest = e->entry.deepest > s->deepest ? e->entry.deepest : s->deepest;
	for (int i = DAVY_CLASS_NONE + 1; i < DAVY_CLASS_COUNT; i++) {
		s->failures += e->entry.faults[i];
		if (s->rows > 1)
			s->of.entry.faults[i] += e->entry.faults[i];
	}
}

static bool query_key(const struct fleet_query *q, const json_t *kv, char *host, char *id)
{
	char text[DAVY_ETCD_KEY_MAX];

	return davy_etcd_text(json_object_get(kv, "key"), text, sizeof(text)) >= 0 &&
	       davy_fleet_key_read(text, q->config.member.prefix, q->kind, host, id);
}

static void query_on_page(void *arg, int err, const json_t *answer)
{
	struct fleet_query *q = arg;
	char host[DAVY_FLEET_HOST_LEN], id[DAVY_FLEET_ID_LEN], value[DAVY_FLEET_VALUE_MAX + 1];
	const json_t *list = json_object_get(answer, "kvs"), *kv = NULL;
	struct davy_fleet_row e;
	size_t i;

	q->err = err;
	json_array_foreach(list, i, kv)
	{
		ssize_t n = davy_etcd_text(json_object_get(kv, "value"), value, sizeof(value));

		q->rows++;
		if (n < 0 || !query_key(q, kv, host, id) ||
		    !davy_fleet_row_read(host, id, value, (size_t)n, &e))
			q->refused++;
		else
			query_add(q, &e);
	}
	q->more = kv && json_is_true(json_object_get(answer, "more")) &&
		  davy_etcd_text(json_object_get(kv, "key"), q->from, sizeof(q->from)) > 0;
}

static void query_on_token(void *arg, int err, const json_t *answer)
{
	struct fleet_query *q = arg;

	q->err = err ? err : davy_etcd_token(&q->etcd, answer);
}

static int query_wait(struct fleet_query *q, uint64_t until_ms)
{
	while (q->etcd.call) {
		davy_etcd_step(q->etcd.multi);
		if (!q->etcd.call)
			break;
		if (davy_now_ms() > until_ms)
			return -ETIMEDOUT;
		curl_multi_poll(q->etcd.multi, NULL, 0, 1000, NULL);
	}
	return q->err;
}

static int query_range(struct fleet_query *q, const char *kind, uint64_t until_ms)
{
	char prefix[DAVY_ETCD_KEY_MAX], end[DAVY_ETCD_KEY_MAX];
	struct davy_etcd_range page = { .from = q->from, .end = end, .limit = PAGE };
	int err = 0;

	q->kind = kind;
	snprintf(prefix, sizeof(prefix), "%.200s%s/", q->config.member.prefix, kind);
	davy_etcd_end(prefix, end);
	snprintf(q->from, sizeof(q->from), "%s", prefix);
	for (q->more = true; q->more && !err; page.after = true) {
		err = davy_etcd_range(&q->etcd, &page, query_on_page, q);
		if (!err)
			err = query_wait(q, until_ms);
		if (until_ms - davy_now_ms() < DEADLINE_MS - SPEAK_MS)
			fprintf(stderr, "\r%zu rows", q->rows);
	}
	return err;
}

static int query_all(struct fleet_query *q)
{
	const uint64_t until_ms = davy_now_ms() + DEADLINE_MS;
	int err = 0;

	if (q->etcd.access->user) {
		err = davy_etcd_authenticate(&q->etcd, query_on_token, q);
		if (!err)
			err = query_wait(q, until_ms);
	}
	if (!err)
		err = query_range(q, "fail", until_ms);
	if (!err)
		err = query_range(q, "lived", until_ms);
	if (until_ms - davy_now_ms() < DEADLINE_MS - SPEAK_MS)
		fputc('\n', stderr);
	return err;
}

static json_t *query_sum_json(const struct query_sum *s)
{
	json_t *o = davy_fleet_row_json(&s->of);
	static const char *const drop[] = { "v",       "kernel",       "firmware", "learned",
					    "deepest", "failed_depth", "failed_s", "last_s" };

	for (size_t i = 0; i < sizeof(drop) / sizeof(drop[0]); i++)
		json_object_del(o, drop[i]);
	json_object_set_new(o, "rows", json_integer((json_int_t)s->rows));
	json_object_set_new(o, "rows_failed", json_integer((json_int_t)s->rows_failed));
	json_object_set_new(o, "survived_s", json_integer((json_int_t)s->survived_s));
	json_object_set_new(o, "deepest", json_integer(s->deepest));
	return o;
}

static int query_order(const void *a, const void *b)
{
	const struct query_sum *x = a, *y = b;
	int order = strcmp(x->of.device, y->of.device);

	if (!order)
		order = strcmp(x->of.model, y->of.model);
	if (!order && x->of.backend != y->of.backend)
		order = x->of.backend < y->of.backend ? -1 : 1;
	if (!order)
		order = x->of.ubatch < y->of.ubatch ? -1 : x->of.ubatch > y->of.ubatch;
	return order;
}

static json_t *query_json(const struct fleet_query *q)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < q->count; i++)
		json_array_append_new(list, query_sum_json(&q->sum[i]));
	return list;
}

static void query_print(const struct fleet_query *q)
{
	char engine[4 * DAVY_LEDGER_VERSION], driver[4 * DAVY_LEDGER_VERSION];

	printf("%-10s %-16s %-7s %7s %8s %6s %7s %9s %9s  %s\n", "DEVICE", "MODEL", "BACKEND",
	       "UBATCH", "CONTEXT", "ROWS", "FAILED", "FAILURES", "HOURS", "ENGINE; DRIVER");
	for (size_t i = 0; i < q->count; i++) {
		const struct query_sum *s = &q->sum[i];

		printf("%-10s %-16s %-7s %7" PRIu32 " %8" PRIu32 " %6" PRIu64 " %7" PRIu64
		       " %9" PRIu64 " %9" PRIu64 "  %s; %s\n",
		       s->of.device, s->of.model, davy_backend_name(s->of.backend), s->of.ubatch,
		       s->of.context, s->rows, s->rows_failed, s->failures, s->survived_s / 3600,
		       davy_text_shown(engine, sizeof(engine), s->of.environment.engine),
		       davy_text_shown(driver, sizeof(driver), s->of.environment.driver));
	}
	if (q->refused || q->left_out)
		printf("%zu rows were refused, %zu had no room\n", q->refused, q->left_out);
}

static json_t *query_layer(const struct davy_fleet_options *o)
{
	char path[PATH_MAX], *text = malloc(DAVY_POLICY_FILE_MAX);
	json_t *layer = NULL;
	ssize_t n = -1;

	if (text && snprintf(path, sizeof(path), "%s/" DAVY_FLEET_NAME "/" DAVY_POLICY_NAME,
			     o->state) < (int)sizeof(path))
		n = davy_read_whole(path, text, DAVY_POLICY_FILE_MAX);
	layer = json_stringn(n > 0 ? text : "", n > 0 ? (size_t)n : 0);
	free(text);
	return layer;
}

static int query_run(struct fleet_query *q, bool export)
{
	json_t *layer = export ? query_layer(q->o) : NULL, *out;
	int err;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	q->etcd.access = &q->config.access;
	q->etcd.multi = curl_multi_init();
	err = davy_fleet_confine_network();
	if (!err)
		err = query_all(q);
	curl_multi_cleanup(q->etcd.multi);
	if (err) {
		davy_log("fleet: etcd '%s': %s", q->config.access.endpoint[q->etcd.endpoint],
			 q->etcd.why[0] ? q->etcd.why : strerror(-err));
		json_decref(layer);
		return DAVY_EXIT_FAILED;
	}
	qsort(q->sum, q->count, sizeof(*q->sum), query_order);
	if (!export && !q->o->json) {
		query_print(q);
		return DAVY_EXIT_DONE;
	}
	out = json_pack("{s:i, s:I, s:I, s:I, s:o}", "v", 1, "at_s", (json_int_t)time(NULL), "rows",
			(json_int_t)q->rows, "refused", (json_int_t)q->refused, "evidence",
			query_json(q));
	if (layer)
		json_object_set_new(out, "layer", layer);
	json_dumpf(out, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(out);
	return DAVY_EXIT_DONE;
}

static int query_start(const struct davy_fleet_options *o, bool export)
{
	struct fleet_query *q = calloc(1, sizeof(*q));
	char error[DAVY_FLEET_ERROR];
	int status = DAVY_EXIT_USAGE;

	if (!q)
		return DAVY_EXIT_FAILED;
	q->sum = calloc(SUMS_MAX, sizeof(*q->sum));
	q->o = o;
	if (o->model)
		davy_model_hash(o->model, q->model);
	if (!q->sum || davy_fleet_config_read(o->config, &q->config, error))
		davy_log("fleet: %s", q->sum ? error : strerror(ENOMEM));
	else
		status = query_run(q, export);
	free(q->sum);
	free(q);
	return status;
}

int davy_fleet_evidence(const struct davy_fleet_options *o)
{
	return query_start(o, false);
}

int davy_fleet_export(const struct davy_fleet_options *o)
{
	return query_start(o, true);
}
