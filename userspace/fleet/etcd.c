/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet/etcd.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_text.h"
#include "lib/text.h"

#define CONNECT_MS 5000
#define KEEPALIVE  30 /* seconds: a watch without news notices a peer that is gone */
#define DECODE_MAX ((size_t)64 * 1024)

/* gRPC codes (grpc, codes.proto). */
enum {
	CODE_DENIED = 7,
	CODE_UNAUTHENTICATED = 16
};

struct davy_etcd_call {
	struct davy_etcd *etcd;
	CURL *easy;
	struct curl_slist *headers;
	char *body;
	davy_etcd_done done;
	void *arg;
	char *text;
	size_t used, room;
	bool stream;
	int err; /* of a line of a stream, or too long */
};

json_t *davy_etcd_base64(const char *data, size_t size)
{
	char *text = malloc(BASE64_ENCODE_RAW_LENGTH(size) + 1);
	json_t *value;

	if (!text)
		return NULL;
	base64_encode_raw(text, size, (const uint8_t *)data);
	value = json_stringn(text, BASE64_ENCODE_RAW_LENGTH(size));
	free(text);
	return value;
}

ssize_t davy_etcd_text(const json_t *value, char *buf, size_t size)
{
	size_t len = json_string_length(value), got;
	struct base64_decode_ctx c;
	uint8_t *raw;

	if (!json_is_string(value) || len > DECODE_MAX)
		return -1;
	raw = malloc(BASE64_DECODE_LENGTH(len) + 1);
	got = BASE64_DECODE_LENGTH(len) + 1;
	base64_decode_init(&c);
	if (!raw || !base64_decode_update(&c, &got, raw, len, json_string_value(value)) ||
	    !base64_decode_final(&c) || got >= size || memchr(raw, 0, got)) {
		free(raw);
		return -1;
	}
	memcpy(buf, raw, got);
	buf[got] = 0;
	free(raw);
	return (ssize_t)got;
}

int64_t davy_etcd_number(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *v = json_object_get(object, key);
	const char *text = json_string_value(v);
	char *end;
	long long value;

	if (json_is_integer(v))
		return json_integer_value(v);
	if (!text || !*text)
		return otherwise;
	errno = 0;
	value = strtoll(text, &end, 10);
	return errno || *end ? otherwise : value;
}

void davy_etcd_end(const char *prefix, char ret_end[DAVY_ETCD_KEY_MAX])
{
	size_t len = (size_t)snprintf(ret_end, DAVY_ETCD_KEY_MAX, "%s", prefix);

	assert(len && len < DAVY_ETCD_KEY_MAX);
	ret_end[len - 1]++;
}

static void etcd_free(struct davy_etcd_call *c)
{
	if (c->easy) {
		curl_multi_remove_handle(c->etcd->multi, c->easy);
		curl_easy_cleanup(c->easy);
	}
	curl_slist_free_all(c->headers);
	free(c->body);
	free(c->text);
	free(c);
}

static void etcd_say(struct davy_etcd *e, const char *what)
{
	davy_text_safe(e->why, sizeof(e->why), what);
}

/* {"error":"...","message":"...","code":16}; of a stream, "error" is such an object. */
static int etcd_refused(struct davy_etcd *e, const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");
	const json_t *from = json_is_object(error) ? error : answer;
	int64_t code = davy_etcd_number(from, "code", davy_etcd_number(from, "grpc_code", 0));
	const char *text = json_string_value(json_object_get(from, "message"));

	etcd_say(e, text ? text : "etcd refused the request");
	if (code == CODE_DENIED || code == CODE_UNAUTHENTICATED ||
	    (text && strstr(text, "invalid auth token")))
		return -EACCES;
	return -EIO;
}

/* One line of a watch. */
static void etcd_line(struct davy_etcd_call *c, const char *line, size_t size)
{
	json_t *o = json_loadb(line, size, 0, NULL);
	const json_t *result = json_object_get(o, "result");

	if (json_is_object(result))
		c->done(c->arg, 0, result);
	else if (json_object_get(o, "error"))
		c->err = etcd_refused(c->etcd, o);
	else
		c->err = -EBADMSG;
	json_decref(o);
}

