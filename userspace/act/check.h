/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks an engine for one token through davylamp-probe, a child without privileges: the agent speaks
 * no HTTP. An engine that generates no token must be ready and keep its port open. A crash, a hang
 * or an invalid answer of the probe is also a result.
 */
#ifndef DAVY_CHECK_H
#define DAVY_CHECK_H

#include <systemd/sd-event.h>

#include "core/event/event.h"
#include "act/probe_finding.h"
#include "engines/engine.h"

#define DAVY_CHECK_ALIVE_MS 5000 /* a restart that fails on its GPU ends within seconds */

struct davy_check_result {
	uint16_t health_status;
	uint16_t completion_status; /* or DAVY_PROBE_ALIVE */
	uint32_t token_count;	    /* 1 also for a daemon that runs without a loaded model */
	uint32_t completion_ms;
	bool compute_failed; /* the answer says that a graph failed */
	int error;	     /* -errno: the probe failed; "why" has the reason */
	char why[DAVY_PROBE_TEXT_MAX];
};

struct davy_check_request {
	const char *host; /* NULL: 127.0.0.1 */
	uint16_t port;
	const struct davy_engine_api *api;
	const char *model;   /* NULL or "": unknown */
	const char *api_key; /* NULL or "": none */
	uint32_t wait_ms;    /* time limit for the engine's start; 0: it runs */
	uint32_t timeout_ms; /* of the completion */
	uint32_t alive_ms; /* how long an engine that generates no token must keep its port open */
	void (*done)(void *arg, const struct davy_check_result *result);
	void *arg;
};

/* It gave a token, or it generates none and lives with its port open. */
bool davy_check_serving(const struct davy_check_result *result);

/* "program": davylamp-probe's path. On success "done" is called once, from the loop. */
int davy_check_start(sd_event *loop, const char *program, const struct davy_check_request *request);

/* Parses the probe's line; -EBADMSG: not valid. */
int davy_check_parse(const char *text, size_t size, struct davy_check_result *ret_result);

#endif
