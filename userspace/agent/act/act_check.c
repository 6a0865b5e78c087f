/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests a token from an engine, for a check or to verify an act. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/check.h"
#include "lib/log.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"

/* The subject of a check or a verification. The link may be closed before the reply comes. */
struct question {
	struct davy_agent *agent;
	uint32_t workload;
	uint32_t plan; /* 0: a check without an act */
};

static void act_check_on_checked(void *arg, const struct davy_check_result *result)
{
	struct question *q = arg;
	struct davy_agent *a = q->agent;
	struct davy_event ev = davy_agent_event(DAVY_EV_PROBE, 0);
	struct davy_link *link = davy_link_of_workload(a, q->workload);
	bool serving = result->completion_status == 200 && result->token_count;

	if (result->error)
		davy_log("check of workload %u: davylamp-probe: %s; this counts as no reply",
			 q->workload, result->why[0] ? result->why : strerror(-result->error));
	ev.probe.workload = q->workload;
	ev.probe.health_status = result->health_status;
	ev.probe.completion_status = result->completion_status;
	ev.probe.token_count = result->token_count;
	ev.probe.completion_ms = result->completion_ms;
	davy_agent_feed(a, &ev);
	if (q->plan && link && link->act_plan == q->plan) {
		link->act_plan = 0;
		link->verifying = false;
		davy_agent_acted(a, q->plan, q->workload,
				 serving ? DAVY_ACT_SERVING : DAVY_ACT_FAILED, 0,
				 serving ? 0 : -EIO);
	}
	free(q);
}

void davy_agent_ask(struct davy_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		    uint32_t wait_ms, uint32_t timeout_ms)
{
	struct question *q = calloc(1, sizeof(*q));
	const struct davy_service *unit = davy_unit_of_workload(a, workload);
	const struct davy_link *link = davy_link_of_workload(a, workload);
	enum davy_engine engine = unit ? unit->engine : link ? link->engine : DAVY_ENGINE_NONE;
	struct davy_check_request request = { .port = unit ? unit->port : port,
					      .api = davy_check_api(
						      engine, unit ? unit->role : DAVY_ROLE_SERVER),
					      .model = unit   ? unit->model
						       : link ? link->model
							      : NULL,
					      .wait_ms = wait_ms,
					      .timeout_ms = timeout_ms,
					      .done = act_check_on_checked,
					      .arg = q };
	struct davy_check_result none = { 0 };
	int err;

	if (!q)
		return; /* the core has a timeout for the reply */
	q->agent = a;
	q->workload = workload;
	q->plan = plan;
	err = davy_check_start(a->loop, a->probe_path, &request);
	if (!err)
		return;
	none.error = err;
	act_check_on_checked(q, &none);
}