static void etcd_lines(struct davy_etcd_call *c)
{
	char *at = c->text, *end = c->text + c->used, *eol;

	while (!c->err && (eol = memchr(at, '\n', (size_t)(end - at)))) {
		if (eol > at)
			etcd_line(c, at, (size_t)(eol - at));
		at = eol + 1;
	}
	c->used = (size_t)(end - at);
	memmove(c->text, at, c->used);
}

static size_t etcd_take(char *data, size_t size, size_t count, void *arg)
{
	struct davy_etcd_call *c = arg;
	size_t bytes = size * count, room = c->room ? c->room : 4096;
	char *text;

	if (bytes > DAVY_ETCD_ANSWER_MAX - c->used) {
		c->err = -EFBIG;
		return 0;
	}
	while (room < c->used + bytes)
		room *= 2;
	text = room == c->room ? c->text : realloc(c->text, room);
	if (!text) {
		c->err = -ENOMEM;
		return 0;
	}
	c->text = text;
	c->room = room;
	memcpy(c->text + c->used, data, bytes);
	c->used += bytes;
	c->etcd->received += bytes;
	if (c->stream)
		etcd_lines(c);
	return c->err ? 0 : bytes;
}

static void etcd_options(struct davy_etcd_call *c, const char *url)
{
	const struct davy_etcd_access *a = c->etcd->access;

	curl_easy_setopt(c->easy, CURLOPT_URL, url);
	curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c->easy, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c->easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE);
	curl_easy_setopt(c->easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE);
	if (!c->stream)
		curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, (long)DAVY_ETCD_TIMEOUT_MS);
	curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
	curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, c->body);
	curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, etcd_take);
	curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
	if (a->ca)
		curl_easy_setopt(c->easy, CURLOPT_CAINFO, a->ca);
	if (a->certificate)
		curl_easy_setopt(c->easy, CURLOPT_SSLCERT, a->certificate);
	if (a->key)
		curl_easy_setopt(c->easy, CURLOPT_SSLKEY, a->key);
}

static int etcd_start(struct davy_etcd *e, const char *path, json_t *body, davy_etcd_done done,
		      void *arg, bool stream)
{
	struct davy_etcd_call **slot = stream ? &e->watch : &e->call;
	struct davy_etcd_call *c = *slot ? NULL : calloc(1, sizeof(*c));
	char url[512], header[sizeof(e->token) + 32];
	int err = *slot ? -EBUSY : -ENOMEM;

	if (c) {
		e->why[0] = 0;
		c->etcd = e;
		c->done = done;
		c->arg = arg;
		c->stream = stream;
		c->body = body ? davy_json_text(body, JSON_COMPACT) : NULL;
		c->easy = curl_easy_init();
		c->headers = curl_slist_append(NULL, "Content-Type: application/json");
	}
	json_decref(body);
	if (!c)
		return err;
	snprintf(header, sizeof(header), "Authorization: %s", e->token);
	if (e->token[0])
		c->headers = curl_slist_append(c->headers, header);
	if (c->body && c->easy && c->headers) {
		snprintf(url, sizeof(url), "%s%s", e->access->endpoint[e->endpoint], path);
		etcd_options(c, url);
		err = curl_multi_add_handle(e->multi, c->easy) ? -ENOMEM : 0;
	}
	if (err) {
		etcd_free(c);
		return err;
	}
	e->sent += strlen(c->body);
	*slot = c;
	return 0;
}

int davy_etcd_ask(struct davy_etcd *e, const char *path, json_t *body, davy_etcd_done done,
		  void *arg)
{
	return etcd_start(e, path, body, done, arg, false);
}

int davy_etcd_authenticate(struct davy_etcd *e, davy_etcd_done done, void *arg)
{
	return davy_etcd_ask(
		e, "/v3/auth/authenticate",
		json_pack("{s:s, s:s}", "name", e->access->user, "password", e->access->password),
		done, arg);
}

