/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether an engine works, or verifies an action. */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/check.h"
#include "lib/log.h"
#include "lib/message.h"
#include "agent/act/acting.h"
#include "agent/act/units.h"

/* The subject of a check or a verification. The link may be closed before the reply comes. */
struct question {
	struct davy_agent *agent;
	uint32_t workload;
	uint32_t plan; /* 0: a check without an action */
};

/* Its port is open: it is the process that was started, and not on the CPU in place of its GPU. */
static bool act_check_runs(struct davy_agent *a, const struct davy_link *link)
{
	const struct davy_process *p = davy_world_process(&a->core.world, link->pid);
	bool beside_gpu = p && p->backend == DAVY_BACKEND_CPU &&
			  link->backend != DAVY_BACKEND_CPU &&
			  link->backend != DAVY_BACKEND_UNKNOWN;

	return davy_process_start(link->pid) == link->start_ticks && !beside_gpu;
}

static void act_check_end(struct davy_link *link, int err)
{
	uint32_t plan = link->act_plan;

	link->act_plan = 0;
	link->verifying = false;
	davy_agent_acted(link->agent, plan, link->workload,
			 err ? DAVY_ACT_FAILED : DAVY_ACT_SERVING, 0, err);
}

/* Only the supervisor sees whether variables moved the engine to the CPU. */
static bool act_check_confirm(const struct davy_link *link)
{
	return link->variables && link->backend == DAVY_BACKEND_CPU &&
	       !davy_message_send(link->fd, json_pack("{s:s}", "op", "confirm"));
}

void davy_agent_confirmed(struct davy_link *link, int err)
{
	if (link->act_plan && link->verifying)
		act_check_end(link, err);
}

/*
 * An engine in a container may listen on its loopback address only, and a network may not be
 * reachable from here: then it is judged as one without a port.
 */
static bool act_check_reached(struct davy_agent *a, uint32_t workload,
			      const struct davy_check_result *result)
{
	struct davy_service *u = davy_unit_of_workload(a, workload);

	if (!u || !strcmp(davy_unit_host(u), "127.0.0.1") || result->error ||
	    result->health_status || result->completion_status || u->reached) {
		if (u)
			u->reached |= result->health_status != 0;
		return true;
	}
	davy_log("%s: nothing answers at %s port %u; it is judged without requests", u->name,
		 davy_unit_host(u), u->port);
	u->unreachable = true;
	davy_unit_look_again(u);
	return false;
}

static void act_check_on_checked(void *arg, const struct davy_check_result *result)
{
	struct question *q = arg;
	struct davy_agent *a = q->agent;
	struct davy_event ev = davy_agent_event(DAVY_EV_PROBE, 0);
	struct davy_link *link = davy_link_of_workload(a, q->workload);
	bool serving = davy_check_serving(result);

	if (result->error)
		davy_log("check of workload %u: davylamp-probe: %s; this counts as no reply",
			 q->workload, result->why[0] ? result->why : strerror(-result->error));
	if (!act_check_reached(a, q->workload, result)) {
		free(q);
		return; /* the core gives the check up */
	}
	ev.probe.workload = q->workload;
	ev.probe.health_status = result->health_status;
	ev.probe.completion_status = result->completion_status;
	ev.probe.token_count = result->token_count;
	ev.probe.completion_ms = result->completion_ms;
	ev.probe.flags = result->compute_failed ? DAVY_PROBE_COMPUTE_FAILED : 0;
	davy_agent_feed(a, &ev);
	if (q->plan && link && link->act_plan == q->plan) {
		if (result->completion_status == DAVY_PROBE_ALIVE)
			serving = act_check_runs(a, link);
		if (!serving || !act_check_confirm(link))
			act_check_end(link, serving ? 0 : -EIO);
	}
	free(q);
}

/* After a restart, the process is often not inspected yet. */
static enum davy_role act_check_role(struct davy_agent *a, const struct davy_link *link)
{
	const struct davy_process *p = link ? davy_world_process(&a->core.world, link->pid) : NULL;

	if (link && link->role != DAVY_ROLE_UNKNOWN)
		return link->role;
	return p ? (enum davy_role)p->role : DAVY_ROLE_UNKNOWN;
}

void davy_agent_ask(struct davy_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		    uint32_t wait_ms, uint32_t timeout_ms)
{
	struct question *q = calloc(1, sizeof(*q));
	const struct davy_service *unit = davy_unit_of_workload(a, workload);
	const struct davy_link *link = davy_link_of_workload(a, workload);
	enum davy_engine engine = unit ? unit->engine : link ? link->engine : DAVY_ENGINE_NONE;
	enum davy_role role = unit ? unit->role : act_check_role(a, link);
	char unit_key[DAVY_API_KEY_LEN];
	struct davy_check_request request = { .host = unit ? davy_unit_host(unit) : NULL,
					      .port = unit ? unit->port : port,
					      .api = davy_engine_api(engine, role),
					      .model = unit   ? unit->model
						       : link ? link->model
							      : NULL,
					      .api_key = unit	? davy_unit_api_key(unit, unit_key)
							 : link ? link->api_key
								: NULL,
					      .wait_ms = wait_ms,
					      .timeout_ms = timeout_ms,
					      .alive_ms = plan ? DAVY_CHECK_ALIVE_MS : 0,
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
