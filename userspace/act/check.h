/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks an engine for one token through davylamp-probe: a child without privileges that speaks HTTP,
 * so that the agent never does. Its answer is one line; a crash, a hang or garbage is an answer
 * too.
 */
#ifndef DAVY_CHECK_H
#define DAVY_CHECK_H

#include <systemd/sd-event.h>

#include "core/event/event.h"
#include "act/probe_finding.h"

struct davy_check_result {
	uint16_t health_status;
	uint16_t completion_status;
	uint32_t token_count; /* 1 for a daemon that is up and holds no model to ask for one */
	uint32_t completion_ms;
	int error; /* -errno when the probe itself failed; "why" then says how */
	char why[DAVY_PROBE_TEXT_MAX];
};

struct davy_check_request {
	uint16_t port;
	const char *api;     /* of davy_check_api */
	const char *model;   /* of a daemon that may have none loaded; NULL or "": unknown */
	uint32_t wait_ms;    /* how long the engine may take to come up; 0: it is up */
	uint32_t timeout_ms; /* of the completion */
	void (*done)(void *arg, const struct davy_check_result *result);
	void *arg;
};

/* What davylamp-probe calls the API of an engine. */
const char *davy_check_api(enum davy_engine engine, enum davy_role role);

/* "program" is davylamp-probe's path. "done" is called once, from the loop, unless this fails. */
int davy_check_start(sd_event *loop, const char *program, const struct davy_check_request *request);

/* Reads the probe's line; -EBADMSG when it is not what the probe says. */
int davy_check_parse(const char *text, size_t size, struct davy_check_result *ret_result);

#endif
