/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to an engine on this host. Answers are untrusted and bounded. */
#ifndef DAVY_ENGINE_HTTP_H
#define DAVY_ENGINE_HTTP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/probe.h"

#define DAVY_REPLY_MAX (256 * 1024)

struct davy_reply {
	size_t used;
	char text[DAVY_REPLY_MAX];
};

/*
 * GET, or POST of "body", to host and port of the options, from their source port. Returns the HTTP
 * status; 0: no answer in time.
 */
long davy_http_request(const struct davy_probe_options *options, const char *path, const char *body,
		       uint32_t timeout_ms, struct davy_reply *reply);

/* The same with DELETE and a body. */
long davy_http_delete(const struct davy_probe_options *options, const char *path, const char *body,
		      uint32_t timeout_ms, struct davy_reply *reply);

/* True if a connection to host and port of the options succeeds. */
bool davy_port_open(const struct davy_probe_options *options);

/* Adds models, slots and props of a llama-server; null: no answer in time. */
void davy_engine_facts(const struct davy_probe_options *options, struct davy_reply *reply,
		       json_t *answer);

#endif
