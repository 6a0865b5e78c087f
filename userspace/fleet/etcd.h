/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * etcd's v3 API over its JSON gateway (etcd, api/etcdserverpb/rpc.proto, 3.4 and later), by libcurl
 * and without blocking. Answers are hostile: bounded, and of the expected form or refused. int64
 * are strings in this JSON, keys and values base64.
 */
#ifndef DAVY_ETCD_H
#define DAVY_ETCD_H

#include <curl/curl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAVY_ETCD_ANSWER_MAX ((size_t)4 << 20) /* bytes; of a watch: of one line */
#define DAVY_ETCD_ENDPOINTS  8
#define DAVY_ETCD_KEY_MAX    256
#define DAVY_ETCD_TIMEOUT_MS 10000
#define DAVY_ETCD_WHY	     192

/* Endpoints and credentials. The texts must stay valid as long as the connection. */
struct davy_etcd_access {
	const char *endpoint[DAVY_ETCD_ENDPOINTS]; /* "https://etcd1:2379" */
	size_t endpoint_count;
	const char *ca, *certificate, *key; /* paths, or NULL */
	const char *user, *password;	    /* NULL: etcd has no authentication */
};

/* "answer" is borrowed; NULL with an error. Called from davy_etcd_step(). */
typedef void (*davy_etcd_done)(void *arg, int err, const json_t *answer);

struct davy_etcd_call;

struct davy_etcd {
	const struct davy_etcd_access *access;
	CURLM *multi;
	size_t endpoint;	 /* the one in use; another one after it fails */
	char token[256];	 /* of the authentication; "": none */
	char why[DAVY_ETCD_WHY]; /* of the last error */
	uint64_t sent, received; /* bytes of bodies */
	struct davy_etcd_call *call, *watch;
};

/*
 * Asks for "path" ("/v3/kv/range") with a body, which it takes. One request at a time: -EBUSY.
 * Results: 0; -EACCES (refused, or the token has expired); -ETIMEDOUT; -ECONNREFUSED; -EBADMSG;
 * -EFBIG; -EIO: etcd refused it, "why" has its words.
 */
int davy_etcd_ask(struct davy_etcd *e, const char *path, json_t *body, davy_etcd_done done,
		  void *arg);

/* Asks for a token; "done" passes the answer to davy_etcd_token(). */
int davy_etcd_authenticate(struct davy_etcd *e, davy_etcd_done done, void *arg);
int davy_etcd_token(struct davy_etcd *e, const json_t *answer); /* 0, or -EBADMSG */

/*
 * Asks for the keys from "from" (inclusive, or after it) up to "end", at most "limit". Revision 0:
 * the latest. Limit 0: only their number.
 */
struct davy_etcd_range {
	const char *from, *end;
	bool after;
	uint32_t limit;
	int64_t revision;
};
int davy_etcd_range(struct davy_etcd *e, const struct davy_etcd_range *range, davy_etcd_done done,
		    void *arg);

/*
 * A watch: "done" is called for each line with its "result", and once with an error when it ends.
 */
int davy_etcd_watch(struct davy_etcd *e, json_t *body, davy_etcd_done done, void *arg);

/* Ends both requests without a call. */
void davy_etcd_stop(struct davy_etcd *e);

/* Runs what is ready in all connections of a multi handle. */
void davy_etcd_step(CURLM *multi);

/* A JSON string of base64; NULL: no memory. */
json_t *davy_etcd_base64(const char *data, size_t size);

/* Decodes a string of at most size - 1 bytes and terminates it; -1: it is none. */
ssize_t davy_etcd_text(const json_t *value, char *buf, size_t size);

/* Of a number that may be a string; "otherwise" if it is none. */
int64_t davy_etcd_number(const json_t *object, const char *key, int64_t otherwise);

/* The end of the range of all keys with this prefix: its last byte plus one. */
void davy_etcd_end(const char *prefix, char ret_end[DAVY_ETCD_KEY_MAX]);

#endif
