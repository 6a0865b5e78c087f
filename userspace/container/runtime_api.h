/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Engine API of Docker, which Podman also serves, over a unix socket. The version is the
 * server's own, so that a definition is read and written with all of its fields. And the API of
 * Kubernetes, over TLS. Answers are untrusted and bounded.
 */
#ifndef DAVY_RUNTIME_API_H
#define DAVY_RUNTIME_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define DAVY_RUNTIME_BODY_MAX ((size_t)4 * 1024 * 1024)
#define DAVY_RUNTIME_WHY_LEN  512

struct davy_runtime_api {
	const char *name;   /* "Docker" or "Podman", for messages */
	const char *socket; /* path; NULL: "url" */
	const char *url;    /* of the server, "https://10.0.0.1:6443" */
	const char *token;  /* for its header Authorization; NULL: none */
	const char *ca;	    /* path of the authorities that may have signed its certificate */
	bool fixed_policy;  /* no request changes a restart policy: Podman, before 5.1 */
	char version[16];   /* of its API, "1.41" */
	bool unchanged;	    /* the last request found nothing to do (304) */
	char why[DAVY_RUNTIME_WHY_LEN]; /* of the last error */
};

/* Finds the version. -ECONNREFUSED: no runtime answers; "why" has the reason for all errors. */
int davy_runtime_open(struct davy_runtime_api *r);

/*
 * One request; a PATCH is a JSON merge patch. "body" is taken, NULL: none; the answer is stored if
 * "ret_answer" is not NULL (NULL: it was empty). 0, also if nothing was to be done; -ENOENT: 404;
 * -EEXIST: 409; -EIO: another error of the runtime; -ETIMEDOUT; -EBADMSG: the answer is not valid;
 * -ECONNREFUSED.
 */
int davy_runtime_call(struct davy_runtime_api *r, const char *method, const char *path,
		      json_t *body, uint32_t timeout_ms, json_t **ret_answer);

#endif