int davy_etcd_token(struct davy_etcd *e, const json_t *answer)
{
	const char *token = json_string_value(json_object_get(answer, "token"));

	if (!token || strlen(token) >= sizeof(e->token) ||
	    davy_text_shown_length(token) != strlen(token)) {
		etcd_say(e, "etcd's answer has no token");
		return -EBADMSG;
	}
	memcpy(e->token, token, strlen(token) + 1);
	return 0;
}

/* The key after another one is the same with a zero byte. */
int davy_etcd_range(struct davy_etcd *e, const struct davy_etcd_range *r, davy_etcd_done done,
		    void *arg)
{
	char limit[16], revision[32];

	snprintf(limit, sizeof(limit), "%" PRIu32, r->limit);
	snprintf(revision, sizeof(revision), "%" PRId64, r->revision);
	return davy_etcd_ask(e, "/v3/kv/range",
			     json_pack("{s:o, s:o, s:s, s:s, s:b}", "key",
				       davy_etcd_base64(r->from, strlen(r->from) + r->after),
				       "range_end", davy_etcd_base64(r->end, strlen(r->end)),
				       "limit", limit, "revision", revision, "count_only",
				       !r->limit),
			     done, arg);
}

int davy_etcd_watch(struct davy_etcd *e, json_t *body, davy_etcd_done done, void *arg)
{
	return etcd_start(e, "/v3/watch", body, done, arg, true);
}

void davy_etcd_stop(struct davy_etcd *e)
{
	if (e->call)
		etcd_free(e->call);
	if (e->watch)
		etcd_free(e->watch);
	e->call = e->watch = NULL;
}

/* etcd's gateway refuses some requests in plain text. */
static void etcd_say_other(struct davy_etcd_call *c, long status)
{
	char text[DAVY_ETCD_WHY / 2];

	snprintf(text, sizeof(text), "status %ld: %.*s", status,
		 (int)(c->used < sizeof(text) ? c->used : sizeof(text)), c->used ? c->text : "");
	text[strcspn(text, "\r\n")] = 0;
	etcd_say(c->etcd, status == 200 ? "etcd's answer is no JSON object" : text);
}

static int etcd_judge(struct davy_etcd_call *c, CURLcode code, json_t **ret_answer)
{
	struct davy_etcd *e = c->etcd;
	long status = 0;
	json_t *o;

	*ret_answer = NULL;
	if (c->err == -EFBIG)
		etcd_say(e, "etcd's answer is longer than 4 MiB");
	if (c->err)
		return c->err;
	if (code != CURLE_OK) {
		etcd_say(e, curl_easy_strerror(code));
		e->endpoint = (e->endpoint + 1) % e->access->endpoint_count;
		return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED;
	}
	if (c->stream) {
		etcd_say(e, "etcd has ended the watch");
		return -ECONNRESET;
	}
	curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	o = json_loadb(c->used ? c->text : "", c->used, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(o) || (status == 200 && json_object_get(o, "error"))) {
		etcd_say_other(c, status);
		json_decref(o);
		return -EBADMSG;
	}
	if (status != 200) {
		int err = etcd_refused(e, o);

		json_decref(o);
		return err;
	}
	*ret_answer = o;
	return 0;
}

static void etcd_finish(struct davy_etcd_call *c, CURLcode code)
{
	struct davy_etcd *e = c->etcd;
	davy_etcd_done done = c->done;
	void *arg = c->arg;
	json_t *answer;
	int err = etcd_judge(c, code, &answer);

	if (c == e->call)
		e->call = NULL;
	else
		e->watch = NULL;
	etcd_free(c);
	done(arg, err, answer);
	json_decref(answer);
}

void davy_etcd_step(CURLM *multi)
{
	int running, left;
	CURLMsg *m;

	curl_multi_perform(multi, &running);
	while ((m = curl_multi_info_read(multi, &left))) {
		char *c = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
		etcd_finish((struct davy_etcd_call *)(void *)c, m->data.result);
	}
}
