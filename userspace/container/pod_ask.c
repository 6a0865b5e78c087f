/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent wants of a pod, as an annotation and an event in the cluster. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "container/pod.h"
#include "lib/file.h"

#define ANSWER_MS  5000
#define SERVER_MAX 256
#define TOKEN_MAX  8192 /* tokens of service accounts have 1 to 2 KiB */
#define WANTS_MAX  2048

struct access {
	char server[SERVER_MAX], token[TOKEN_MAX], ca[PATH_MAX];
};

/* One line. */
static int read_line(const struct davy_pod *p, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", p->access, name);
	n = davy_read_whole(path, line, size);
	if (n < 0)
		return (int)n;
	line[strcspn(line, "\r\n")] = 0;
	return 0;
}

/* A token is not sent over a network without TLS. */
static bool server_is_safe(const char *server)
{
	return !strncmp(server, "https://", 8) || !strncmp(server, "http://127.0.0.1:", 17);
}

static int open_access(struct davy_pod *p, struct access *a)
{
	int err = read_line(p, "server", a->server, sizeof(a->server));

	if (!err) {
		err = read_line(p, "token", a->token, sizeof(a->token));
		err = err == -ENOENT ? 0 : err; /* 'kubectl proxy' adds its own */
	}
	if (!err && !server_is_safe(a->server))
		err = -EPERM;
	err = err == -ENOENT ? -ENOKEY : err;
	if (err) {
		snprintf(p->api->why, sizeof(p->api->why),
			 err == -ENOKEY
				 ? "there is no access to the cluster's API: no '%.200s/server'"
			 : err == -EPERM
				 ? "'%.200s/server' is neither https:// nor http://127.0.0.1:PORT"
				 : "'%.200s': the access to the cluster's API cannot be read",
			 p->access);
		return err;
	}
	snprintf(a->ca, sizeof(a->ca), "%s/ca.crt", p->access);
	p->api->url = a->server;
	p->api->token = a->token[0] ? a->token : NULL;
	p->api->ca = a->ca;
	return 0;
}

static int annotate(struct davy_pod *p, const char *wants)
{
	json_t *value = wants[0] ? json_string(wants) : json_null();
	char path[512];

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", p->namespace, p->name);
	return davy_runtime_call(p->api, "PATCH", path,
				 json_pack("{s:{s:s, s:{s:o}}}", "metadata", "uid", p->uid,
					   "annotations", DAVY_POD_ANNOTATION, value),
				 ANSWER_MS, NULL);
}

static int tell_event(struct davy_pod *p, const char *wants)
{
	time_t now = time(NULL);
	json_t *pod;
	struct tm utc;
	char at[32], path[512], text[WANTS_MAX + 128];

	gmtime_r(&now, &utc);
	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &utc);
	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/events", p->namespace);
	snprintf(text, sizeof(text), "davylamp wants this pod to be started with: %s", wants);
	pod = json_pack("{s:s, s:s, s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Pod", "namespace",
			p->namespace, "name", p->name, "uid", p->uid);
	return davy_runtime_call(
		p->api, "POST", path,
		json_pack("{s:{s:s}, s:o, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:i}", "metadata",
			  "generateName", "davylamp-", "involvedObject", pod, "type", "Warning",
			  "reason", "DavylampWants", "message", text, "source", "component",
			  "davylamp", "firstTimestamp", at, "lastTimestamp", at, "count", 1),
		ANSWER_MS, NULL);
}

/* The annotation that the cluster has; the same one is no news. */
static bool asked_before(struct davy_pod *p, const char *wants)
{
	json_t *pod = NULL;
	const char *has;
	char path[512];
	bool same;

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", p->namespace, p->name);
	if (davy_runtime_call(p->api, "GET", path, NULL, ANSWER_MS, &pod))
		return false;
	has = json_string_value(
		json_object_get(json_object_get(json_object_get(pod, "metadata"), "annotations"),
				DAVY_POD_ANNOTATION));
	same = !strcmp(has ? has : "", wants);
	json_decref(pod);
	return same;
}

const char *davy_pod_wants(const char *const *env, size_t count, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", env[i]);
	return text;
}

int davy_pod_ask(struct davy_pod *p, const char *const *env, size_t count)
{
	static struct access access; /* the API refers to it */
	char wants[WANTS_MAX];
	int err = open_access(p, &access);

	davy_pod_wants(env, count, wants, sizeof(wants));
	if (err || asked_before(p, wants))
		return err;
	if (wants[0]) /* first, as the annotation says that it was sent */
		err = tell_event(p, wants);
	return err ? err : annotate(p, wants);
}
