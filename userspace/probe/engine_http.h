/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to an engine on this host; its answers are outside input, and bounded. */
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
 * GET, or POST of "body", to the host and port of the options, and from their port. The HTTP
 * status, 0 when there was no answer in time.
 */
long davy_http_request(const struct davy_probe_options *options, const char *path, const char *body,
		       uint32_t timeout_ms, struct davy_reply *reply);

/* DELETE with a body, the same else. */
long davy_http_delete(const struct davy_probe_options *options, const char *path, const char *body,
		      uint32_t timeout_ms, struct davy_reply *reply);

/* models, slots and props of a llama-server, null where it did not answer in time. */
void davy_engine_facts(const struct davy_probe_options *options, struct davy_reply *reply,
		       json_t *answer);

#endif
