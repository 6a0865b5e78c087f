/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans to deeds: orders to supervisors, checks, the learned policy. Results come back as events.
 */
#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../act/check.h"
#include "../lib/log.h"
#include "../lib/message.h"
#include "../report/plan_text.h"

#define CHECK_TIMEOUT_MS  2000	/* an idle engine gives one token in far less */
#define VERIFY_TIMEOUT_MS 60000 /* the first token may follow a cold load */

static void feed_act(struct dl_agent *a, uint32_t plan, uint32_t workload, enum dl_act_stage stage,
		     uint32_t pid, int result)
{
	struct dl_event ev = dl_agent_event(DL_EV_ACT, pid);

	ev.act.plan = plan;
	ev.act.workload = workload;
	ev.act.stage = (uint8_t)stage;
	ev.act.result = result;
	dl_agent_feed(a, &ev);
}

/* What a check or a verification was about; the link may be gone when the answer comes. */
struct question {
	struct dl_agent *agent;
	uint32_t workload;
	uint32_t plan; /* 0: a mere check */
};

static void on_checked(void *arg, const struct dl_check_result *result)
{
	struct question *q = arg;
	struct dl_agent *a = q->agent;
	struct dl_event ev = dl_agent_event(DL_EV_PROBE, 0);
	struct dl_link *link = dl_link_of_workload(a, q->workload);
	bool serving = result->completion_status == 200 && result->token_count;

	if (result->error)
		dl_log("check of workload %u: davylamp-probe: %s; counts as no answer", q->workload,
		       result->why[0] ? result->why : strerror(-result->error));
	ev.probe.workload = q->workload;
	ev.probe.health_status = result->health_status;
	ev.probe.completion_status = result->completion_status;
	ev.probe.token_count = result->token_count;
	ev.probe.completion_ms = result->completion_ms;
	dl_agent_feed(a, &ev);
	if (q->plan && link && link->act_plan == q->plan) {
		link->act_plan = 0;
		link->verifying = false;
		feed_act(a, q->plan, q->workload, serving ? DL_ACT_SERVING : DL_ACT_FAILED, 0,
			 serving ? 0 : -EIO);
	}
	free(q);
}

static void ask(struct dl_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		uint32_t wait_ms, uint32_t timeout_ms)
{
	struct question *q = calloc(1, sizeof(*q));
	struct dl_check_request request = { .port = port,
					    .wait_ms = wait_ms,
					    .timeout_ms = timeout_ms,
					    .done = on_checked,
					    .arg = q };
	struct dl_check_result none = { 0 };
	int err;

	if (!q)
		return; /* the core waits for an answer only so long */
	q->agent = a;
	q->workload = workload;
	q->plan = plan;
	err = dl_check_start(a->loop, a->probe_path, &request);
	if (!err)
		return;
	none.error = err;
	on_checked(q, &none);
}

void dl_agent_verify(struct dl_agent *a, struct dl_link *link)
{
	uint32_t wait_ms = (uint32_t)a->core.config.value[DL_CFG_ACT_TIMEOUT_MS];

	ask(a, link->workload, link->act_plan, link->port, wait_ms, VERIFY_TIMEOUT_MS);
}

static void order(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_link *link = dl_link_of_workload(a, plan->workload);
	char because[DL_PLAN_TEXT_SIZE];
	int err = -ENOTCONN;

	dl_because_text(plan, because, sizeof(because));
	if (link) {
		link->act_plan = plan->id;
		link->verifying = false;
		err = dl_message_send(
			link->fd,
			json_pack("{s:s, s:I, s:i, s:s, s:s, s:s}", "op", "replace", "plan",
				  (json_int_t)plan->id, "pid", (int)plan->pid, "backend",
				  plan->rung == DL_RUNG_MIGRATE_CPU ? "cpu" : "same", "hazard",
				  dl_hazard_name(plan->hazard), "because", because));
	}
	if (err)
		feed_act(a, plan->id, plan->workload, DL_ACT_FAILED, 0, err);
}

static void learn(struct dl_agent *a, const struct dl_plan *plan)
{
	struct dl_learned_entry *e;
	int64_t now_s = time(NULL);
	int err;

	if (plan->verdict != DL_VERDICT_GO)
		return;
	e = dl_learned_get(&a->learned, plan->device, (enum dl_backend)plan->backend, plan->model);
	e->state = (enum dl_breaker_state)plan->breaker_state;
	e->open_count = plan->open_count;
	e->since_s = now_s;
	e->until_s = now_s;
	if (plan->until_ns > plan->at_ns)
		e->until_s += (int64_t)((plan->until_ns - plan->at_ns) / DL_NS_PER_S);
	if (plan->breaker_state == DL_BREAKER_OPEN)
		dl_because_text(plan, e->because, sizeof(e->because));
	err = dl_learned_save(a->options.state_dir, &a->learned);
	if (err)
		dl_log("policy '%s/%s': %s; kept in memory, written at the next change",
		       a->options.state_dir, DL_LEARNED_NAME, strerror(-err));
}

void dl_agent_act(struct dl_agent *a, const struct dl_plan *plan)
{
	if (plan->rung == DL_RUNG_BREAKER)
		learn(a, plan);
	if (plan->rung == DL_RUNG_CHECK)
		ask(a, plan->workload, 0, plan->port, 0, CHECK_TIMEOUT_MS);
	if (plan->verdict == DL_VERDICT_GO &&
	    (plan->rung == DL_RUNG_RESTART || plan->rung == DL_RUNG_MIGRATE_CPU))
		order(a, plan);
}

void dl_agent_restore_learned(struct dl_agent *a)
{
	int64_t now_s = time(NULL);
	int line, err;

	err = dl_learned_load(a->options.state_dir, &a->learned, &line);
	if (err)
		dl_log("policy '%s/%s': %s in line %d; put aside as %s.bad, beginning anew",
		       a->options.state_dir, DL_LEARNED_NAME, strerror(-err), line,
		       DL_LEARNED_NAME);
	if (err)
		dl_learned_set_aside(a->options.state_dir);
	for (size_t i = 0; i < a->learned.count; i++) {
		const struct dl_learned_entry *e = &a->learned.entry[i];
		struct dl_event ev = dl_agent_event(DL_EV_BREAKER, 0);

		dl_copy_name(ev.breaker.device, sizeof(ev.breaker.device), e->device);
		dl_copy_name(ev.breaker.model, sizeof(ev.breaker.model), e->model);
		ev.breaker.backend = (uint8_t)e->backend;
		ev.breaker.state = (uint8_t)e->state;
		ev.breaker.open_count = e->open_count;
		if (e->until_s > now_s)
			ev.breaker.remaining_ns = (uint64_t)(e->until_s - now_s) * DL_NS_PER_S;
		dl_agent_feed(a, &ev);
	}
}
