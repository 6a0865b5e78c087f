/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to an engine on this host; its answers are outside input, and bounded. */
#ifndef DL_PROBE_ENGINE_HTTP_H
#define DL_PROBE_ENGINE_HTTP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/probe.h"

#define DL_REPLY_MAX (256 * 1024)

struct dl_reply {
	size_t used;
	char text[DL_REPLY_MAX];
};

/*
 * GET, or POST of "body", to the host and port of the options, and from their port. The HTTP
 * status, 0 when there was no answer in time.
 */
long dl_http_request(const struct dl_probe_options *options, const char *path, const char *body,
		     uint32_t timeout_ms, struct dl_reply *reply);

/* DELETE with a body, the same else. */
long dl_http_delete(const struct dl_probe_options *options, const char *path, const char *body,
		    uint32_t timeout_ms, struct dl_reply *reply);

/* models, slots and props of a llama-server, null where it did not answer in time. */
void dl_engine_facts(const struct dl_probe_options *options, struct dl_reply *reply,
		     json_t *answer);

#endif
